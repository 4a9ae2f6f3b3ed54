"""What is read without kernels is what the kernels read, or nothing."""

from __future__ import annotations

import gzip
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qdrank.datasets.letor.quick import QuickText, quick_text
from qdrank.datasets.letor.reader import load_letor

GOOD = b"".join(
    b"%d qid:q%d 1:%.3f 2:%s #docid = D%d-%d inc = 0.5\n" % (i % 3, i // 3, i / 7, value, i // 3, i % 3)
    for i, value in enumerate(
        [b"-1", b"1e-05", b"0", b"+.5", b"7.", b"-0.0", b"3E+2", b"12345678901234567890.5", b"16777217"]
    )
)
pieces = st.sampled_from(
    [
        b" ",
        b":",
        b"#",
        b"\n",
        b"\t",
        b"\r",
        b"1",
        b"q",
        b"_",
        b"e",
        b".",
        b"-",
        b"",
        b"NULL",
        b"inf",
        b"docid",
        b"\xc3\xa9",
    ]
)


def found(path: Path) -> QuickText | None:
    return quick_text(path, 2, 2, values=True)


def assert_equal_to_the_kernels(text: QuickText, path: Path) -> None:
    expected = load_letor(path, n_features=2, sparse=False, max_label=2)
    assert text.X.tobytes() == expected.X.tobytes()
    assert text.X.dtype == np.float32
    np.testing.assert_array_equal(text.y, expected.y)
    np.testing.assert_array_equal(text.offsets, expected.offsets)
    assert text.query_id == expected.query_id.tolist()
    assert [name.decode() for name in text.doc_id.tolist()] == expected.doc_id.tolist()


@pytest.mark.parametrize(
    "content",
    [
        GOOD,
        GOOD.replace(b" inc = 0.5", b""),
        b"".join(line.partition(b" #")[0] + b"\n" for line in GOOD.splitlines()),
        b"\xef\xbb\xbf" + GOOD.rstrip(),
        gzip.compress(GOOD),
        GOOD[: GOOD.find(b"\n") + 1],
    ],
)
def test_usual_files_are_read(tmp_path, content):
    (tmp_path / "f").write_bytes(content)
    text = found(tmp_path / "f")
    assert text is not None
    assert_equal_to_the_kernels(text, tmp_path / "f")


def test_files_of_many_blocks_are_read(tmp_path, monkeypatch):
    monkeypatch.setattr("qdrank.datasets.letor.quick._BLOCK", 64)
    (tmp_path / "f").write_bytes(GOOD)
    assert_equal_to_the_kernels(found(tmp_path / "f"), tmp_path / "f")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"1 qid:q2", b"1 qid:q0"),  # a query in two places, or a document twice
        (b"D0-1", b"D0-0"),
        (b"2 qid:q2", b"2 qid q2"),
        (b"2 qid:q2", b"2 qid::q2"),
        (b"2 qid:q2", b"2:qid q2"),
        (b"2 qid:q2", b"-1 qid:q2"),
        (b"2 qid:q2", b"3 qid:q2"),
        (b"2 qid:q2", b"2\tqid:q2"),
        (b"2:0 ", b"3:0 "),
        (b"2:0 ", b"2:nan "),
        (b"2:0 ", b"2:1_0 "),
        (b"2:0 ", b"2:1e39 "),
        (b"2:0 ", b"2:NULL "),
        (b"2:0 ", b"2:- "),
        (b"2:0 ", b"2:. "),
        (b"2:0 ", b"2: "),
        (b"#docid = D2-2", b"#docid = "),
        (b"#docid = D2-2 inc = 0.5", b""),
        (b"#docid = D2-2", b"#docno = D2-2"),
        (b"D2-2", "é".encode()),
        (b"D2-2", b"D" * 65),
        (b"D2-2", b"D2\x002"),
        (b"\n", b"\r\n"),
    ],
)
def test_anything_else_is_left_to_the_kernels(tmp_path, old, new):
    assert old in GOOD
    (tmp_path / "f").write_bytes(GOOD.replace(old, new))
    assert found(tmp_path / "f") is None


def test_large_and_missing_files_are_left_to_the_kernels(tmp_path):
    (tmp_path / "f").write_bytes(GOOD)
    (tmp_path / "z").write_bytes(gzip.compress(GOOD))
    assert quick_text(tmp_path / "f", 2, 2, values=True, most=100) is None
    assert quick_text(tmp_path / "z", 2, 2, values=True, most=len(GOOD) - 1) is None
    assert found(tmp_path / "nowhere") is None


@given(st.lists(st.tuples(st.integers(0, len(GOOD) - 1), st.integers(0, 3), pieces), min_size=1, max_size=3))
def test_whatever_is_read_from_edited_files_is_what_the_kernels_read(tmp_path_factory, edits):
    content = GOOD
    for at, n, piece in edits:
        content = content[:at] + piece + content[at + n :]
    path = tmp_path_factory.getbasetemp() / "edited.txt"
    path.write_bytes(content)
    text = found(path)
    if text is not None:
        assert_equal_to_the_kernels(text, path)


def test_commands_on_small_files_load_no_compiler_and_no_pandas(tmp_path):
    (tmp_path / "f").write_bytes(GOOD)
    (tmp_path / "s").write_text("".join(f"{i}\n" for i in range(9)))
    code = "import sys; from qdrank.cli import main; main(sys.argv[1:]); print(*{'numba', 'pandas', 'scipy'} & {*sys.modules})"
    run = [sys.executable, "-c", code, "evaluate", str(tmp_path / "f"), str(tmp_path / "s"), "--measure", "ap/trec"]
    plain = subprocess.run(run, capture_output=True, text=True, check=True).stdout
    assert plain.endswith("\n\n")
    run[2] = "import numba\n" + code
    assert plain.rstrip() in subprocess.run(run, capture_output=True, text=True, check=True).stdout

"""Readers of runs and judgments: every form, every compression, and every fault by its line."""

import bz2
import gzip
import json
import lzma
import os
import subprocess
import sys
import threading
from math import isfinite

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from qdrank.datasets.runs import reading
from qdrank.datasets.runs.json_forms import FORMS
from qdrank.datasets.runs.reading import distinct_names, read_all_runs, read_qrels, read_run, read_runs
from qdrank.datasets.runs.rows import read_rows
from qdrank.datasets.textfiles import LONGEST_LINE, UTF8_MARK
from qdrank.errors import InputError

JSON_FORM = FORMS[-1].words
TREC = b"1 Q0 a 1 2.5 mine\n1 Q0 b 2 1.5 mine\n2 Q0 a 1 0.5 mine\n"
EXPECTED = [("1", "a", 2.5), ("1", "b", 1.5), ("2", "a", 0.5)]
GRADES = [("1", "a", 2), ("1", "c", 0), ("2", "a", -1)]


def zstandard(data):
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as file:
        file.write(data)
    return sink.getvalue().to_pybytes()


def rows_of(table, value):
    return list(zip(table.query, table.doc, getattr(table, value).tolist(), strict=True))


@pytest.mark.parametrize(
    ("content", "form", "tag"),
    [
        (TREC, reading.TREC_RUN, "mine"),
        (b"1 a 2.5\n1 b 1.5\n2 a 0.5\n", reading.SCORED_RUN, "some"),
        (json.dumps({"1": {"a": 2.5, "b": 1.5}, "2": {"a": 0.5}}).encode(), JSON_FORM, "some"),
    ],
)
@pytest.mark.parametrize("compress", [bytes, gzip.compress, lzma.compress, bz2.compress, zstandard])
def test_forms_of_runs(tmp_path, content, form, tag, compress):
    (tmp_path / "some.run").write_bytes(compress(content))
    run = read_run(tmp_path / "some.run")
    assert (run.form, run.tag) == (form, tag)
    assert rows_of(run, "score") == EXPECTED


def test_ranks_of_ms_marco_are_told_from_scores(tmp_path):
    (tmp_path / "a.tsv").write_text("7\tx\t1\n7\ty\t2\n8\tz\t1\n")
    run = read_run(tmp_path / "a.tsv")
    assert run.form == reading.RANKED_RUN
    assert run.score.tolist() == [-1, -2, -1]
    (tmp_path / "b.tsv").write_text("7\tx\t2\n7\ty\t1\n8\tz\t1\n")
    assert read_run(tmp_path / "b.tsv").form == reading.SCORED_RUN


@pytest.mark.parametrize(
    ("content", "form"),
    [
        ("1 0 a 2\n1 0 c 0\n2 0 a -1\n", reading.TREC_QRELS),
        ("query-id\tcorpus-id\tscore\n1\ta\t2\n1\tc\t0\n2\ta\t-1\n", reading.TABLE_QRELS),
        ("1\ta\t2\n1\tc\t0\n2\ta\t-1\n", reading.SHORT_QRELS),
        ('{"1": {"a": 2, "c": 0}, "2": {"a": -1}}', JSON_FORM),
        ("\n\n1 0 a 2\r\n\r\n1 0 c 0\r\n2 0 a -1", reading.TREC_QRELS),
    ],
)
def test_forms_of_judgments(tmp_path, content, form):
    (tmp_path / "qrels").write_bytes(content.encode())
    qrels = read_qrels(tmp_path / "qrels")
    assert qrels.form == form
    assert rows_of(qrels, "grade") == GRADES
    assert qrels.by_query == {"1": {"a": 2, "c": 0}, "2": {"a": -1}}


def test_several_tags_in_a_file_and_scattered_queries(tmp_path):
    (tmp_path / "all.run").write_text("1 Q0 a 1 3 x\n2 Q0 b 1 2 y\n2 Q0 a 1 1 x\n1 Q0 c 2 2 x\n1 Q0 a 9 5 y\n")
    first, second = read_runs(tmp_path / "all.run")
    assert (first.tag, rows_of(first, "score")) == ("x", [("1", "a", 3), ("1", "c", 2), ("2", "a", 1)])
    assert (second.tag, rows_of(second, "score")) == ("y", [("2", "b", 2), ("1", "a", 5)])


def test_blocks_do_not_show(tmp_path, monkeypatch):
    lines = [f"{i // 50} Q0 d{i} {i} {1000 - i} t\n" for i in range(1000)]
    (tmp_path / "long.run").write_text("".join(lines))
    whole = rows_of(read_run(tmp_path / "long.run"), "score")
    monkeypatch.setattr("qdrank.datasets.textfiles._STEP", 100)
    monkeypatch.setattr("qdrank.datasets.runs.rows._BLOCK_BYTES", 300)
    assert rows_of(read_run(tmp_path / "long.run"), "score") == whole
    (tmp_path / "bad.run").write_text("".join([*lines[:777], "5 Q0 x 1 many t\n", *lines[777:]]))
    with pytest.raises(InputError, match="line 778"):
        read_run(tmp_path / "bad.run")


@pytest.mark.parametrize(
    ("content", "line", "said"),
    [
        (b"1 Q0 a 1 2 t\n\n1 Q0 b 2 t\n", 3, "5 columns, not 6"),
        (b"1 Q0 a 1 2 t\n1 Q0 b 2 x t\n", 2, "score is not a number"),
        (b"1 Q0 a 1 2 t\n1 Q0 b 2 nan t\n", 2, "score is not a number"),
        (b"1 Q0 a 1 2 t\n1 Q0 b 2 1_0 t\n", 2, "score is not a number"),
        (b"1 Q0 a 1 2 t\n1 Q0 \xff 2 1 t\n", 2, "not UTF-8"),
        (b"1 Q0 a 1 2 t\n2 Q0 a 1 2 t\n1 Q0 a 3 1 t\n", 3, "document a comes again for query 1"),
        (b"1 0 a 2\n", 1, "as judgments have"),
        (b"1 a 2\n1 b\n1 c 3 4\n", 2, "2 columns, not 3"),
        (b"1 a 2\n1 b x\n", 2, "score is not a number"),
        (b"", None, "has no lines"),
        (b" \n\n", None, "has no lines"),
        (b'{"1": {"a": 1,}}', 1, "not JSON"),
        (b"1 Q0 a 1 2 t\n1 Q0 b 2 1e400 t\n", 2, "score is not a number, or too large"),
        (b"1 Q0 a 1 -inf t\n", 1, "score is not a number, or too large"),
        (b"1 Q0 a first 1 t\n", 1, "rank is not a whole number"),
        (b"1 Q0 a 1 2 t\n1 Q0 b 1 2 u\n", None, "2 runs in one file"),
    ],
)
def test_a_fault_of_a_run_is_named(tmp_path, content, line, said):
    (tmp_path / "bad.run").write_bytes(content)
    with pytest.raises(InputError, match=said) as error:
        read_run(tmp_path / "bad.run")
    assert error.value.line == line
    assert "bad.run" in str(error.value)
    assert error.value.fix


@pytest.mark.parametrize(
    ("content", "line", "said"),
    [
        (b"1 Q0 a 1 2 t\n", 1, "as a run has"),
        (b"1 0 a 1\n1 0 b 99999999999999999999999\n", 2, "grade is not a whole number"),
        (b"1 0 a 1.5\n", 1, "grade is not a whole number"),
        (b"1 0 a 1 t\n", 1, "5 columns, not 4"),
        (b"query-id\tcorpus-id\tscore\n1\ta\tx\n", 2, "grade is not a whole number"),
        (b"query-id\tcorpus-id\tscore\n", None, "has no lines"),
        (b"1 0 a 1\n1 0 b 1\n1 0 a 0\n", 3, "comes again"),
        (b'{"1": {"a": 0.5}}', None, "not a whole number"),
    ],
)
def test_a_fault_of_judgments_is_named(tmp_path, content, line, said):
    (tmp_path / "bad.qrels").write_bytes(content)
    with pytest.raises(InputError, match=said) as error:
        read_qrels(tmp_path / "bad.qrels")
    assert error.value.line == line
    assert error.value.fix


def test_a_pipe_and_standard_input_are_read_once(tmp_path):
    """The form is seen from the first line, and the file read from there: a pipe cannot be opened twice."""
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=(tmp_path / "pipe").write_bytes, args=[gzip.compress(TREC)])
    writer.start()
    assert rows_of(read_run(tmp_path / "pipe"), "score") == EXPECTED
    writer.join()
    code = "from qdrank.datasets.runs.reading import read_run; print(*read_run('-').doc)"
    done = subprocess.run([sys.executable, "-c", code], input=TREC, capture_output=True, check=True)
    assert done.stdout.split() == [b"a", b"b", b"a"]


def test_a_json_file_may_be_one_long_line(tmp_path):
    content = {f"q{i}": {f"document-{j}": 1.5 for j in range(1000)} for i in range(900)}
    (tmp_path / "long.json").write_text(json.dumps(content))
    assert (tmp_path / "long.json").stat().st_size > LONGEST_LINE
    assert len(read_run(tmp_path / "long.json").doc) == 900_000


WORDS = st.one_of(
    st.sampled_from(
        ["q1", "7", "-3", "2.5", "1e400", "nan", "NA", "null", "0x1F", "+1", "1_0", ".5", "1e", '"', '"a', "#"]
    ),
    st.text(st.characters(codec="utf-8"), min_size=1, max_size=3).filter(lambda word: len(word.encode().split()) == 1),
)
GOOD_ROW = st.tuples(
    st.sampled_from("pq"), st.just("Q0"), WORDS, st.integers(1, 3).map(str), st.floats(-9, 9).map(repr), WORDS
)
LINE = st.tuples(
    st.one_of(GOOD_ROW, st.lists(WORDS, max_size=7)),
    st.sampled_from([" ", " ", "\t", "  ", "\r", "\v"]),
    st.sampled_from(["", "", "", " "]),
    st.sampled_from(["\n", "\n", "\r\n", " \n", "\n\n"]),
).map(lambda parts: (parts[2] + parts[1].join(parts[0]) + parts[3]).encode())


def plainly_read(text: bytes):
    """Queries, documents and scores, or the line of the first fault."""
    if text.count(b"\r") > 1 and text.find(b"\n") in (-1, len(text) - 1):
        return 1  # as on old Macs
    rows = []
    for number, line in enumerate(text.removeprefix(UTF8_MARK).split(b"\n"), 1):
        if not line.split():
            continue
        try:
            query, _, document, rank, score, _ = (word.decode() for word in line.split())
            if "_" in rank + score or not float(rank).is_integer() or not isfinite(float(score)):
                return number
        except (ValueError, OverflowError):
            return number
        rows.append((query, document, float(score)))
    return rows


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.lists(LINE, max_size=6).map(b"".join), mark=st.booleans(), odd=st.sampled_from([b"", b"", b"\xff"]))
def test_rows_are_those_of_a_plain_loop(tmp_path, text, mark, odd):
    (tmp_path / "some").write_bytes(UTF8_MARK * mark + text + odd)
    try:
        rows = read_rows(tmp_path / "some", reading._RUN, ["query", "score"])
        found = list(zip(rows.table["query"].to_pylist(), rows.names, rows.numbers("score"), strict=True))
    except InputError as error:
        found = error.line if error.line is not None else []
    assert found == plainly_read(UTF8_MARK * mark + text + odd)


def test_files_with_one_tag_are_told_apart_by_their_names(tmp_path):
    for name in ("a.b.run", "c.run.gz", "other.run"):
        words = TREC.replace(b"mine", b"other") if name == "other.run" else TREC
        (tmp_path / name).write_bytes(gzip.compress(words) if name.endswith("gz") else words)
    runs = read_all_runs([tmp_path / name for name in ("a.b.run", "c.run.gz", "other.run")])
    assert [run.tag for run in runs] == ["a.b", "c", "other"]


@pytest.mark.parametrize(
    ("runs", "names"),
    [
        ("a.run:x b.run:y", "x y"),
        ("/data/bm25.run.gz:x /data/dense.v2.json:x", "bm25 dense.v2"),
        ("/data/bm25/run.txt:x /data/dense/run.txt:x c.run:y", "bm25 dense y"),
        ("bm25/1/run:x bm25/2/run:x dense/1/run:x", "bm25/1/run bm25/2/run dense/1/run"),
        ("run:x old/run:x", "run old/run"),
        ("a.run:x a.run:y b.run:x", "a:x y b"),
        ("x.run:x y.run:x z.run:y", "x y:x y"),
        ("a.run:x a.run:x", "a:x a:x"),  # one run, given twice
    ],
)
def test_a_run_has_the_shortest_name_that_tells_it_apart(runs, names):
    given = [tuple(word.split(":")) for word in runs.split()]
    assert distinct_names(given) == names.split()
    assert distinct_names(given[::-1]) == names.split()[::-1]

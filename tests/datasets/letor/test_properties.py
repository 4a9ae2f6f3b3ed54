"""Whatever is written is read back; whatever else is read is refused in words."""

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from qdrank.datasets.importing import export_letor
from qdrank.datasets.judged import Judged
from qdrank.datasets.letor import load_letor, read_letor
from qdrank.datasets.letor_rows import Form, RowReader
from qdrank.datasets.textfiles import Block
from qdrank.errors import InputError

BOUNDED = settings(deadline=None)
names = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"], exclude_characters="#"), min_size=1)
digits = st.text("0123456789", max_size=30)
decimals = st.builds(
    "{}{}.{}{}".format,
    st.sampled_from(["", "-", "+"]),
    st.text("0123456789", min_size=1, max_size=30),
    digits,
    st.one_of(st.just(""), st.integers(-400, 400).map("e{}".format), st.integers(-50, 50).map("E{:+d}".format)),
)


def check_rounding(text: str) -> None:
    """Both ways round as Python does, and leave the same numbers: what is infinite is refused."""
    reader, block = RowReader("f", Form(1, True), False, 4), Block(f"0 qid:1 1:{text}\n".encode(), 1)
    with np.errstate(over="ignore"):
        expected = np.float32(float(text))
    regular = reader.regular(block)
    if np.isinf(expected):
        assert regular is None
        with pytest.raises(InputError, match=r"too large|missing|not finite"):
            list(reader.by_line(block))
        return
    for rows in (regular, *reader.by_line(block)):
        assert rows.X.tobytes() == expected.tobytes()  # the sign of zero included


@given(decimals)
def test_decimals_are_rounded_as_python_does(text):
    check_rounding(text)


@given(st.floats(width=32, allow_nan=False, allow_infinity=False), st.integers(-3, 3))
def test_numbers_near_the_border_of_two_float32(x, steps):
    x = np.float32(x)
    with np.errstate(over="ignore"):
        border = (np.float64(x) + np.float64(np.nextafter(x, np.float32(np.inf)))) / 2
    for _ in range(abs(steps)):
        border = np.nextafter(border, np.copysign(np.inf, steps))
    check_rounding(repr(float(border)))
    check_rounding(f"{float(border):.25e}")
    check_rounding(f"{float(border):.17g}")


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_doubles_as_printed(x):
    check_rounding(repr(x))


@st.composite
def judged_documents(draw) -> Judged:
    sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=5))
    query_id = draw(st.lists(names, min_size=len(sizes), max_size=len(sizes), unique=True))
    doc_id = [name for n in sizes for name in draw(st.lists(names, min_size=n, max_size=n, unique=True))]
    value = st.floats(width=32, allow_infinity=False, allow_nan=True)
    X = draw(hnp.arrays(np.float32, (sum(sizes), draw(st.integers(1, 5))), elements=value))
    return Judged(
        query_id=np.array(query_id, dtype=object),
        part=np.full(len(sizes), "all", dtype=object),
        offsets=np.cumsum([0, *sizes]).astype(np.int64),
        doc_id=np.array(doc_id, dtype=object),
        y=np.array(draw(st.lists(st.integers(0, 4), min_size=sum(sizes), max_size=sum(sizes)))),
        X=X,
    )


@given(judged_documents(), st.booleans(), st.sampled_from([1, 60, 1 << 20]))
@BOUNDED
def test_written_and_read_back(judged, sparse, block_bytes):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "data.txt"
        export_letor(judged, path, sparse=sparse)
        options = {"n_features": judged.X.shape[1], "sparse": True, "missing": True} if sparse else {"missing": True}
        found = load_letor(path, **options)
        chunks = list(read_letor(path, block_bytes=block_bytes, **options))
    np.testing.assert_array_equal(found.X, judged.X)
    np.testing.assert_array_equal(np.concatenate([c.X for c in chunks]), judged.X)
    for name in ("query_id", "doc_id", "y", "offsets", "part"):
        assert getattr(found, name).tolist() == getattr(judged, name).tolist()


def same(a, b) -> bool:
    return all(np.array_equal(x, y, equal_nan=name == "X") for name, x, y in zip(a._fields, a, b, strict=True))


WORDS = (
    "0|1|2|3|qid:|qid:7|qid:a:b|1:|2:|1:0|2:1|1:0x1|1:nan|2:NULL|2:1e400|2:-1.797e308|1:.5|2:+7.|1:1_0|1:1e|2:0.5|0x1:3|é|:"
    '|"|NULL|#docid = a|#docid = b c = 1|#|# x|#docid =|\t|\r|  |1:5 2:3 #docid = NULL|1:5 2:3#docid = b'
)


@given(
    st.lists(st.lists(st.sampled_from(WORDS.split("|")), max_size=7), min_size=1, max_size=4),
    st.booleans(),
    st.booleans(),
)
@BOUNDED
def test_what_arrow_reads_the_loop_reads_alike(words, regular, missing):
    """Lines of rows that are nearly in order; whatever is not left to the loop is what the loop reads."""
    rows = [f"{i % 3} qid:{i // 2} 1:{i} 2:.5 #docid = d{i}" for i in range(3)] if regular else []
    text = "\n".join([*rows, *(" ".join(line) for line in words), ""]).encode()
    reader = RowReader("f", Form(2, True), missing, 4)
    found = reader.regular(Block(text, 1))
    if found is not None:
        (expected,) = reader.by_line(Block(text, 1))
        assert same(found, expected)


@pytest.mark.parametrize("comment", ["", " #docid = NULL", " #docid = a inc = 1 prob = 0.5"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_usual_text_is_read_by_arrow(comment, end):
    text = "".join(f"{i} qid:q{i} 1:{i} 2:NULL{comment}{end}" for i in range(3)).encode()
    reader = RowReader("f", Form(2, True), True, 4)
    found, (expected,) = reader.regular(Block(text, 5)), reader.by_line(Block(text, 5))
    assert found is not None
    assert same(found, expected)


def refused_or_read(content: bytes, **options) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "data.txt"
        path.write_bytes(content)
        try:
            n_rows, refusal = sum(len(c.y) for c in read_letor(path, **options)), None
        except InputError as error:
            n_rows, refusal = 0, error
    assert n_rows > 0 or (refusal is not None and refusal.file == path and str(refusal))


@given(st.text("0123456789.:eE+-#=qid docNUL\r\n\t", max_size=200), st.booleans())
@BOUNDED
def test_any_text_of_the_formats_own_letters(content, sparse):
    refused_or_read(content.encode(), missing=True, sparse=sparse)

"""Bad LETOR text is refused with file, line, the text found and the fix."""

import bz2
import gzip
import lzma

import numpy as np
import pytest

from qdrank.datasets.letor import load_letor, read_letor
from qdrank.errors import GRADE_FIX, InputError

GOOD = "0 qid:1 1:0 2:0 #docid = a\n1 qid:1 1:1 2:0 #docid = b\n"

# name: (third row, words of the problem, text found)
BAD_ROWS = {
    "no label": ("qid:1 1:0 2:0", "whole number as label", "qid:1"),
    "label 1.5": ("1.5 qid:1 1:0 2:0", "whole number as label", "1.5"),
    "label x": ("x qid:1 1:0 2:0", "whole number as label", "x"),
    "label only": ("1", "whole number as label", "1"),
    "huge label": ("99999999999999999999999 qid:1 1:0 2:0", "above 4", "9999999"),
    "missing qid at the end": ("1 ", "qid:QUERY", "1"),
    "empty qid": ("1 qid: 1:0 2:0", "query's name", "qid:"),
    "qid with control": ("1 qid:a\x01b 1:0 2:0", "query's name", "qid:a"),
    "no colon": ("1 qid:2 1:0 2", "INDEX:VALUE", "2"),
    "word for index": ("1 qid:2 1:0 b:2", "INDEX:VALUE", "b:2"),
    "index 0": ("1 qid:2 0:0 1:0", "index 0", "0:0"),
    "negative index": ("1 qid:2 -1:0 1:0", "INDEX:VALUE", "-1:0"),
    "out of order": ("1 qid:2 2:0 1:0", "out of order or comes twice", "2:0"),
    "twice": ("1 qid:2 1:0 1:0", "out of order or comes twice", "1:0"),
    "huge index": ("1 qid:2 1:0 99999999999999999999999:1", "above 2", "999999"),
    "no features": ("1 qid:2 #docid = c", "ends before feature 2", "1 qid:2"),
    "value word": ("1 qid:2 1:zero 2:0", "not a number", "1:zero"),
    "value empty": ("1 qid:2 1: 2:0", "not a number", "1:"),
    "value with tail": ("1 qid:2 1:0.5x 2:0", "not a number", "1:0.5x"),
    "value two points": ("1 qid:2 1:0.5.1 2:0", "not a number", "1:0.5.1"),
    "value empty exponent": ("1 qid:2 1:1e 2:0", "not a number", "1:1e"),
    "value underscore": ("1 qid:2 1:1_0 2:0", "not a number", "1:1_0"),
    "value sign only": ("1 qid:2 1:- 2:0", "not a number", "1:-"),
    "value hex": ("1 qid:2 1:0x1p3 2:0", "not a number", "1:0x1p3"),
    "NaN": ("1 qid:2 1:-NaN 2:0", "not finite", "1:-NaN"),
    "inf": ("1 qid:2 1:-inf 2:0", "not finite", "1:-inf"),
    "too large": ("1 qid:2 1:1e39 2:0", "too large for single", "1:1e39"),
    "far too large": ("1 qid:2 1:1e999999999999999999999 2:0", "too large for single", "1:1e99"),
    "largest double": ("1 qid:2 1:1.797693134862316E+308 2:0", "missing", "1:1.79"),
    "docid empty": ("1 qid:2 1:0 2:0 #docid = ", "docid", "#docid"),
    "docid control": ("1 qid:2 1:0 2:0 #docid = a\x00b", "docid", "#docid"),
    "binary": ("\x89PNG\x1a\x00\x00", "whole number as label", "PNG"),
    "web page": ("<!DOCTYPE html>", "whole number as label", "<!DOCTYPE"),
    "CR only": ("1 qid:2 1:0 2:0\r1 qid:2 1:0 2:0", "INDEX:VALUE", "1"),
}


@pytest.fixture(autouse=True, params=["1", "3"], ids=["one thread", "three threads"])
def _threads(request, monkeypatch):
    """What is wrong is told alike whoever finds it."""
    monkeypatch.setenv("QDRANK_THREADS", request.param)


def error_of(tmp_path, content, **options) -> InputError:
    path = tmp_path / "data.txt"
    path.write_bytes(content.encode("latin-1") if isinstance(content, str) else content)
    with pytest.raises(InputError) as caught:
        list(read_letor(path, **options))
    assert caught.value.file == path
    return caught.value


@pytest.mark.parametrize("name", BAD_ROWS)
@pytest.mark.parametrize("compress", [bytes, lzma.compress])
def test_bad_row(tmp_path, name, compress):
    row, problem, found = BAD_ROWS[name]
    error = error_of(tmp_path, compress((GOOD + row + "\n").encode("latin-1")))
    assert error.line == 3
    assert problem in error.problem
    shown = error.found.decode("latin-1") if isinstance(error.found, bytes) else error.found
    assert found in shown
    assert error.fix


@pytest.mark.parametrize(("label", "real"), [("0.5", True), ("2e-1", True), ("x", False), ("a1.5", False)])
def test_real_valued_labels_are_told_how_to_become_grades(tmp_path, label, real):
    error = error_of(tmp_path, f"{GOOD}{label} qid:2 1:0 2:0\n")
    assert (error.fix == GRADE_FIX) == real
    assert "cut real values into grades" in GRADE_FIX


def test_line_is_counted_over_blocks_comments_and_chunks(tmp_path):
    rows = "".join(f"# comment\n\n0 qid:{i} 1:0 2:0\n" for i in range(2000))
    error = error_of(tmp_path, gzip.compress((rows + "0 qid:x 1:0\n").encode()), block_bytes=1000)
    assert error.line == 6001


SPARSE, THREE = "0 qid:1 2:0 5:1\n0 qid:1 ", "1 qid:1 1:1 2:2 3:3\n0 qid:1 "


@pytest.mark.parametrize(
    ("text", "options", "line", "problem"),
    [
        *((text, {}, None, "no rows") for text in ("", "\n\n", "# nothing\n", "#\r0 qid:1 1:0", "\ufeff", " \t \r\n")),
        *((GOOD.encode(encoding), {}, 1, "") for encoding in ("utf-16", "utf-16-le", "utf-32")),
        (SPARSE + "4:1 3:1\n", {}, 2, "out of order"),
        (SPARSE + "2000000000:1\n", {}, 2, "above 100000"),
        ("0 qid:1 1:0\n0 qid:1 1:0 #docid = 1-1\n", {}, 2, ""),
        ("0 qid:0 1:0 2:0\n0 qid:1 1:0 2:0 #docid = k\xe4se\n", {}, 2, "UTF-8"),
        ("0 qid:0 1:0 2:0\n0 qid:k\xe4se 1:0 2:0\n", {}, 2, "UTF-8"),
        (GOOD, {"n_features": 3}, 1, "ends before feature 3"),
        (GOOD, {"n_features": 1}, 1, "above 1"),
        (THREE + "1:1 3:3 2:2 #docid = 7:1\n", {}, 2, "a feature is out of order or comes twice"),
        (THREE + "1:1 3:3 #docid = 2:2 1:1\n", {}, 2, "a feature is left out"),
    ],
)
def test_bad_text(tmp_path, text, options, line, problem):
    content = text.encode() if text in ("", "\ufeff") else text
    error = error_of(tmp_path, content, **options)
    assert line is None or error.line == line
    assert problem in error.problem


def test_query_in_two_places_far_apart(tmp_path):
    rows = "".join(f"0 qid:{i} 1:0 2:0\n" for i in range(3000))
    error = error_of(tmp_path, rows + "0 qid:5 1:0 2:0\n", block_bytes=500)
    assert error.line == 3001
    assert "began in line 6" in error.problem


def test_duplicate_document_across_chunks(tmp_path, monkeypatch):
    monkeypatch.setattr("qdrank.datasets.textfiles._STEP", 100)
    rows = "".join(f"0 qid:1 1:0 2:0 #docid = d{i}\n" for i in range(500))
    error = error_of(tmp_path, rows + "0 qid:1 1:0 2:0 #docid = d3\n0 qid:2 1:0 2:0\n", block_bytes=200)
    assert (error.line, error.found) == (501, "d3")


@pytest.mark.parametrize("compress", [gzip.compress, lzma.compress, bz2.compress])
@pytest.mark.parametrize("share", [0.5, 0.99])
def test_truncated_compressed_file(tmp_path, compress, share):
    generator = np.random.default_rng(0)
    rows = "".join(f"0 qid:{i} 1:{generator.random():.6f} 2:{generator.random():.6f}\n" for i in range(10_000))
    content = compress(rows.encode())
    error = error_of(tmp_path, content[: int(len(content) * share)])
    assert "cut short" in error.problem
    assert 1 <= error.line <= 10_000
    assert compress is not gzip.compress or error.line > 10_000 * share * 0.8  # what came before the cut is read


def test_corrupt_compressed_file(tmp_path):
    for compress in (gzip.compress, lzma.compress, bz2.compress):
        content = bytearray(compress((GOOD * 50).encode()))
        content[len(content) // 2] ^= 0xFF
        error_of(tmp_path, bytes(content))


def test_corrupt_zstandard(tmp_path):
    assert "ZSTD" in error_of(tmp_path, b"\x28\xb5\x2f\xfd rest").problem


def test_a_line_without_end(tmp_path, monkeypatch):
    monkeypatch.setattr("qdrank.datasets.textfiles.LONGEST_LINE", 1 << 20)
    error = error_of(tmp_path, b"0 qid:1 " + b"1:0 " * (1 << 19))
    assert "MiB" in error.problem


@pytest.mark.parametrize("name", ["absent.txt", "."])
def test_unreadable(tmp_path, name):
    with pytest.raises(InputError, match="cannot be read"):
        load_letor(tmp_path / name)


@pytest.mark.parametrize("options", [{"n_features": 0}, {"n_features": 10**9}, {"max_label": 128}, {"max_label": -1}])
def test_bad_options(tmp_path, options):
    path = tmp_path / "data.txt"
    path.write_text(GOOD)
    with pytest.raises(InputError):
        load_letor(path, **options)

from __future__ import annotations

import gzip

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from qdrank.datasets.runs.reading import read_qrels, read_run
from qdrank.datasets.runs.writing import write_qrels, write_run
from qdrank.errors import InputError

WORDS = st.text(st.characters(codec="utf-8", exclude_categories=["Z", "C"]), min_size=1, max_size=6)
PAIRS = st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=25, unique=True)
ANY_FOLDER = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@ANY_FOLDER
@given(PAIRS, st.data())
def test_a_run_comes_back_ranked(tmp_path, pairs, data):
    scores = data.draw(st.lists(st.floats(allow_nan=False), min_size=len(pairs), max_size=len(pairs)))
    query, doc = zip(*pairs, strict=True)
    write_run(tmp_path / "run", query, doc, scores, tag="mine")
    run = read_run(tmp_path / "run")
    assert run.tag == "mine"
    assert dict(zip(zip(run.query, run.doc, strict=True), run.score, strict=True)) == dict(
        zip(pairs, scores, strict=True)
    )
    assert list(dict.fromkeys(run.query)) == list(dict.fromkeys(query))
    for name in set(query):
        ranked = run.score[run.query == name]
        assert (ranked[:-1] >= ranked[1:]).all()
    write_run(tmp_path / "again", run.query, run.doc, run.score, tag=run.tag)
    assert (tmp_path / "again").read_bytes() == (tmp_path / "run").read_bytes()


@ANY_FOLDER
@given(PAIRS, st.data())
def test_judgments_come_back(tmp_path, pairs, data):
    grades = data.draw(st.lists(st.integers(-2, 4), min_size=len(pairs), max_size=len(pairs)))
    query, doc = zip(*pairs, strict=True)
    write_qrels(tmp_path / "qrels", query, doc, grades)
    qrels = read_qrels(tmp_path / "qrels")
    assert dict(zip(zip(qrels.query, qrels.doc, strict=True), qrels.grade, strict=True)) == dict(
        zip(pairs, grades, strict=True)
    )


def test_the_lines_of_a_run(tmp_path):
    write_run(tmp_path / "run", ["2", "1", "2", "2"], ["a", "b", "c", "d"], [0.1, 1, 0.5, 0.1], tag="t")
    assert (tmp_path / "run").read_text() == "2 Q0 c 1 0.5 t\n2 Q0 a 2 0.1 t\n2 Q0 d 3 0.1 t\n1 Q0 b 1 1.0 t\n"


def test_the_lines_of_judgments(tmp_path):
    write_qrels(tmp_path / "qrels", [7, 7], ["a", "b"], np.array([0, 2], dtype=np.int8))
    assert (tmp_path / "qrels").read_text() == "7 0 a 0\n7 0 b 2\n"


def test_queries_in_two_places_and_other_tools_habits(tmp_path):
    """Tabs, ranks from 0, a compressed file, blank lines, CRLF, any second column."""
    content = b"1\tQ0\tx\t0\t2e0\tt\r\n2 0 y 7 -1 t\r\n\r\n1 Q0 z 5 3 t\r\n"
    (tmp_path / "run.gz").write_bytes(gzip.compress(content))
    run = read_run(tmp_path / "run.gz")
    assert list(run.query) == ["1", "1", "2"]
    assert list(run.doc) == ["x", "z", "y"]
    assert list(run.score) == [2, 3, -1]


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("1 Q0 a 1 0.5 t\n1 Q0 b 2 0.4\n", 2, "5 columns, not 6"),
        ("1 Q0 a 1 high t\n", 1, "score is not a number"),
        ("1 Q0 a 1 nan t\n", 1, "score is not a number"),
        ("1 Q0 a first 1 t\n", 1, "rank is not a whole number"),
        ("1 Q0 a 1 2 t\n2 Q0 a 1 2 t\n1 Q0 a 2 1 t\n", 3, "document a comes again for query 1"),
        ("1 Q0 a 1 2 t\n1 Q0 b 1 2 u\n", None, "2 runs in one file"),
        ("\n", None, "has no lines"),
    ],
)
def test_a_bad_run_is_named_by_file_and_line(tmp_path, text, line, said):
    (tmp_path / "bad.run").write_text(text)
    with pytest.raises(InputError, match=said) as error:
        read_run(tmp_path / "bad.run")
    assert error.value.line == line
    assert "bad.run" in str(error.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("1 0 a 1 t\n", "5 columns, not 4"),
        ("1 0 a\n", "grade is not a whole number"),
        ("1 0 a yes\n", "grade is not a whole number"),
        ("1 0 a 1\n1 0 a 0\n", "comes again"),
    ],
)
def test_bad_judgments_are_named(tmp_path, text, said):
    (tmp_path / "bad.qrels").write_text(text)
    with pytest.raises(InputError, match=said):
        read_qrels(tmp_path / "bad.qrels")


@pytest.mark.parametrize(
    ("query", "doc", "score", "said"),
    [
        (["a b"], ["d"], [1.0], "not a single word"),
        (["a"], [""], [1.0], "not a single word"),
        (["a", "a"], ["d", "d"], [1.0, 2.0], "document d comes 2 times for query a"),
        (["a"], ["d"], [float("nan")], "not a number"),
        (["a"], ["d"], [1.0, 2.0], "for 2 rows"),
    ],
)
def test_what_cannot_be_written_leaves_no_file(tmp_path, query, doc, score, said):
    with pytest.raises(InputError, match=said):
        write_run(tmp_path / "run", query, doc, score)
    assert list(tmp_path.iterdir()) == []


def test_grades_must_be_whole_numbers(tmp_path):
    with pytest.raises(InputError, match="whole numbers"):
        write_qrels(tmp_path / "qrels", ["1"], ["a"], [0.5])

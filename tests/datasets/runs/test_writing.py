import gzip
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from qdrank.datasets.runs.reading import read_qrels, read_run
from qdrank.datasets.runs.writing import distinct_scores, write_qrels, write_run
from qdrank.errors import InputError

WORDS = st.text(st.characters(codec="utf-8", exclude_categories=["Z", "C"]), min_size=1, max_size=6)
PAIRS = st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=25, unique=True)
ANY_FOLDER = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@ANY_FOLDER
@given(PAIRS, st.data())
def test_a_run_comes_back_ranked(tmp_path, pairs, data):
    scores = data.draw(
        st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=len(pairs), max_size=len(pairs))
    )
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


SCORES = st.one_of(st.floats(allow_nan=False), st.sampled_from([0.0, -0.0, 1.0, 1 + 1e-12, np.inf, -np.inf, 5e-324]))


@given(st.lists(st.lists(SCORES, min_size=1, max_size=12), min_size=1, max_size=4))
def test_written_scores_differ_and_keep_the_order(lists):
    """By the definition, one document after the other: no score reaches the one before it in single precision."""
    scores, offsets = np.concatenate(lists), np.cumsum([0, *map(len, lists)])
    made = distinct_scores(scores, offsets)
    for a, b in pairwise(offsets.tolist()):
        order = np.argsort(-scores[a:b], kind="stable")
        ranked, before = made[a:b][order], np.float32(np.inf)
        assert (np.diff(ranked.astype(np.float64)) < 0).all()
        assert np.argsort(-made[a:b], kind="stable").tolist() == order.tolist()
        for score, written in zip(scores[a:b][order], ranked, strict=True):
            rounded = np.float32(np.clip(score, -3e38, 3e38))
            assert written == min(rounded, np.nextafter(before, np.float32(-np.inf)))
            before = written


def test_a_written_order_is_read_back(tmp_path):
    """Ties come back in row order, not by name, whether a tool compares singles or doubles."""
    docs, scores = [f"d{i}" for i in range(30)], np.repeat([2.0, 1 / 3, 1 / 3 + 1e-12], 10)
    write_run(tmp_path / "run.gz", ["q"] * 30, docs, distinct_scores(scores, np.array([0, 30])))
    run = read_run(tmp_path / "run.gz")
    ranked = sorted(range(30), key=lambda i: (-scores[i], i))
    assert run.doc.tolist() == [docs[i] for i in ranked]
    for precision in (np.float32, np.float64):
        assert (np.diff(run.score.astype(precision)) < 0).all()
    content = (tmp_path / "run.gz").read_bytes()
    write_run(tmp_path / "run.gz", ["q"] * 30, docs, distinct_scores(scores, np.array([0, 30])))
    assert (tmp_path / "run.gz").read_bytes() == content


def test_metadata_at_the_head_of_a_run_is_passed_over(tmp_path):
    head = "# ir_metadata.start\n# tag: mine\n# actor:\n#   team: we all\n# ir_metadata.end\n"
    (tmp_path / "run").write_text(head + "1 Q0 a 1 2 t\n1 Q0 b 2 1 t\n")
    assert read_run(tmp_path / "run").doc.tolist() == ["a", "b"]
    (tmp_path / "run").write_text(head + "1 Q0 a 1 2 t\n1 Q0 b 2 t\n")
    with pytest.raises(InputError, match="line 7: 5 columns, not 6"):
        read_run(tmp_path / "run")


def test_queries_in_two_places_and_other_tools_habits(tmp_path):
    """Tabs, ranks from 0, a compressed file, blank lines, CRLF, any second column."""
    content = b"1\tQ0\tx\t0\t2e0\tt\r\n2 0 y 7 -1 t\r\n\r\n1 Q0 z 5 3 t\r\n"
    (tmp_path / "run.gz").write_bytes(gzip.compress(content))
    run = read_run(tmp_path / "run.gz")
    assert list(run.query) == ["1", "1", "2"]
    assert list(run.doc) == ["x", "z", "y"]
    assert list(run.score) == [2, 3, -1]


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

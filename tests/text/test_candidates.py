from pathlib import Path

import numpy as np
import pytest

from qdrank.datasets.collections.model import Document, Judgment, Notebook, Query, assemble
from qdrank.errors import InputError
from qdrank.text.index import analyse_queries, build_index
from qdrank.text.retrieve import find_candidates, parts_of, retrieve

HERE = Path("made.txt")
BODIES = {"a": "wing", "b": "wing wing flow", "c": "flow", "d": "plate", "e": "wing"}


def collection(queries, judgments):
    documents = [Document(name, {"body": body}) for name, body in BODIES.items()]
    judged = [Judgment(*judgment, HERE, line) for line, judgment in enumerate(judgments, start=1)]
    return assemble(documents, queries, judged, Notebook(), HERE)


QUERIES = [Query("q1", "wing"), Query("q2", "ghost"), Query("q3", "flow plate")]
JUDGMENTS = [("q1", "b", 3), ("q1", "d", 2), ("q2", "a", 1), ("q3", "d", 1)]


def pairs(made, *, n_top, judged):
    index = build_index(made.documents)
    ranking = retrieve(index.main, analyse_queries(index, [query.text for query in made.queries]), n_top=n_top)
    found = find_candidates(ranking, made.qrels, len(made.documents), judged=judged)
    ids = made.documents.doc_id
    return [
        (made.queries[q].query_id, ids[d], g)
        for q, d, g in zip(found.query.tolist(), found.document.tolist(), found.label.tolist(), strict=True)
    ]


def test_the_best_by_bm25_are_candidates_and_unjudged_means_0():
    made = collection(QUERIES, JUDGMENTS)
    assert pairs(made, n_top=2, judged=False) == [("q1", "a", 0), ("q1", "b", 3), ("q3", "c", 0), ("q3", "d", 1)]


def test_judged_documents_may_join_them_even_without_a_match():
    made = collection(QUERIES, JUDGMENTS)
    assert pairs(made, n_top=2, judged=True) == [
        ("q1", "a", 0),
        ("q1", "b", 3),
        ("q1", "d", 2),
        ("q2", "a", 1),
        ("q3", "c", 0),
        ("q3", "d", 1),
    ]


def test_ties_at_the_cut_go_by_document_id():
    """Documents a and e are alike; with room for one of them the first id wins."""
    assert [doc for _, doc, _ in pairs(collection(QUERIES[:1], JUDGMENTS[:1]), n_top=2, judged=False)] == ["a", "b"]


def test_some_candidates():
    made = collection(QUERIES, JUDGMENTS)
    index = build_index(made.documents)
    ranking = retrieve(index.main, analyse_queries(index, ["wing", "ghost", "flow plate"]), n_top=3)
    found = find_candidates(ranking, made.qrels, len(made.documents))
    assert found.where(found.query == 2).document.tolist() == [1, 2, 3]
    assert found.label.dtype == np.int8


def test_the_collections_own_split_becomes_parts():
    queries = [Query("q1", "x", None, "train"), Query("q2", "x", None, "dev"), Query("q3", "x", None, "test")]
    assert parts_of(collection([*queries, Query("q4", "x")], JUDGMENTS)) == ["train", "vali", "test", None]


def test_without_a_split_seeded_parts_are_drawn():
    queries = [Query(f"q{i:02}", "wing") for i in range(12)]
    made = collection(queries, [(query.query_id, "a", 1) for query in queries[:11]])
    parts = parts_of(made, seed=3)
    assert parts[11] is None
    assert sorted(parts[:11].count(f"S{i}") for i in range(1, 6)) == [2, 2, 2, 2, 3]
    assert parts == parts_of(made, seed=3)
    assert parts != parts_of(made, seed=4)
    assert set(parts_of(made, folds=3)) == {"S1", "S2", "S3", None}


def test_other_splits_are_refused():
    with pytest.raises(InputError, match="neither for training"):
        parts_of(collection([Query("q1", "x", None, "odd")], JUDGMENTS[:1]))

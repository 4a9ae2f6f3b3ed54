"""First stages as runs: BM25 by its formula, RM3 and latent semantic analysis by what they must find."""

import math

import numpy as np
import pytest

from qdrank.datasets.collections.model import Collection, Documents, JudgedPairs, Query
from qdrank.text.first_runs import FIRST_RUNS, first_runs, judgments_of

BODIES = [
    "zebra lion tiger",
    "lion tiger tiger meadow",
    "piano violin cello",
    "violin cello organ organ",
    "harbour",
    "zebra zebra meadow river",
]
QUERIES = [Query("q1", "zebra"), Query("unjudged", "piano"), Query("q2", "violin organ"), Query("q3", "nowhere")]
JUDGED = JudgedPairs(np.array([0, 2, 3, 3]), np.array([0, 3, 4, 2]), np.array([1, 2, 1, 0]))
COLLECTION = Collection(Documents([f"d{i}" for i in range(6)], {"body": BODIES}), QUERIES, JUDGED)


def runs(depth=6):
    return {run.tag: run for run in first_runs(COLLECTION, FIRST_RUNS, depth)}


def of_query(run, query):
    rows = [i for i, name in enumerate(run.query) if name == query]
    return {run.doc[i]: float(run.score[i]) for i in rows}


def bm25(query, body, k1=0.9, b=0.4):
    """Lucene's BM25 with the constants of BEIR's baseline, from the formula."""
    words, lists = body.split(), [one.split() for one in BODIES]
    mean = sum(map(len, lists)) / len(lists)
    total = 0.0
    for term in query.split():
        tf, df = words.count(term), sum(term in one for one in lists)
        norm = 1 - b + b * len(words) / mean
        total += math.log(1 + (len(lists) - df + 0.5) / (df + 0.5)) * tf / (tf + k1 * norm) if tf else 0.0
    return total


def test_bm25_is_the_formula_for_every_document_with_a_word():
    run = runs()["bm25"]
    for query in (QUERIES[0], QUERIES[2]):
        expected = {f"d{i}": bm25(query.text, body) for i, body in enumerate(BODIES) if bm25(query.text, body)}
        assert of_query(run, query.query_id) == pytest.approx(expected)


@pytest.mark.parametrize("depth", [1, 2])
def test_runs_are_of_judged_queries_as_deep_as_asked_by_falling_score(depth):
    for run in runs(depth).values():
        assert {"unjudged", "q3"} & set(run.query) <= ({"q3"} if run.tag == "lsa" else set())
        for query in set(run.query):
            scores = list(of_query(run, query).values())
            assert len(scores) <= depth
            assert scores == sorted(scores, reverse=True)


def test_feedback_and_latent_space_find_what_shares_no_word_with_the_query():
    """d1 has no zebra, but the words that occur with it."""
    made = runs()
    assert "d1" not in of_query(made["bm25"], "q1")
    assert "d1" in of_query(made["rm3"], "q1")
    latent = of_query(made["lsa"], "q1")
    assert latent["d1"] > latent["d2"]


def test_judgments_have_ids_in_place_of_rows():
    qrels = judgments_of(COLLECTION)
    assert list(zip(qrels.query, qrels.doc, qrels.grade, strict=True)) == [
        ("q1", "d0", 1),
        ("q2", "d3", 2),
        ("q3", "d4", 1),
        ("q3", "d2", 0),
    ]

"""Retrieval against the definition, against every document's score, and against another implementation."""

import math

import bm25s
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qdrank.datasets.collections.model import Documents
from qdrank.errors import InputError
from qdrank.text.analyser import Analyser
from qdrank.text.index import analyse_queries, build_index
from qdrank.text.retrieve import BM25, VARIANTS, retrieve

PLAIN = Analyser(stemmer="none", stop_words="none")
BODIES = ["wing flow wing", "flow plate", "plate plate plate heat", "", "heat transfer flow wing slip", "flow"]
QUERIES = ["wing flow", "plate plate", "", "ghost", "transfer ghost heat"]


def index_of(bodies):
    return build_index(Documents([f"d{i:03}" for i in range(len(bodies))], {"body": list(bodies)}), PLAIN)


# The published weights of one term in one document, from the papers: c = tf, f = df, n = documents, r = length / mean.
WEIGHTS = {
    "robertson": lambda c, f, n, r, k, b: (
        max(math.log((n - f + 0.5) / (f + 0.5)), 0) * (k + 1) * c / (c + k * (1 - b + b * r))
    ),
    "lucene": lambda c, f, n, r, k, b: math.log(1 + (n - f + 0.5) / (f + 0.5)) * c / (c + k * (1 - b + b * r)),
}


def score(query: str, body: str, bodies: list[str], model: BM25) -> float:
    words, n = body.split(), len(bodies)
    ratio = len(words) * n / max(sum(len(text.split()) for text in bodies), 1)
    total = 0.0
    for term in query.split():
        if term in words:
            df = sum(term in text.split() for text in bodies)
            total += WEIGHTS[model.variant](words.count(term), df, n, ratio, model.k1, model.b)
    return total


@pytest.mark.parametrize("variant", list(VARIANTS))
@pytest.mark.parametrize(("k1", "b"), [(0.9, 0.4), (2.5, 0.8), (1.2, 1.0), (0.0, 0.0)])
def test_scores_are_those_of_the_papers(variant, k1, b):
    model = BM25(variant=variant, k1=k1, b=b)
    index = index_of(BODIES)
    found = retrieve(index.main, analyse_queries(index, QUERIES), model, n_top=10)
    for i, query in enumerate(QUERIES):
        holding = [j for j, body in enumerate(BODIES) if set(query.split()) & set(body.split())]
        assert sorted(found.document[i, : found.size[i]].tolist()) == holding
        assert found.matches[i] == len(holding)
        for j, value in zip(found.document[i].tolist(), found.score[i].tolist(), strict=True):
            assert value == pytest.approx(score(query, BODIES[j], BODIES, model) if j >= 0 else 0.0, rel=2e-6)


@given(
    bodies=st.lists(st.lists(st.sampled_from("abc"), max_size=4).map(" ".join), min_size=1, max_size=30),
    query=st.lists(st.sampled_from("abcd"), max_size=3).map(" ".join),
    n_top=st.integers(1, 12),
)
def test_the_best_are_found_and_ties_go_by_document(bodies, query, n_top):
    """Few distinct documents, so that ties abound; the oracle sorts all of them."""
    index = index_of(bodies)
    queries = analyse_queries(index, [query])
    found = retrieve(index.main, queries, n_top=n_top)
    everything = retrieve(index.main, queries, n_top=len(bodies))
    order = sorted(
        (-value, document)
        for value, document in zip(everything.score[0].tolist(), everything.document[0].tolist(), strict=True)
        if document >= 0
    )
    size = min(n_top, len(order))
    assert found.size[0] == size
    assert found.document[0, :size].tolist() == [document for _, document in order[:size]]
    assert (found.document[0, size:] == -1).all()
    dense = np.array([score(query, body, bodies, BM25()) for body in bodies])
    assert np.allclose(found.score[0, :size], np.sort(dense)[::-1][:size], rtol=1e-5)


@pytest.mark.parametrize(("variant", "factor"), [("lucene", 1.0), ("robertson", 2.2)])
def test_bm25s_gives_the_same_scores(variant, factor):
    """bm25s leaves Robertson's constant factor k1 + 1 away."""
    rng = np.random.default_rng(0)
    bodies = [" ".join(rng.choice(list("abcdefghij"), size=rng.integers(1, 12))) for _ in range(200)]
    index = index_of(bodies)
    queries = ["a b", "c c d", "j"]
    found = retrieve(index.main, analyse_queries(index, queries), BM25(variant=variant, k1=1.2, b=0.75), n_top=20)
    other = bm25s.BM25(method=variant, k1=1.2, b=0.75)
    other.index([body.split() for body in bodies], show_progress=False)
    _, scores = other.retrieve([query.split() for query in queries], k=20, show_progress=False)
    assert np.allclose(found.score, factor * scores, rtol=1e-4)


def test_bad_parameters_are_refused():
    with pytest.raises(InputError, match="did you mean lucene"):
        BM25(variant="lucen")
    for wrong in ({"k1": -1.0}, {"b": 1.5}, {"k1": math.nan}):
        with pytest.raises(InputError, match="bad parameters"):
            BM25(**wrong)
    index = index_of(BODIES)
    with pytest.raises(InputError, match="at least 1"):
        retrieve(index.main, analyse_queries(index, ["wing"]), n_top=0)

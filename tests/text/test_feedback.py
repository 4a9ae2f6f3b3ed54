"""RM3 against its formula, computed word by word."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.text.test_retrieve import index_of

from qdrank.errors import InputError
from qdrank.text.expansion import Feedback, expanded_queries
from qdrank.text.index import analyse_queries
from qdrank.text.retrieve import BM25, bm25_scores, retrieve


def by_hand(query: str, bodies: list[str], feedback: Feedback, ranked: list[tuple[int, float]]) -> dict[str, float]:
    """p(t | q') of every term, from counts of words; ``ranked`` are the first documents and their scores."""
    vocabulary = sorted({word for body in bodies for word in body.split()})
    asked = [word for word in query.split() if word in vocabulary]
    original = {word: asked.count(word) / max(len(asked), 1) for word in vocabulary}
    model = dict.fromkeys(vocabulary, 0.0)
    for document, score in ranked[: feedback.documents]:
        words = bodies[document].split()
        for word in words:
            model[word] += score / len(words)
    best = sorted((word for word in vocabulary if model[word] > 0), key=lambda word: (-model[word], word))
    kept = {word: model[word] for word in best[: feedback.terms]}
    if not kept:
        return {word: share for word, share in original.items() if share}
    total = sum(kept.values())
    mixed = {w: feedback.weight * original[w] + (1 - feedback.weight) * kept.get(w, 0.0) / total for w in vocabulary}
    return {word: share for word, share in mixed.items() if share}


WORDS = st.lists(st.sampled_from("abcdefg"), min_size=1, max_size=6).map(" ".join)


@given(
    bodies=st.lists(WORDS, min_size=2, max_size=12),
    query=WORDS,
    documents=st.integers(1, 4),
    terms=st.integers(1, 5),
    weight=st.sampled_from([0.0, 0.3, 0.5, 1.0]),
)
def test_expanded_queries_are_those_of_the_formula(bodies, query, documents, terms, weight):
    index, feedback = index_of(bodies), Feedback(documents, terms, weight)
    asked = analyse_queries(index, [query])
    first = retrieve(index.main, asked, n_top=10)
    size = int(first.size[0])
    ranked = list(zip(first.document[0, :size].tolist(), first.score[0, :size].tolist(), strict=True))
    expected = by_hand(query, bodies, feedback, ranked)
    mixed = expanded_queries(index.main, asked, first, feedback).counts
    got = {
        index.terms[column]: value for column, value in zip(mixed.indices.tolist(), mixed.data.tolist(), strict=True)
    }
    # Two terms of equal weight, one of which is cut off, may be told apart by rounding: compare the shares then.
    assert sorted(got.values()) == pytest.approx(sorted(expected.values()), abs=1e-9)
    if sum(got.values()):
        assert sum(got.values()) == pytest.approx(1.0)


def test_the_whole_weight_on_the_query_is_plain_bm25():
    bodies = ["wing flow wing", "flow plate", "plate plate heat", "heat transfer flow wing slip"]
    index = index_of(bodies)
    asked = analyse_queries(index, ["wing flow", "ghost"])
    first = retrieve(index.main, asked, n_top=4)
    again = retrieve(index.main, expanded_queries(index.main, asked, first, Feedback(2, 2, 1.0)), n_top=4)
    assert again.document.tolist() == first.document.tolist()
    assert np.allclose(2 * again.score, first.score)


def test_feedback_finds_what_the_query_does_not_say():
    bodies = ["wing lift lift", "wing lift", "lift lift lift", "heat"]
    index = index_of(bodies)
    asked = analyse_queries(index, ["wing"])
    first = retrieve(index.main, asked, n_top=4)
    assert 2 not in first.document[0]
    again = retrieve(index.main, expanded_queries(index.main, asked, first, Feedback(2, 2, 0.5)), n_top=4)
    assert 2 in again.document[0]


@pytest.mark.parametrize("wrong", [{"documents": 0}, {"terms": 0}, {"weight": 1.5}, {"weight": float("nan")}])
def test_bad_settings_are_refused(wrong):
    with pytest.raises(InputError, match="bad settings of feedback"):
        Feedback(**wrong)


@pytest.mark.parametrize("variant", ["lucene", "robertson"])
def test_a_pair_has_the_score_that_retrieval_gives(variant):
    rng = np.random.default_rng(3)
    bodies = [" ".join(rng.choice(list("abcdefghij"), size=rng.integers(1, 12))) for _ in range(50)]
    index, model = index_of(bodies), BM25(variant=variant)
    asked = analyse_queries(index, ["a b b", "j", "ghost"])
    ranking = retrieve(index.main, asked, model, n_top=50)
    query, document = (grid.ravel() for grid in np.meshgrid(np.arange(3), np.arange(50), indexing="ij"))
    expected = np.zeros((3, 50))
    row, place = np.nonzero(ranking.document >= 0)
    expected[row, ranking.document[row, place]] = ranking.score[row, place]
    assert np.allclose(bm25_scores(index.main, asked, query, document, model), expected.ravel(), rtol=1e-5)

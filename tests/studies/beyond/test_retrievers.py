"""Retrievers against oracles: hidden past queries are as if they had never been, formulas word by word, scikit-learn."""

import numpy as np
import pytest
from scipy import sparse

from qdrank.errors import InputError
from qdrank.studies.beyond.retrievers import (
    DocumentTotals,
    JudgmentRidge,
    Known,
    Latent,
    Lexical,
    Mixed,
    NearestQueries,
    OtherQuery,
    similarities,
    z_scores,
)
from qdrank.text.expansion import AskedQueries, Feedback, PastQueries
from qdrank.text.index import AnalysedQueries, FieldIndex
from qdrank.text.retrieve import BM25, bm25_scores, retrieve

N_DOCUMENTS, N_TERMS, N_PAST = 40, 30, 12
RM3 = Feedback(documents=4, terms=6, weight=0.5)
JUDGED = [
    Lexical(copies=1),
    Lexical(BM25(k1=1.5, b=0.7), RM3, copies=2),
    NearestQueries(2.0),
    NearestQueries(1.0, "candidates"),
    NearestQueries(1.0, "vectors"),
    DocumentTotals(),
]


def counts(rng, n, most):
    dense = rng.integers(0, most, (n, N_TERMS)) * (rng.random((n, N_TERMS)) < 0.25)
    dense[np.arange(n), rng.integers(0, N_TERMS, n)] = 1
    return sparse.csr_array(dense.astype(np.int32))


@pytest.fixture(scope="module")
def known() -> Known:
    rng = np.random.default_rng(3)
    grades = rng.integers(1, 4, (N_PAST, N_DOCUMENTS)) * (rng.random((N_PAST, N_DOCUMENTS)) < 0.15)
    past = PastQueries(counts(rng, N_PAST, 2), sparse.csr_array(grades.astype(np.int32)))
    return Known(FieldIndex(counts(rng, N_DOCUMENTS, 4)), past)


def plain(words, n_past=N_PAST) -> AskedQueries:
    return AskedQueries(words, sparse.csr_array((words.shape[0], n_past), dtype=np.int32))


def without(known: Known, keep) -> Known:
    past = known.past
    return Known(known.text, PastQueries(past.words[keep], past.judgments[keep]))


@pytest.mark.parametrize("retriever", JUDGED, ids=str)
def test_a_past_query_is_scored_as_if_it_had_no_judgments(known, retriever):
    """Permuting a query's own judgments changes nothing for it: the oracle is a collection where they are empty."""
    together = retriever.scores(known, known.past_asked)
    for query in range(N_PAST):
        judgments = known.past.judgments.copy().tolil()
        judgments[query] = 0
        blank = known.with_judgments(sparse.csr_array(judgments.tocsr()))
        one = retriever.scores(blank, plain(known.past.words[[query]], len(blank.past)))
        np.testing.assert_allclose(together[query], one[0], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("retriever", [Lexical(copies=3), Lexical(BM25(b=0.9), RM3, copies=1)], ids=str)
def test_several_hidden_queries_are_as_if_they_had_never_been(known, retriever):
    hidden = sparse.csr_array(np.eye(3, N_PAST, dtype=np.int32) + np.eye(3, N_PAST, 4, dtype=np.int32))
    words = known.past.words[:3]
    together = retriever.scores(known, AskedQueries(words, hidden))
    for query in range(3):
        keep = [p for p in range(N_PAST) if p not in (query, query + 4)]
        one = retriever.scores(without(known, keep), plain(words[[query]], len(keep)))
        np.testing.assert_allclose(together[query], one[0], rtol=1e-9, atol=1e-12)


def test_text_is_scored_as_the_first_stage_scores_it(known):
    words, model = known.past.words, BM25(k1=1.2, b=0.3)
    nothing = np.zeros(N_PAST, dtype=np.int64)
    query, document = (one.ravel() for one in np.indices((N_PAST, N_DOCUMENTS)))
    asked = AnalysedQueries(words, nothing, nothing)
    expected = bm25_scores(known.text, asked, query, document, model).reshape(N_PAST, N_DOCUMENTS)
    np.testing.assert_allclose(Lexical(model).scores(known, plain(words)), expected, rtol=1e-12)
    from qdrank.text.expansion import expanded_queries

    again = expanded_queries(known.text, asked, retrieve(known.text, asked, model, n_top=10), RM3)
    expected = bm25_scores(known.text, again, query, document, model).reshape(N_PAST, N_DOCUMENTS)
    np.testing.assert_allclose(Lexical(model, RM3).scores(known, plain(words)), expected, rtol=1e-6)


def test_expansion_appends_the_words_of_answered_queries(known):
    """Equation 1, word by word: one document, one query, the statistics of the text alone."""
    copies, model = 2, BM25()
    past, text = known.past, known.text.counts.toarray()
    added = np.array(
        [
            sum(past.words[[p]].toarray()[0] for p in range(N_PAST) if past.judgments[p, d] > 0)
            for d in range(N_DOCUMENTS)
        ],
        dtype=object,
    )
    tf = np.array([text[d] + copies * np.asarray(added[d]) for d in range(N_DOCUMENTS)], dtype=float)
    norm = 1 - model.b + model.b * tf.sum(axis=1) / text.sum(axis=1).mean()
    df = (text > 0).sum(axis=0)
    idf = np.log1p((N_DOCUMENTS - df + 0.5) / (df + 0.5))
    words = counts(np.random.default_rng(8), 5, 3)
    expected = words.toarray() @ (idf * tf / (tf + model.k1 * norm[:, None])).T
    np.testing.assert_allclose(Lexical(model, copies=copies).scores(known, plain(words)), expected)


def test_nearest_queries_sum_the_judgments_of_similar_ones(known):
    words = counts(np.random.default_rng(9), 4, 2)
    near = similarities("words", known, plain(words))
    expected = [
        [sum(near[q, p] ** 2 * known.past.judgments[p, d] for p in range(N_PAST)) for d in range(N_DOCUMENTS)]
        for q in range(4)
    ]
    np.testing.assert_allclose(NearestQueries(2.0).scores(known, plain(words)), expected)
    assert (near >= 0).all()
    assert np.allclose(np.diag(similarities("candidates", known, known.past_asked)), 1.0)


def test_ridge_is_that_of_scikit_learn(known):
    from sklearn.kernel_ridge import KernelRidge

    words = counts(np.random.default_rng(10), 4, 2)
    oracle = KernelRidge(alpha=0.7, kernel="precomputed").fit(
        similarities("words", known, known.past_asked), known.past.judgments.toarray()
    )
    expected = oracle.predict(similarities("words", known, plain(words)))
    np.testing.assert_allclose(JudgmentRidge(0.7).scores(known, plain(words)), expected, atol=1e-10)
    kernel, grades = similarities("words", known, known.past_asked), known.past.judgments.toarray()
    left_out = JudgmentRidge(0.7).scores(known, known.past_asked)
    for query in range(N_PAST):
        others = np.arange(N_PAST) != query
        oracle.fit(kernel[others][:, others], grades[others])
        np.testing.assert_allclose(left_out[query], oracle.predict(kernel[[query]][:, others])[0], atol=1e-10)
    twice = AskedQueries(words, sparse.csr_array(np.ones((4, N_PAST), dtype=np.int32)))
    with pytest.raises(InputError, match="one past query at a time"):
        JudgmentRidge().scores(known, twice)


def test_latent_cosines_are_those_of_a_truncated_decomposition(known):
    """All dimensions: the cosine in the space is that of the projections on the rows of the text."""
    n = min(N_DOCUMENTS, N_TERMS) - 1
    words = known.text.counts[:5]
    found = Latent(n).scores(known, plain(words))
    assert (found.argmax(axis=1) == np.arange(5)).all()
    np.testing.assert_allclose(found[np.arange(5), np.arange(5)], 1.0, atol=1e-9)
    np.testing.assert_array_equal(found, Latent(n).scores(Known(known.text, known.past), plain(words)))


def test_a_mix_is_a_weighted_sum_of_z_scores(known):
    asked = plain(known.past.words)
    parts = (Lexical(), Latent(5), DocumentTotals())
    z = [
        (s - s.mean(axis=1, keepdims=True)) / s.std(axis=1, keepdims=True)
        for s in (p.scores(known, asked) for p in parts)
    ]
    np.testing.assert_allclose(Mixed(parts, (1.0, 0.5, 0.0)).scores(known, asked), z[0] + 0.5 * z[1])
    assert (z_scores(np.full((2, 7), 0.3)) == 0).all()


def test_another_querys_evidence_is_that_of_another_query(known):
    other = OtherQuery(NearestQueries(), 1).scores(known, plain(known.past.words))
    same = NearestQueries().scores(known, plain(known.past.words))
    rows = {tuple(row) for row in same.round(9).tolist()}
    assert all(tuple(row) in rows for row in other.round(9).tolist())
    assert not (other == same).all(axis=1).any()

"""Retrievers against oracles, settings chosen on past queries without themselves, and the columns that learners rank by."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from tests.text.test_judged_text import made

from qdrank.measures.compute import measure
from qdrank.rankers.one_model import LinearRanker, TreeRanker
from qdrank.studies.beyond.choosing import (
    Chooser,
    Grid,
    Searchable,
    answered,
    lexical,
    measured,
    searchable,
    text_parts,
)
from qdrank.studies.beyond.learned import divided, listed
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
from qdrank.text.extract import TextSettings
from qdrank.text.index import AnalysedQueries, FieldIndex
from qdrank.text.retrieve import BM25, best_documents, bm25_scores, retrieve

GRID = Grid.of(
    BM25(),
    {"k1": [0.9, 2.0], "b": [0.4]},
    {"documents": [3], "terms": [4], "weight": [0.5]},
    copies=(1, 2),
    dimensions=4,
    weights=(0.0, 1.0),
)


@pytest.fixture(scope="module")
def world():
    return searchable(made(), TextSettings())


@given(
    scores=st.lists(st.lists(st.integers(0, 4), min_size=6, max_size=6), min_size=1, max_size=4),
    n_top=st.integers(1, 8),
)
def test_the_best_documents_are_those_of_a_stable_sort(scores, n_top):
    matrix = np.array(scores, dtype=float)
    found = best_documents(matrix, n_top)
    for row, got, size in zip(matrix, found.document, found.size, strict=True):
        lowest = row == row.min()
        worth = [d for d in np.argsort(-row, kind="stable").tolist() if lowest.sum() == 1 or not lowest[d]]
        assert got[:size].tolist() == worth[:n_top]
        assert (got[size:] == -1).all()


def test_measures_count_relevant_documents_that_were_not_retrieved(world):
    ranking = best_documents(Lexical().scores(world.known(np.arange(5)), world.asked(np.arange(10), 5)), 7)
    got = measured(["ap", "ndcg@10/letor4", "r@10"], ranking, world.judgments[:10])
    for query in range(10):
        grades = world.judgments[[query]].toarray()[0]
        listed = ranking.document[query, : ranking.size[query]]
        rest = np.setdiff1d(np.flatnonzero(grades), listed)
        expected = measure(
            list(got),
            grades[listed],
            -np.arange(len(listed)),
            [0, len(listed)],
            unranked=(grades[rest], [0, len(rest)]),
        )
        assert {name: values[query] for name, values in got.items()} == pytest.approx(
            {name: values[0] for name, values in expected.items()}
        )


def test_what_is_chosen_is_the_best_on_past_queries(world):
    chooser = Chooser(world.known(np.arange(8)), GRID)
    parts = (*text_parts(chooser), *lexical(chooser, "past", GRID.copies))
    for _, choice in chooser.tried.values():
        assert choice.place == int(np.argmax(choice.values))
    mix = chooser.mix("mix", parts)
    assert mix.parts == parts
    value = chooser.value(mix.scores(chooser.known, chooser.asked))
    assert value == pytest.approx(chooser.tried["mix"][1].value, abs=1e-6)
    assert value >= chooser.tried["text-bm25"][1].value - 1e-6, "BM25 alone is among the mixes"


def test_queries_that_are_asked_have_no_say(world):
    """The judgments of other queries than the past ones decide nothing."""
    past = np.arange(6)
    blank = sparse.csr_array(world.judgments.multiply(np.arange(world.judgments.shape[0])[:, None] < 6))
    parts = []
    for judgments in (world.judgments, blank):
        chooser = Chooser(type(world)(world.text, world.words, judgments).known(past), GRID)
        parts.append(chooser.mix("mix", (*text_parts(chooser), *lexical(chooser, "past", GRID.copies))))
    assert parts[0] == parts[1]


def test_blocks_of_queries_change_nothing(world, monkeypatch):
    from qdrank.studies.beyond import choosing

    known, asked = world.known(np.arange(6)), world.asked(np.arange(6, 10), 6)
    mix = Mixed((Lexical(), Lexical(copies=2)), (1.0, 0.5))
    whole = next(answered(mix, known, asked, 5))[1]
    monkeypatch.setattr(choosing, "_SCORES", 2 * known.text.n_documents)
    blocks = list(answered(mix, known, asked, 5))
    assert [rows.start for rows, _ in blocks] == [0, 2]
    np.testing.assert_array_equal(np.vstack([ranking.document for _, ranking in blocks]), whole.document)


def test_words_of_queries_that_no_document_has_are_known(world):
    """A past query's word finds the documents that it was answered with, though no text has it."""
    names = [query.query_id for query in made().queries]
    ghost = names.index("q-ghost")
    known = world.known(np.array([ghost]))
    asked = world.asked(np.array([ghost]), 1)
    assert not Lexical().scores(known, asked).any()
    assert np.flatnonzero(Lexical(copies=1).scores(known, asked)[0]).tolist() == [0]
    assert not Lexical(copies=1).scores(known, known.past_asked).any(), "but not for the query itself"


def test_where_folds_keep_sources_together_a_past_query_is_asked_without_its_source():
    collection = made()
    names = [query.query_id for query in collection.queries]
    source = {name: str(place // 2) for place, name in enumerate(names)}
    queries = [replace(query, source=source[query.query_id]) for query in collection.queries]
    known = searchable(replace(collection, queries=queries), TextSettings()).known(np.arange(1, len(names)))
    expected = np.equal.outer(*2 * [np.arange(1, len(names)) // 2])
    np.testing.assert_array_equal(known.past_asked.hidden.toarray(), expected)
    alone = searchable(collection, TextSettings()).known(np.arange(1, len(names)))
    np.testing.assert_array_equal(alone.past_asked.hidden.toarray(), np.eye(len(names) - 1))


@pytest.fixture
def data():
    rng = np.random.default_rng(2)
    words = sparse.csr_array(rng.poisson(0.4, (12, 15)))
    judgments = sparse.csr_array((rng.random((12, 30)) < 0.15).astype(np.int64) * rng.integers(1, 3, (12, 30)))
    return Searchable(FieldIndex(sparse.csr_array(rng.poisson(0.5, (30, 15)))), words, judgments)


def test_candidates_have_the_columns_of_every_retriever_and_keep_all_relevant_documents(data):
    known, parts = data.known(np.arange(8)), (Lexical(), Latent(3), NearestQueries(), DocumentTotals())
    asked, mix = data.asked(np.arange(8, 12), 8), Mixed(parts[:3], (1.0, 0.0, 0.5))
    (one,) = listed(known, asked, [mix], parts, candidates=5, n_top=9)
    grades = data.judgments[8:]
    documents = one.judged(grades, [0, 3])
    scores, dense = mix.scores(known, asked), grades.toarray()
    columns = [z_scores(part.scores(known, asked)) for part in parts]
    for q in range(4):
        best = np.argsort(-scores[q], kind="stable")[:9]
        assert one.ranking.document[q].tolist() == best.tolist()
        rows = slice(documents.offsets[q], documents.offsets[q + 1])
        np.testing.assert_array_equal(documents.y[rows], dense[q, best[:5]])
        np.testing.assert_array_equal(one.columns[q].T, [column[q, best[:5]] for column in columns])
        np.testing.assert_allclose(documents.X[rows], one.columns[q][:, [0, 3]], rtol=1e-6)
        missed = sorted(grade for d, grade in enumerate(dense[q]) if grade and d not in best[:5])
        assert sorted(documents.missed[q]) == missed


def test_only_the_candidates_are_ranked_again(data):
    known, parts = data.known(np.arange(8)), (Lexical(), DocumentTotals())
    (one,) = listed(known, data.asked(np.arange(8, 12), 8), [Mixed(parts, (1.0, 1.0))], parts, candidates=4, n_top=10)
    ranker = LinearRanker()
    ranker.coef_ = np.array([-1.0])
    documents = one.judged(data.judgments[8:], [0])
    again = one.reordered(ranker.predict(documents, np.zeros((4, 0))))
    for q in range(4):
        before, after = one.ranking.document[q], again.document[q]
        order = np.argsort(one.columns[q, :, 0], kind="stable")
        assert after[:4].tolist() == before[:4][order].tolist()
        assert after[4:].tolist() == before[4:].tolist()
        assert (np.diff(again.score[q]) < 0).all()


def test_past_queries_are_divided_without_remainder():
    train, held = divided(20, 0.25, 1)
    assert sorted([*train.tolist(), *held.tolist()]) == list(range(20))
    assert len(held) == 5
    assert [len(part) for part in divided(2, 0.1, 1)] == [1, 1]


def test_scores_of_monotone_trees_never_fall_with_what_judgments_say():
    """Here documents that no past query has are the relevant ones: free trees learn it, constrained ones cannot."""
    rng = np.random.default_rng(0)
    judged = rng.integers(0, 4, 2000).astype(np.float32)
    X = np.stack([rng.random(2000).astype(np.float32), judged], axis=1)
    from qdrank.datasets.judged import Judged

    data = Judged.from_arrays(X, (judged == 0).astype(int), np.repeat(np.arange(100), 20))
    nothing, line = np.zeros((100, 0)), np.array([[0.5, value] for value in range(4)], dtype=np.float32)
    asked = Judged.from_arrays(line, np.zeros(4, dtype=int), np.zeros(4))
    free, never = (
        TreeRanker(rounds=20, monotone=rule).fit(data, nothing).predict(asked, nothing[:1]) for rule in ((), (0, 1))
    )
    assert free[0] > free[1:].max()
    assert (np.diff(never) >= 0).all()


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


@pytest.mark.parametrize("retriever", JUDGED, ids=str)
def test_a_past_query_sees_none_of_its_source(known, retriever):
    source = np.arange(N_PAST) % 3
    of_sources = replace(known, past=replace(known.past, source=source), _made={})
    together = retriever.scores(of_sources, of_sources.past_asked)
    for query in range(N_PAST):
        judgments = known.past.judgments.toarray() * (source != source[query])[:, None]
        blank = known.with_judgments(sparse.csr_array(judgments))
        itself = replace(plain(known.past.words[[query]]), hidden=of_sources.past.related[[query]])
        one = retriever.scores(blank, itself)
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
    hidden = sparse.csr_array((np.arange(N_PAST) % 3 == np.arange(4)[:, None] % 3).astype(np.int32))
    found = JudgmentRidge(0.7).scores(known, AskedQueries(words, hidden))
    near = similarities("words", known, plain(words))
    for query in range(4):
        others = np.arange(N_PAST) % 3 != query % 3
        oracle.fit(kernel[others][:, others], grades[others])
        np.testing.assert_allclose(found[query], oracle.predict(near[[query]][:, others])[0], atol=1e-10)


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

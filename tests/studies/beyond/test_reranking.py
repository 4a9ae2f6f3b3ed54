"""The best documents of a mix with the columns of retrievers, against scores that are looked up one by one."""

import numpy as np
import pytest
from scipy import sparse

from qdrank.rankers.one_model import LinearRanker, TreeRanker
from qdrank.studies.beyond.choosing import Searchable
from qdrank.studies.beyond.learned import divided, listed
from qdrank.studies.beyond.retrievers import DocumentTotals, Latent, Lexical, Mixed, NearestQueries, z_scores
from qdrank.text.index import FieldIndex


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

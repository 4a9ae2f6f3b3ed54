from types import SimpleNamespace

import numpy as np
import pytest
from tests.studies.geng2008.world import TOL, study, world

from qdrank.learners.ranksvm.estimator import RankSVM
from qdrank.queries.clusters import k_means
from qdrank.queries.sizes import Setting
from qdrank.rankers.documents import one_model_scores
from qdrank.rankers.state import from_state_table
from qdrank.serving.ranking import kind_of
from qdrank.studies.geng2008.class_ranker import ClassRanker
from qdrank.studies.geng2008.rankers import OnlineRanker


def parts():
    """Training and test documents as a learner sees them, with the vectors of their queries."""
    of, queries = study(), world()[2]
    return [(of.documents.seen(role), queries.vectors[queries.role == role]) for role in ("train", "test")]


def test_classes_have_models_of_their_own():
    (train, vectors), (test, points) = parts()
    ranker = ClassRanker(n_classes=3, seed=2, lam=0.1).fit(train, vectors)
    centres, label = k_means(vectors, 3, seed=2)
    for i in range(3):
        own = train.take(np.flatnonzero(label == i))
        peer = RankSVM(lam=0.1, tol=1e-10).fit(own.X, own.y, own.query)
        np.testing.assert_allclose(ranker.weights_[i], peer.coef_, atol=2 * np.sqrt(2e-6 / 0.1))
    nearest = ((points[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)
    assert ranker.guessed(points).tolist() == nearest.tolist()
    scores = from_state_table(ranker.state(), kind_of).predict(test, points)
    for query, i in enumerate(nearest):
        rows = slice(*test.offsets[query : query + 2])
        np.testing.assert_allclose(scores[rows], one_model_scores(test, ranker.weights_[i])[rows], rtol=1e-12)


def test_a_class_without_a_model_is_served_by_single():
    ranker = ClassRanker().guess_by("rare")
    ranker.single_ = np.array([1.0, 2.0])
    assert ranker.serve({"frequent": np.zeros(2)}).weights_.tolist() == [[1.0, 2.0]]


@pytest.mark.parametrize("neighbourhood", ["neighbours", "equal", "random"])
def test_online_models_are_those_of_the_study_to_the_tolerance_of_training(neighbourhood):
    of, queries = study(), world()[2]
    documents, rows = of.documents, np.flatnonzero(queries.role == "test")
    setting = Setting(7, 0.1)
    ranker = OnlineRanker(
        k=setting.k,
        lam=setting.lam,
        tol=TOL,
        query_weights="equal" if neighbourhood == "equal" else "pairs",
        random=3 if neighbourhood == "random" else None,
        mean=documents.mean,
        inverse=documents.inverse,
    ).fit(documents.parts["train"], queries.vectors[queries.is_train])
    W = ranker.models(SimpleNamespace(query_id=queries.query_id[rows]), queries.vectors[rows])
    expected = of.local.weights(neighbourhood, setting, queries.query_id[rows])
    np.testing.assert_allclose(W, expected, atol=2 * np.sqrt(2 * TOL / setting.lam))

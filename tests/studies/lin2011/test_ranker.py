"""The methods as rankers of new queries: with what the study trained, stored and read, and fitted from documents."""

from types import SimpleNamespace

import numpy as np
import pytest
from tests.studies.lin2011.lin_world import GRID, documents, fold

from qdrank.rankers.state import from_state_table
from qdrank.serving.ranking import kind_of
from qdrank.studies.lin2011.bank import Key
from qdrank.studies.lin2011.fold import scores_for
from qdrank.studies.lin2011.methods import METHODS
from qdrank.studies.lin2011.ranker import ClusterRanker, ranker_of
from qdrank.studies.lin2011.scoring import OfSeed

CLUSTERED = [method.name for method in METHODS[1:]]


def tried(method, study):
    """Rankers of a method with the second seed of the clusters."""
    by_name = {one.name: one for one in METHODS}
    return by_name[method].tries(SimpleNamespace(options=OfSeed(study, GRID, 2)))


def study_scores(study, one):
    """Scores of the test documents by the algorithm on the models of the study."""
    local = study.local("test", Key(one.scheme, one.seed, one.m), one.lam)
    return scores_for(local, one.kind, [one.size], one.counted)[one.size]


READINGS = [{}, {"representation": "vote", "membership": "every", "weighting": "gaussian", "confidence_from": "inner"}]


def scores(ranker: ClusterRanker) -> np.ndarray:
    part = documents().parts["test"]
    return ranker.predict(part, np.zeros((part.n_queries, 0)))


@pytest.mark.parametrize("readings", READINGS, ids=["default", "others"])
@pytest.mark.parametrize("method", CLUSTERED)
def test_a_stored_ranker_gives_the_scores_of_the_study(method, readings):
    study = fold(**readings)
    one = tried(method, study)[-1]
    np.testing.assert_array_equal(scores(from_state_table(one.state(), kind_of)), study_scores(study, one))
    single = from_state_table(ranker_of(study, kind="single").state(), kind_of)
    np.testing.assert_array_equal(scores(single), study.roles["test"].single)


@pytest.mark.parametrize("method", CLUSTERED)
def test_rankers_scored_together_score_as_each_alone(method):
    part, rankers = documents().parts["test"], tried(method, fold())
    together = rankers[0].predict_each(rankers, part, np.zeros((part.n_queries, 0)))
    for (one, found), expected in zip(together, rankers, strict=True):
        assert one is expected
        np.testing.assert_array_equal(found, scores(expected))


@pytest.mark.parametrize("method", CLUSTERED)
def test_a_ranker_can_be_fitted_alone(method):
    train, study = documents().parts["train"], fold()
    one = tried(method, study)[-1]
    ranker = one.fresh()
    ranker.single_lam = 0.01
    ranker.fit(train, np.zeros((train.n_queries, 0)))
    assert scores(ranker) == pytest.approx(study_scores(study, one), abs=2e-3)

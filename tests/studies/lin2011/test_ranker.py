"""The methods as rankers of new queries: with what the study trained, stored and read, and fitted from documents."""

from __future__ import annotations

import numpy as np
import pytest
from tests.studies.lin2011.lin_world import documents, fold

from qdrank.datasets.simulated.features import REFERENCE
from qdrank.rankers.state import from_state_table
from qdrank.serving.loading import kind_of
from qdrank.studies.lin2011.fold import ClusterSetting
from qdrank.studies.lin2011.methods import ALGORITHMS
from qdrank.studies.lin2011.ranker import ClusterRanker, cluster_ranker
from qdrank.studies.lin2011.settings import Lin
from qdrank.studies.lin2011.sweep import test_scores as study_scores

SETTINGS = {
    "naive": ClusterSetting(5, 0.1, 4),
    "select": ClusterSetting(5, 0.1, 3),
    "transform": ClusterSetting(2, 0.01, 0),
}


def setting_of(algorithm):
    setting = SETTINGS[algorithm.kind]
    return setting if algorithm.size else setting._replace(size=0)


READINGS = [{}, {"representation": "vote", "membership": "every", "weighting": "gaussian", "confidence_from": "inner"}]


def scores(ranker: ClusterRanker) -> np.ndarray:
    part = documents().parts["test"]
    return ranker.predict(part, np.zeros((part.n_queries, 0)))


@pytest.mark.parametrize("readings", READINGS, ids=["default", "others"])
@pytest.mark.parametrize("method", ALGORITHMS)
def test_a_stored_ranker_gives_the_scores_of_the_study(method, readings):
    study, algorithm = fold(**readings), ALGORITHMS[method]
    setting = setting_of(algorithm)
    stored = from_state_table(cluster_ranker(study, algorithm, 2, setting).state(), kind_of)
    np.testing.assert_array_equal(scores(stored), study_scores(study, algorithm, 2, setting))
    single = from_state_table(cluster_ranker(study).state(), kind_of)
    np.testing.assert_array_equal(scores(single), study.roles["test"].single)


@pytest.mark.parametrize("method", ALGORITHMS)
def test_a_ranker_can_be_fitted_alone(method):
    algorithm, train = ALGORITHMS[method], documents().parts["train"]
    setting = setting_of(algorithm)
    ranker = ClusterRanker(
        kind=algorithm.kind,
        counted=algorithm.weights,
        reference=REFERENCE,
        scheme=algorithm.scheme,
        m=setting.m,
        size=setting.size,
        lam=setting.lam,
        single_lam=0.01,
        seed=2,
        readings=Lin().readings(),
        mean=documents().mean,
        inverse=documents().inverse,
    ).fit(train, np.zeros((train.n_queries, 0)))
    assert scores(ranker) == pytest.approx(study_scores(fold(), algorithm, 2, setting), abs=2e-3)

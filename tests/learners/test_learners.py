"""What every learner must do: take judged data, rank, live on as a record of plain values, be tuned."""

from __future__ import annotations

import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest
from tests.learners.stored import stored

from qdrank.layout import shuffled_within
from qdrank.learners import AGGREGATORS, LEARNERS, tune
from qdrank.learners.classic.linear import Regression
from qdrank.rankers.state import state_table

FEATURES = [name for name in LEARNERS if name not in AGGREGATORS]
SMALL = {
    "rankboost": {"rounds": 5},
    "adarank-map": {"rounds": 5},
    "adarank-ndcg": {"rounds": 5},
    "lambdamart": {"rounds": 5},
    "boosted-regression": {"rounds": 5},
}


def judged(seed: int):
    rng = np.random.default_rng(seed)
    X = rng.random((150, 4)).astype(np.float32)
    y = np.digitize(X[:, 0] + 0.5 * X[:, 1] + rng.normal(0, 0.2, 150), [0.7, 1.1])
    return X, y, np.repeat([f"q{i:02}" for i in range(15)], 10)


@pytest.mark.parametrize("name", FEATURES)
def test_a_learner_ranks_and_its_record_ranks_alike(name):
    X, y, query = judged(0)
    learner = LEARNERS[name](**SMALL.get(name, {})).fit(X, y, query)
    scores = learner.predict(X, query)
    assert scores.shape == (150,)
    assert scores.dtype == np.float64
    assert np.mean(scores[y == 2]) > np.mean(scores[y == 0])
    again = stored(learner)
    assert type(again) is type(learner)
    np.testing.assert_array_equal(again.predict(X, query), scores)


@pytest.mark.parametrize("name", FEATURES)
def test_fitting_twice_gives_the_same_record(name):
    tables = [state_table(LEARNERS[name](**SMALL.get(name, {})).fit(*judged(0))) for _ in range(2)]
    assert tables[0] == tables[1]


def test_shuffling_keeps_the_queries_in_place():
    offsets = np.array([0, 3, 4, 9])
    order = shuffled_within(offsets, seed=1)
    for a, b in pairwise(offsets):
        assert sorted(order[a:b]) == list(range(a, b))
    assert (order != np.arange(9)).any()


def test_names_cost_no_import():
    code = "import sys, qdrank.learners as l; list(l.LEARNERS); print([m for m in ('numpy', 'numba', 'lightgbm') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_tuning_serves_learners_with_and_without_validation():
    for name, grid in {"ranksvm": {"lam": [0.1]}, "rankboost": {"rounds": [4]}, "mhr-bc": {"lam": [0.1]}}.items():
        assert len(tune(name, grid, judged(0), judged(1)).values) == 1


def test_regression_is_the_ridge_solution():
    X, y, query = judged(4)
    padded = np.column_stack([X, np.ones(len(X))]).astype(float)
    penalty = np.diag([2.0] * 4 + [0.0])
    expected = np.linalg.solve(padded.T @ padded + penalty, padded.T @ y)[:4]
    np.testing.assert_allclose(Regression(l2=2.0).fit(X, y, query).coef_, expected, rtol=1e-6)

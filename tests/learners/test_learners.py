"""What every learner must do: take judged data, rank, live on as a record of plain values, be tuned."""

import subprocess
import sys

import numpy as np
import pytest
from tests.learners.stored import SMALL, judged, stored

from qdrank.layout import shuffled_within
from qdrank.learners import AGGREGATORS, LEARNERS
from qdrank.learners.choose import fit_seed, jittered
from qdrank.learners.inputs import as_judged
from qdrank.learners.linear import Regression
from qdrank.rankers.stored import state_table

FEATURES = [name for name in LEARNERS if name not in AGGREGATORS]


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


def test_names_cost_no_import():
    code = "import sys, qdrank.learners as l; list(l.LEARNERS); print([m for m in ('numpy', 'numba', 'lightgbm') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_regression_is_the_ridge_solution():
    X, y, query = judged(4)
    padded = np.column_stack([X, np.ones(len(X))]).astype(float)
    penalty = np.diag([2.0] * 4 + [0.0])
    expected = np.linalg.solve(padded.T @ padded + penalty, padded.T @ y)[:4]
    np.testing.assert_allclose(Regression(l2=2.0).fit(X, y, query).coef_, expected, rtol=1e-6)


X = np.random.default_rng(0).random((6, 2))
QUERY = [1, 1, 1, 2, 2, 2]


def test_a_ranking_svm_sees_the_order_of_the_grades_alone() -> None:
    halves = LEARNERS["ranksvm"]().fit(X, [0, 0.5, 1, 0, 0.5, 1], QUERY)
    wholes = LEARNERS["ranksvm"]().fit(X, [0, 1, 2, -1, 0, 1], QUERY)
    np.testing.assert_array_equal(halves.coef_, wholes.coef_)


def test_whole_numbers_may_come_as_floats() -> None:
    _, grades, offsets = as_judged(X, np.array([0.0, 1.0, 2.0, 0.0, 0.0, 1.0]), QUERY)
    assert grades.dtype == np.int64
    assert offsets.tolist() == [0, 3, 6]


def test_shuffling_follows_the_seed_alone() -> None:
    offsets = np.array([0, 40, 40, 90])
    first, again, other = (shuffled_within(offsets, seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()
    assert sorted(first[:40]) == list(range(40))
    assert sorted(first[40:]) == list(range(40, 90))


def test_targets_are_moved_by_one_percent_of_their_deviation():
    y = np.repeat([0.0, 1.0, 2.0], 2000)
    np.testing.assert_array_equal(jittered(y, fit=0, seed=1), y)
    moved = jittered(y, fit=1, seed=1) - y
    assert moved.std() == pytest.approx(0.01 * y.std(), rel=0.05)
    assert not np.array_equal(jittered(y, fit=2, seed=1) - y, moved)
    np.testing.assert_array_equal(jittered(y, fit=1, seed=1) - y, moved)


def test_seeds_of_fits():
    seeds = [fit_seed(seed, fit) for seed in (1, 2) for fit in range(5)]
    assert len(set(seeds)) == 10
    assert (seeds[0], seeds[5]) == (1, 2)
    assert all(0 <= seed < 2**31 for seed in seeds)
    assert seeds[1] == fit_seed(1, 1)

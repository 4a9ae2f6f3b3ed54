"""The interior point method for the pairs at the margin, against box-constrained least squares of its dual."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import lsq_linear

from qdrank.learners.ranksvm.hinge import margin_duals


def values(D, coef, lam, centre, alpha):
    """Primal value at the weights of ``alpha``, and dual value."""
    w = centre + alpha @ D / lam
    away = lam / 2 * ((w - centre) ** 2).sum()
    return away + coef @ np.maximum(0, 1 - D @ w), alpha @ (1 - D @ centre) - away


def reference(D, coef, lam, centre):
    """The dual as least squares: ``max alpha.(1 - D centre) - ||D^T alpha||^2 / (2 lam)`` with 0 <= alpha <= coef."""
    root = np.linalg.cholesky(D @ D.T / lam + 1e-12 * np.eye(len(D))).T
    right = np.linalg.solve(root.T, 1 - D @ centre)
    return lsq_linear(root * coef, right, (0, 1), tol=1e-15, max_iter=5000).x * coef


@given(st.integers(0, 10**6), st.sampled_from([1.0, 0.01, 1e-4]))
def test_the_gap_is_reached_and_the_dual_value_is_that_of_least_squares(seed, lam):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(1, 9)), 10
    D, coef, centre = rng.normal(size=(n, d)), rng.uniform(0.1, 1, n) / n, rng.normal(size=d)
    alpha = margin_duals(D, coef, lam, centre, centre + rng.normal(size=d), 1e-9)
    assert ((alpha >= 0) & (alpha <= coef)).all()
    primal, dual = values(D, coef, lam, centre, alpha)
    assert -1e-12 <= primal - dual <= 1e-7
    assert dual == pytest.approx(values(D, coef, lam, centre, reference(D, coef, lam, centre))[1], abs=1e-6)


def test_more_pairs_than_features_and_pairs_that_are_the_same():
    rng = np.random.default_rng(0)
    D = np.repeat(rng.normal(size=(200, 5)), 2, axis=0)
    coef = rng.uniform(0.1, 1, 400) / 200
    for lam in (1.0, 1e-3, 1e-6):
        alpha = margin_duals(D, coef, lam, np.zeros(5), np.zeros(5), 1e-9)
        primal, dual = values(D, coef, lam, np.zeros(5), alpha)
        assert -1e-12 <= primal - dual <= 1e-7


def test_no_pair_and_pairs_without_a_difference():
    assert margin_duals(np.zeros((0, 3)), np.zeros(0), 1.0, np.zeros(3), np.zeros(3), 1e-9).shape == (0,)
    coef = np.array([0.5, 0.25])
    np.testing.assert_allclose(margin_duals(np.zeros((2, 3)), coef, 1.0, np.ones(3), np.zeros(3), 1e-9), coef)

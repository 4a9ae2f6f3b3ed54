"""ListNet: gradient and Hessian by differences, the optimum against a generic optimiser."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime, minimize

from qdrank.layout import query_offsets
from qdrank.learners.linear import ListNet, TopOneLoss, map_grades


@pytest.fixture
def judged():
    rng = np.random.default_rng(11)
    query = np.repeat(np.arange(12), rng.integers(1, 9, 12))
    return rng.random((len(query), 4)), rng.integers(0, 3, len(query)), query


def plain_loss(w, X, y, query, l2):
    """The definition, written query by query."""
    total = 0.0
    for q in np.unique(query):
        rows = query == q
        truth = np.exp(y[rows]) / np.exp(y[rows]).sum()
        scores = X[rows] @ w
        total -= truth @ np.log(np.exp(scores) / np.exp(scores).sum())
    return total / len(np.unique(query)) + l2 / 2 * w @ w


def test_loss_is_the_definition_and_its_derivatives_are_right(judged):
    X, y, query = judged
    loss = TopOneLoss(X, y.astype(float), query_offsets(query), 0.1)
    w = np.array([0.5, -1.0, 2.0, 0.1])
    value, gradient = loss(w)
    assert value == pytest.approx(plain_loss(w, X, y, query, 0.1))
    np.testing.assert_allclose(gradient, approx_fprime(w, lambda v: loss(v)[0]), atol=1e-6)
    differences = np.stack([approx_fprime(w, lambda v, i=i: loss(v)[1][i]) for i in range(4)])
    np.testing.assert_allclose(loss.hessian(w), differences, atol=1e-6)


@pytest.mark.parametrize("l2", [1e-3, 1e-1])
def test_fit_reaches_the_optimum_of_a_generic_optimiser(judged, l2):
    X, y, query = judged
    model = ListNet(l2=l2).fit(X, y, query)
    generic = minimize(plain_loss, np.zeros(4), args=(X, y, query, l2), method="Nelder-Mead",
                       options={"xatol": 1e-9, "fatol": 1e-13, "maxiter": 20_000, "maxfev": 20_000})  # fmt: skip
    assert plain_loss(model.coef_, X, y, query, l2) <= generic.fun + 1e-10
    np.testing.assert_allclose(model.coef_, generic.x, atol=1e-3)


def test_large_scores_do_not_overflow(judged):
    X, y, query = judged
    loss, gradient = TopOneLoss(1e4 * X, 50.0 * y, query_offsets(query), 0.0)(np.ones(4))
    assert np.isfinite(loss)
    assert np.isfinite(gradient).all()


def test_mappings():
    y = np.array([0, 1, 2, 3])
    assert map_grades(y, "grade").tolist() == [0, 1, 2, 3]
    assert map_grades(y, "gain").tolist() == [0, 1, 3, 7]
    assert map_grades(y, "relevant").tolist() == [0, 1, 1, 1]

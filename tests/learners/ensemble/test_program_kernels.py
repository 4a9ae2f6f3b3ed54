"""Leaf functions of the ensemble's quadratic program and of its graph, each against NumPy or another solver."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from tests.learners.ensemble.ensemble_world import reference_optimum

from qdrank.learners.ensemble.graph import nearest_marks, smoothness, squared_distances
from qdrank.learners.ensemble.interior import interior_point, sides
from qdrank.learners.ensemble.program import follow
from qdrank.learners.ensemble.quadratic import (
    AT_MARGIN,
    SATISFIED,
    VIOLATED,
    active_set,
    certificate,
    saddle,
)


def positive_definite(rng, m):
    root = rng.normal(size=(m, m))
    return root @ root.T + 0.1 * np.eye(m)


def program(seed, n=6, m=4):
    """A small program: M (m, m), B (n, m) and C (n,)."""
    rng = np.random.default_rng(seed)
    return positive_definite(rng, m), rng.normal(0.3, 1.0, size=(n, m)), rng.uniform(0.5, 3.0, size=n)


def solved(M, B, C, bounded):
    """Weights, alpha and sets by the interior point method."""
    n, m = B.shape
    P, D = np.empty(2 * n + m), np.empty(2 * n + m)
    assert interior_point(M, B, np.ascontiguousarray(B.T), C, bounded, 1e-11, 200, P, D) < 200
    free, state = np.empty(m, dtype=np.uint8), np.empty(n, dtype=np.uint8)
    sides(P, D, C, bounded, free, state)
    return P[2 * n :].copy(), D[:n].copy(), free, state


def test_rows_that_depend_on_earlier_ones_are_left_out_of_a_saddle_point():
    M, B, _ = program(2)
    B[4] = 2 * B[1]
    F, E, w, a = np.arange(4), np.array([1, 4]), np.empty(4), np.empty(2)
    assert saddle(M, B, F, E, np.zeros(4), np.array([1.0, 2.0]), w, a) == 1
    assert a[1] == 0
    np.testing.assert_allclose(B[E] @ w, [1.0, 2.0])


@pytest.mark.parametrize("bounded", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_the_interior_point_is_the_optimum_of_another_solver(seed, bounded):
    M, B, C = program(seed)
    w, alpha, free, state = solved(M, B, C, bounded)
    np.testing.assert_allclose(w, reference_optimum(M, B, C, bounded)[0], atol=1e-6)
    margins = B @ w
    assert (margins[state == SATISFIED] > 1).all()
    assert (margins[state == VIOLATED] < 1).all()
    np.testing.assert_allclose(margins[state == AT_MARGIN], 1, atol=1e-6)
    np.testing.assert_allclose(alpha[state == SATISFIED], 0, atol=1e-6)
    np.testing.assert_allclose(alpha[state == VIOLATED], C[state == VIOLATED], atol=1e-6)
    assert free.all() or bounded
    np.testing.assert_allclose(w[free == 0], 0, atol=1e-6)


@pytest.mark.parametrize("bounded", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_a_path_ends_at_the_optimum_of_the_other_matrix(seed, bounded):
    (M0, B, C), M1 = program(seed), positive_definite(np.random.default_rng(seed + 100), 4)
    columns = np.ascontiguousarray(B.T)
    w, alpha, free, state = solved(M0, B, C, bounded)
    assert active_set(M0, B, columns, C, bounded, free, state, w, alpha, 50) > 0
    c = (M0 - M1) @ w
    assert follow(M1, B, columns, C, bounded, c, free, state, w, alpha, 100) > 0
    np.testing.assert_allclose(w, solved(M1, B, C, bounded)[0], atol=1e-7)


def test_the_certificate_closes_at_the_optimum_and_nowhere_else():
    M, B, C = program(5)
    columns, eta = np.ascontiguousarray(B.T), np.empty(4)
    w, alpha, *_ = solved(M, B, C, True)
    primal, dual, residual = certificate(M, B, columns, C, True, w, alpha, eta)
    assert primal == pytest.approx(0.5 * w @ M @ w + C @ np.maximum(0, 1 - B @ w))
    assert abs(primal - dual) < 1e-8 * primal
    assert residual < 1e-7
    primal, dual, residual = certificate(M, B, columns, C, True, w + 0.1, alpha, eta)
    assert primal > dual + 1e-4
    assert residual > 1e-3


@pytest.mark.parametrize("seed", range(3))
def test_distances_and_neighbours_are_those_of_the_definition(seed):
    rng = np.random.default_rng(seed)
    G = rng.integers(0, 3, size=(9, 3)).astype(np.float64)  # coarse: many ties
    d = squared_distances(G)
    expected = cdist(G, G, "sqeuclidean")
    np.fill_diagonal(expected, np.inf)
    np.testing.assert_array_equal(d, expected)
    for k in (1, 3, 8):
        kth = np.sort(expected, axis=1)[:, k - 1]
        np.testing.assert_array_equal(nearest_marks(d, k, True), expected <= kth[:, None])
        first = nearest_marks(d, k, False)
        assert (first.sum(axis=1) == k).all()
        for row, marks in zip(expected, first, strict=True):
            np.testing.assert_array_equal(np.flatnonzero(marks), np.sort(np.argsort(row, kind="stable")[:k]))


@pytest.mark.parametrize("normalised", [True, False])
def test_smoothness_is_that_of_the_laplacian(normalised):
    rng = np.random.default_rng(3)
    G, S = rng.normal(size=(7, 3)), rng.integers(0, 2, size=(7, 7)).astype(np.float64)
    S = np.triu(S, 1) + np.triu(S, 1).T
    S[2], S[:, 2] = 0.0, 0.0  # a document without neighbours
    degree = S.sum(axis=1)
    root = np.where(degree > 0, np.sqrt(np.maximum(degree, 1)), 1.0)
    L = (np.diag(degree) - S) / np.outer(root, root) if normalised else np.diag(degree) - S
    np.testing.assert_allclose(smoothness(G, S, normalised), G.T @ L @ G, atol=1e-12)

"""SSER: the graph against its definition, the program of a query against an independent solver, gamma, order, ties."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.learners.ensemble.ensemble_world import brute_force_laplacian, dual, ensemble, reference_optimum

from qdrank.errors import InputError
from qdrank.learners import SER, SSER
from qdrank.learners.ensemble.graph import document_graph, roughness
from qdrank.learners.ensemble.program import DUALITY_GAP

GAMMAS = [0, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 2, 5]


def documents(seed: int, n: int = 20, m: int = 6, *, coarse: bool = False):
    X = np.random.default_rng(seed).random((n, m))
    return np.round(3 * X) / 3 if coarse else X


@given(st.integers(0, 1000), st.integers(2, 25), st.integers(1, 7), st.booleans())
def test_the_graph_is_that_of_the_definition(seed, n, k, coarse):
    X = documents(seed, n, 3, coarse=coarse)
    L, S = brute_force_laplacian(X, k)
    found = document_graph(X, k)
    np.testing.assert_array_equal(found, S)
    np.testing.assert_allclose(roughness(X, found), X.T @ L @ X, atol=1e-12)
    plain = 2 * X.T @ (np.diag(S.sum(axis=1)) - S) @ X
    np.testing.assert_allclose(roughness(X, found, "unnormalised"), plain, atol=1e-12)


def test_the_plain_cost_is_the_sum_of_equation_8():
    X, w = documents(1), np.arange(6.0)
    S = document_graph(X)
    f = X @ w
    expected = sum(S[k, j] * (f[k] - f[j]) ** 2 for k in range(20) for j in range(20))
    assert w @ roughness(X, S, "unnormalised") @ w == pytest.approx(expected)


def test_file_order_breaks_ties_between_neighbours():
    X = np.array([[0.0], [1.0], [-1.0], [5.0]])  # documents 1 and 2 are as near to document 0
    assert document_graph(X, 1, ties="file", symmetry="both")[0].tolist() == [0, 1, 0, 0]
    assert document_graph(X, 1, ties="all", symmetry="both")[0].tolist() == [0, 1, 1, 0]
    assert (document_graph(np.zeros((8, 2)), 3, ties="file", symmetry="mean").sum() == 8 * 3) is np.True_


def test_options_of_the_graph():
    X = documents(2)
    either, both, mean = (document_graph(X, 4, symmetry=name) for name in ("either", "both", "mean"))
    np.testing.assert_array_equal(mean, (either + both) / 2)
    assert either.sum() > both.sum()
    heat = document_graph(X, 4, edges="heat")
    d = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    np.testing.assert_allclose(heat, either * np.exp(-d / d[either > 0].mean()))
    assert (document_graph(np.zeros((4, 2)), 2, edges="heat") == 1 - np.eye(4)).all()


@pytest.mark.parametrize("n", [0, 1])
def test_a_document_alone_has_no_graph_and_ser_s_weights(n):
    sser = SSER().fit(*ensemble(0))
    assert not document_graph(documents(0, n)).any()
    np.testing.assert_allclose(sser.weights_for(documents(0, n)), sser.weights_, atol=1e-12)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("bounded", [True, False])
def test_weights_are_those_of_another_solver_for_every_gamma(seed, bounded):
    sser = SSER(nonnegative=bounded).fit(*ensemble(seed))
    X = documents(seed, coarse=seed % 2 == 0)
    L, _ = brute_force_laplacian(X, 5)
    for gamma, found in zip(GAMMAS, sser.path_for(X, GAMMAS), strict=True):
        M = np.eye(6) + gamma * X.T @ L @ X
        w, _ = reference_optimum(M, sser.coefficients_, 1.0, bounded)
        np.testing.assert_allclose(found.weights, w, atol=1e-7)
        assert dual(M, sser.coefficients_, found.alpha, found.eta) == pytest.approx(found.objective, rel=1e-8)
        assert found.gap <= DUALITY_GAP
        assert found.kkt <= 1e-8
        np.testing.assert_allclose(M @ found.weights, sser.coefficients_.T @ found.alpha + found.eta, atol=1e-9)


def test_gamma_0_is_ser_exactly():
    data = ensemble(3)
    ser, sser = SER().fit(*data), SSER(gamma=0.0).fit(*data)
    np.testing.assert_array_equal(sser.weights_for(documents(3)), ser.weights_)
    np.testing.assert_array_equal(sser.predict(data[0], data[2]), ser.predict(data[0]))


def test_a_path_gives_what_each_gamma_gives_alone():
    sser = SSER().fit(*ensemble(4))
    X = documents(4)
    for gamma, found in zip(GAMMAS, sser.path_for(X, GAMMAS), strict=True):
        alone = SSER(gamma=float(gamma)).fit(*ensemble(4)).weights_for(X)
        np.testing.assert_allclose(found.weights, alone, atol=1e-12)


def test_more_gamma_makes_neighbours_more_alike():
    sser = SSER().fit(*ensemble(5))
    X = documents(5)
    K = sser.roughness_of(X)
    cost = [found.weights @ K @ found.weights for found in sser.path_for(X, GAMMAS)]
    assert all(b <= a + 1e-12 for a, b in itertools.pairwise(cost))


@settings(max_examples=25)
@given(st.integers(0, 1000), st.integers(0, 1000))
def test_the_order_of_documents_changes_nothing_with_halves(seed, shuffle):
    X, y, query = ensemble(seed, coarse=True)
    order = np.lexsort((np.random.default_rng(shuffle).random(len(y)), query))
    plain, shuffled = SSER().fit(X, y, query), SSER().fit(X[order], y[order], query)
    np.testing.assert_allclose(plain.predict(X, query)[order], shuffled.predict(X[order], query), atol=1e-9)
    own = documents(seed, coarse=True)
    np.testing.assert_allclose(plain.weights_for(own), shuffled.weights_for(own[::-1]), atol=1e-12)


def test_the_printed_formula_is_a_control():
    X, y, query = ensemble(5)
    X[:, 5] = -X[:, 0]
    right, printed = SSER().fit(X, y, query), SSER(printed=True).fit(X, y, query)
    found = right.path_for(documents(5), [0.5])[0]
    M = np.eye(6) + 0.5 * right.roughness_of(documents(5))
    expected = np.linalg.solve(M, right.coefficients_.T @ found.alpha)
    np.testing.assert_allclose(printed.weights_for(documents(5)), expected, atol=1e-9)
    assert printed.weights_for(documents(5)).min() < 0


@pytest.mark.parametrize(
    ("change", "named"),
    [({"gamma": -1.0}, "gamma"), ({"gamma": float("nan")}, "gamma"), ({"neighbours": 0}, "neighbour")],
)
def test_what_makes_no_sense_is_refused(change, named):
    with pytest.raises(InputError, match=named):
        SSER(**change).fit(*ensemble(0)).weights_for(documents(0))


@pytest.mark.parametrize("option", ["edges", "symmetry", "neighbour_ties", "laplacian"])
def test_unknown_options_are_refused(option):
    with pytest.raises(InputError, match="unknown"):
        SSER(**{option: "none"}).fit(*ensemble(0)).weights_for(documents(0))


def test_documents_that_do_not_fit_the_rankers_are_refused():
    sser = SSER().fit(*ensemble(0))
    with pytest.raises(InputError, match="rankers"):
        sser.weights_for(np.ones((3, 2)))
    with pytest.raises(InputError, match="missing"):
        sser.weights_for(np.full((3, 6), np.nan))

"""Ranking SVM against independent solvers on explicit pairs."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import lsq_linear, minimize

from qdrank.errors import InputError
from qdrank.layout import query_offsets
from qdrank.learners.ranksvm.estimator import RankSVM
from qdrank.learners.ranksvm.hinge import margin_duals
from qdrank.learners.ranksvm.local import prepare_training
from qdrank.learners.ranksvm.preferences import prepare


def judged(seed, n_queries=5, d=4, longest=9, scale=1.0):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, longest, n_queries)
    query = np.repeat(np.arange(n_queries), sizes)
    return scale * rng.normal(size=(len(query), d)), rng.integers(0, 3, len(query)), query


def explicit_pairs(X, y, query):
    """Differences (p, d) of all pairs and the query of each (p,)."""
    i, j = np.nonzero((query[:, None] == query) & (y[:, None] > y))
    return X[i].astype(float) - X[j], query[i]


def objective(w, D, coef, lam, loss, centre=0.0):
    v = np.maximum(0, 1 - D @ w)
    return lam / 2 * ((w - centre) ** 2).sum() + coef @ (v if loss == "hinge" else v**2)


def clarabel_optimum(D, coef, lam, loss, centre=0.0):
    """Weights at the optimum of the primal with explicit slacks."""
    import clarabel

    p, d = D.shape
    squared = loss == "squared_hinge"
    P = sparse.diags_array(np.r_[np.full(d, lam), 2 * coef * squared]).tocsc()
    one = sparse.eye_array(p)
    A = sparse.block_array([[-sparse.csc_array(D), -one], [None, -one]]).tocsc()
    linear = np.r_[np.full(d, -lam) * centre, coef * (not squared)]
    options = clarabel.DefaultSettings()
    options.verbose = False
    options.tol_gap_abs = options.tol_gap_rel = options.tol_feas = 1e-11
    cones = [clarabel.NonnegativeConeT(2 * p)]
    solver = clarabel.DefaultSolver(P, linear, A, np.r_[-np.ones(p), np.zeros(p)], cones, options)
    return np.array(solver.solve().x)[:d]


@given(st.integers(0, 10**6), st.sampled_from([1.0, 0.01, 1e-4]), st.sampled_from(["squared_hinge", "hinge"]))
def test_certificate_holds_against_clarabel(seed, lam, loss):
    X, y, query = judged(seed)
    D, _ = explicit_pairs(X, y, query)
    model = RankSVM(lam=lam, loss=loss).fit(X, y, query)
    assert 0 <= model.gap_ <= 1e-6
    if len(D) == 0:
        assert not model.coef_.any()
        return
    coef = np.full(len(D), 1 / len(D))
    found = objective(model.coef_, D, coef, lam, loss)
    assert found == pytest.approx(model.objective_, rel=1e-9)
    best = objective(clarabel_optimum(D, coef, lam, loss), D, coef, lam, loss)
    assert found - best <= (model.gap_ + 1e-9) * found  # the true gap is no larger than the certified one


def test_both_readings_of_lambda_are_the_optima_of_their_objectives():
    X, y, query = judged(5, n_queries=8)
    D, _ = explicit_pairs(X, y, query)
    for penalty, factor in (("half", 0.5), ("whole", 1.0)):
        model = RankSVM(lam=0.05, penalty=penalty, tol=1e-10).fit(X, y, query)
        found = minimize(
            lambda w, factor=factor: factor * 0.05 * w @ w + (np.maximum(0, 1 - D @ w) ** 2).mean(), np.zeros(4)
        )
        np.testing.assert_allclose(model.coef_, found.x, atol=1e-4)
        local = prepare_training(prepare(X, y, query_offsets(query)), lam=0.05, penalty=penalty, tol=1e-10)
        np.testing.assert_allclose(local.single.w, model.coef_, atol=1e-6)


@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
def test_C_is_that_of_liblinear(loss):
    from sklearn.svm import LinearSVC

    X, y, query = judged(7, n_queries=20)
    D, _ = explicit_pairs(X, y, query)
    flip = np.where(np.arange(len(D)) % 2, 1, -1)  # liblinear wants two classes
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        peer = LinearSVC(C=0.3, loss=loss, fit_intercept=False, dual=True, tol=1e-10, max_iter=200_000)
        peer.fit(D * flip[:, None], flip)
    model = RankSVM(C=0.3, loss=loss, tol=1e-12 if loss == "squared_hinge" else 1e-6).fit(X, y, query)
    np.testing.assert_allclose(model.coef_, peer.coef_[0], rtol=1e-3, atol=1e-4)
    assert model.lam_ == pytest.approx(1 / (0.3 * len(D)))


@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
@pytest.mark.parametrize("weighting", ["pairs", "equal"])
def test_query_weights_and_proximal_term(loss, weighting):
    X, y, query = judged(11, n_queries=8)
    D, of = explicit_pairs(X, y, query)
    weights, centre = np.linspace(0, 2, 8), np.array([1.0, -1, 0.5, 0])
    counts = np.bincount(of, minlength=8)
    omega = weights / np.maximum(counts, 1) if weighting == "equal" else weights
    coef = omega[of] / omega[of].sum()
    model = RankSVM(lam=0.05, loss=loss, query_weights=weighting, prox=centre).fit(X, y, query, weights)
    best = clarabel_optimum(D, coef, 0.05, loss, centre)
    found = objective(model.coef_, D, coef, 0.05, loss, centre)
    assert model.gap_ <= 1e-6
    assert found == pytest.approx(objective(best, D, coef, 0.05, loss, centre), rel=2e-6)
    assert found == pytest.approx(model.objective_, rel=1e-9)


@pytest.mark.filterwarnings("ignore:no query has documents of different grades")
@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
def test_degenerate_problems(loss):
    X = np.ones((6, 3))  # constant features: no pair can be told apart
    model = RankSVM(loss=loss).fit(X, np.arange(6), np.zeros(6))
    assert model.gap_ == 0
    assert not model.coef_.any()
    assert model.objective_ == pytest.approx(1.0)
    one = RankSVM(loss=loss).fit(X[:1], np.array([2]), np.array(["a"]))  # one document
    assert not one.coef_.any()
    tied = RankSVM(loss=loss, prox=[1, 2, 3]).fit(X, np.ones(6), np.zeros(6))  # no pair: the prox model itself
    assert tied.coef_.tolist() == [1, 2, 3]
    assert tied.gap_ == 0


def test_a_list_of_thousands_of_documents():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 3))
    y = (X @ [1, 2, -1] + rng.normal(size=3000) > 1).astype(int)
    model = RankSVM().fit(X, y, np.zeros(3000))
    assert model.gap_ <= 1e-6
    D, _ = explicit_pairs(X[::8], y[::8], np.zeros(375))
    assert (D @ model.coef_ > 0).mean() > 0.9


def test_hard_problems_reach_the_gap():
    """Separable data and a regulariser so small that Anderson steps alone do not get there."""
    X, y, query = judged(3, n_queries=3, d=12, scale=30.0)
    for lam in (1e-3, 1e-5):
        for loss in ("squared_hinge", "hinge"):
            assert RankSVM(lam=lam, loss=loss).fit(X, y, query).gap_ <= 1e-6


def test_float32_and_float64_agree():
    X, y, query = judged(5, n_queries=10)
    X = X.astype(np.float32)
    one, two = RankSVM(tol=1e-10).fit(X, y, query), RankSVM(tol=1e-10).fit(X.astype(float), y, query)
    np.testing.assert_allclose(one.coef_, two.coef_, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    "parameters", [{"lam": 0}, {"C": -1}, {"loss": "log"}, {"query_weights": "some"}, {"prox": [1.0]}]
)
def test_bad_parameters_are_named(parameters):
    X, y, query = judged(2)
    with pytest.raises(InputError):
        RankSVM(**parameters).fit(X, y, query)


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

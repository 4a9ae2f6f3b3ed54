"""aTVT: maps and h against independent optimisers, exact limits, an objective that falls, maps that are found again."""

import clarabel
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import minimize
from sklearn.kernel_approximation import Nystroem

from qdrank.errors import InputError
from qdrank.layout import query_offsets
from qdrank.learners.atvt.estimator import ATVT, PAPER_TOL
from qdrank.learners.atvt.maps import Maps, Penalties, fit_maps, moments
from qdrank.learners.atvt.regressors import GrownTrees, Kernel, Ridge, Trees, gaussian, predict
from qdrank.learners.atvt.rounds import Projected, grouped, moved
from qdrank.learners.linear import Regression
from qdrank.learners.trees import booster_of

INF = float("inf")
CELLS = [(10.0, 1.0), (0.1, 0.1), (100.0, 0.2), (1.0, 100.0)]


def judged(seed: int = 0, n_queries: int = 60, noise: float = 0.5, features: int = 5):
    """Queries of 1 to 20 documents whose targets are maps of one linear function, with noise."""
    rng = np.random.default_rng(seed)
    query = np.repeat(np.arange(n_queries), rng.integers(1, 21, n_queries))
    alpha, beta = np.exp(0.4 * rng.standard_normal(n_queries)), rng.standard_normal(n_queries)
    X = rng.standard_normal((len(query), features)) + 0.3
    y = beta[query] + alpha[query] * (X @ rng.standard_normal(features)) + noise * rng.standard_normal(len(query))
    return X, y, query


def one_query(seed: int, n: int, scale: float = 1.0):
    rng = np.random.default_rng(seed)
    h = scale * rng.standard_normal(n) + rng.standard_normal()
    return h, 0.5 * h + rng.standard_normal(n) + rng.standard_normal()


def maps_of(h, y, norm, lam_alpha, lam_beta, alpha_min=0.05):
    offsets = np.array([0, len(h)])
    found = fit_maps(moments(h, y, offsets), Penalties(lam_alpha, lam_beta, norm, alpha_min))
    return found.alpha[0], found.beta[0]


def cost(z, h, y, norm, lam_alpha, lam_beta):
    """The objective of one query as it is written in the paper."""
    alpha, beta = z
    power = 1 if norm == "l1" else 2
    return ((y - beta - alpha * h) ** 2).sum() + lam_alpha * abs(alpha - 1) ** power + lam_beta * abs(beta) ** power


def qp_maps(h, y, lam_alpha, lam_beta, alpha_min=0.05):
    """Section 3.2.2 as the quadratic programme that the paper writes: a and beta split into positive parts."""
    X = np.column_stack([np.ones(len(h)), h])
    split = np.hstack([np.eye(2), -np.eye(2)])
    P = sparse.csc_matrix(np.triu(2 * split.T @ X.T @ X @ split))
    q = -2 * split.T @ X.T @ (y - h) + np.array([lam_beta, lam_alpha] * 2)
    A = sparse.csc_matrix(np.vstack([-np.eye(4), [[0, -1, 0, 1]]]))
    b = np.array([0, 0, 0, 0, 1 - alpha_min])
    options = clarabel.DefaultSettings()
    options.verbose = False
    options.tol_gap_abs = options.tol_gap_rel = options.tol_feas = 1e-12
    z = np.array(clarabel.DefaultSolver(P, q, A, b, [clarabel.NonnegativeConeT(5)], options).solve().x)
    return 1 + z[1] - z[3], z[0] - z[2]


# ---- maps --------------------------------------------------------------------------------------------------------


@given(
    st.integers(0, 10_000), st.integers(1, 12), st.sampled_from([0.1, 1.0, 10.0, 300.0]), st.sampled_from([0.2, 5.0])
)
def test_l2_maps_are_those_of_a_numeric_optimiser(seed, n, lam_alpha, lam_beta):
    h, y = one_query(seed, n)
    alpha, beta = maps_of(h, y, "l2", lam_alpha, lam_beta)
    options = {"ftol": 1e-15, "gtol": 1e-12}
    best = minimize(
        cost,
        [1, 0],
        (h, y, "l2", lam_alpha, lam_beta),
        "L-BFGS-B",
        bounds=[(0.05, None), (None, None)],
        options=options,
    )
    np.testing.assert_allclose([alpha, beta], best.x, atol=1e-5)
    assert cost((alpha, beta), h, y, "l2", lam_alpha, lam_beta) <= best.fun + 1e-9


@given(
    st.integers(0, 10_000), st.integers(1, 12), st.sampled_from([0.1, 1.0, 10.0, 300.0]), st.sampled_from([0.2, 5.0])
)
def test_l1_maps_are_those_of_the_quadratic_programme(seed, n, lam_alpha, lam_beta):
    h, y = one_query(seed, n)
    found = maps_of(h, y, "l1", lam_alpha, lam_beta)
    programme = qp_maps(h, y, lam_alpha, lam_beta)
    assert cost(found, h, y, "l1", lam_alpha, lam_beta) <= cost(programme, h, y, "l1", lam_alpha, lam_beta) + 1e-9
    if n > 1:  # with one document the minimum need not be unique
        np.testing.assert_allclose(found, programme, atol=1e-5)


@pytest.mark.parametrize("norm", ["l1", "l2"])
def test_alpha_is_held_above_its_bound_and_beta_fitted_anew(norm):
    h = np.linspace(-1, 1, 8)
    y = -3 * h + 0.2
    alpha, beta = maps_of(h, y, norm, 0.1, 0.1)
    assert alpha == 0.05
    best = minimize(
        lambda b: cost((0.05, b[0]), h, y, norm, 0.1, 0.1), [0.0], method="Nelder-Mead", options={"xatol": 1e-9}
    )
    assert beta == pytest.approx(best.x[0], abs=1e-6)
    X, targets, query = judged(1)
    model = ATVT(norm=norm, lam_alpha=0.1).fit(X, np.where(query % 5 == 0, -targets, targets), query)
    assert model.n_guarded_ > 0
    assert model.alpha_.min() >= 0.05


@pytest.mark.parametrize("norm", ["l1", "l2"])
def test_infinite_penalties_hold_the_maps(norm):
    h, y = one_query(8, 10)
    assert maps_of(h, y, norm, INF, INF) == (1.0, 0.0)
    alpha, beta = maps_of(h, y, norm, INF, 0.0)
    assert alpha == 1.0
    assert beta == pytest.approx((y - h).mean())
    alpha, beta = maps_of(h, y, norm, 0.0, INF)
    assert beta == 0.0
    assert alpha == pytest.approx((h @ y) / (h @ h))


@pytest.mark.parametrize("norm", ["l1", "l2"])
def test_one_document_or_equal_predictions_do_no_harm(norm):
    for h, y in ((np.array([2.0]), np.array([1.0])), (np.full(4, 3.0), np.arange(4.0)), (np.zeros(3), np.arange(3.0))):
        for lam in (0.0, 1.0):
            assert np.isfinite(maps_of(h, y, norm, lam, lam)).all()


# ---- the whole ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("h", ["ridge", "kernel", "trees"])
@pytest.mark.parametrize("norm", ["l1", "l2"])
@pytest.mark.parametrize("weighted", [True, False])
def test_infinite_penalties_give_the_plain_regressor_exactly(h, norm, weighted):
    X, y, query = judged(2)
    plain = ATVT(h=h, rounds=0, min_leaf=5).fit(X, y, query)
    held = ATVT(h=h, norm=norm, lam_alpha=INF, lam_beta=INF, weighted=weighted, min_leaf=5).fit(X, y, query)
    np.testing.assert_array_equal(held.predict(X), plain.predict(X))
    assert (held.alpha_ == 1).all()
    assert (held.beta_ == 0).all()
    assert held.n_rounds_ == 1
    near = ATVT(h="ridge", norm=norm, lam_alpha=1e13, lam_beta=1e13, weighted=weighted).fit(X, y, query)
    np.testing.assert_allclose(near.predict(X), ATVT(rounds=0).fit(X, y, query).predict(X), atol=1e-7)


def test_the_plain_regressor_is_ridge_with_a_free_intercept():
    X, y, query = judged(3)
    padded = np.column_stack([X, np.ones(len(X))])
    expected = np.linalg.solve(padded.T @ padded + np.diag([2.0] * 5 + [0.0]), padded.T @ y)
    plain = ATVT(lam_h=2.0, rounds=0).fit(X, y, query)
    np.testing.assert_allclose(plain.predict(X), padded @ expected, rtol=1e-9)
    grades = np.digitize(y, [0, 1])
    whole = Regression(l2=2.0).fit(X, grades, query)
    np.testing.assert_allclose(ATVT(lam_h=2.0, rounds=0).fit(X, grades, query).model_["coef"], whole.coef_, rtol=1e-9)


@settings(max_examples=25)
@given(
    st.integers(0, 10_000),
    st.sampled_from(["l1", "l2"]),
    st.sampled_from([0.0, 0.01, 1.0, 100.0, INF]),
    st.sampled_from([0.0, 0.01, 1.0, 100.0, INF]),
    st.sampled_from(["ridge", "kernel"]),
    st.sampled_from([None, 12]),
)
def test_the_objective_never_rises(seed, norm, lam_alpha, lam_beta, h, rounds):
    """Where h is fitted exactly each half step minimises over its own variables, so the objective cannot rise."""
    X, y, query = judged(seed, n_queries=8)
    if lam_alpha == 0:
        rounds = 12  # without its penalty the scale of h is free and nothing converges
    model = ATVT(h=h, norm=norm, lam_alpha=lam_alpha, lam_beta=lam_beta, rounds=rounds).fit(X, y, query)
    steps = np.diff(model.objectives_)
    assert (steps <= 1e-9 * model.objectives_[:-1]).all()
    assert len(model.objectives_) == 2 * model.n_rounds_ + 1


@pytest.mark.parametrize("h", ["ridge", "kernel", "trees"])
@pytest.mark.parametrize("norm", ["l1", "l2"])
def test_the_objective_is_the_papers(h, norm):
    X, y, query = judged(4, n_queries=20)
    model = ATVT(h=h, norm=norm, lam_h=0.5, min_leaf=5).fit(X, y, query)
    power = 1 if norm == "l1" else 2
    scores = model.predict(X)
    value = ((y - model.beta_[query] - model.alpha_[query] * scores) ** 2).sum()
    value += 10 * (abs(model.alpha_ - 1) ** power).sum() + (abs(model.beta_) ** power).sum()
    if h == "ridge":
        value += 0.5 * np.square(model.model_["coef"]).sum()
    if h == "kernel":
        value += 0.5 * scores @ model.model_["dual"]
    assert model.objectives_[-1] == pytest.approx(value, rel=1e-8)


@pytest.mark.parametrize("norm", ["l1", "l2"])
@pytest.mark.parametrize(
    ("lam_alpha", "lam_beta"),
    [CELLS[0], (1.0, INF), (INF, 0.0), *(pytest.param(*cell, marks=pytest.mark.full) for cell in CELLS[1:])],
)
def test_newton_steps_end_where_the_alternation_ends(norm, lam_alpha, lam_beta):
    # An odd number: with l1 on beta alone, the intercept of h is a median of the queries' and an even number leaves it open.
    X, y, query = judged(5, n_queries=41)
    options = {"norm": norm, "lam_alpha": lam_alpha, "lam_beta": lam_beta}
    quick = ATVT(**options).fit(X, y, query)
    slow = ATVT(**options, newton=False, tol=1e-13).fit(X, y, query)
    assert quick.converged_
    assert quick.n_rounds_ < 40
    np.testing.assert_allclose(quick.alpha_, slow.alpha_, atol=1e-8)
    np.testing.assert_allclose(quick.beta_, slow.beta_, atol=1e-8)
    np.testing.assert_allclose(quick.predict(X), slow.predict(X), atol=1e-8)


@pytest.mark.parametrize(("seed", "lam"), [(13, 1.0), (64, 0.1)])
def test_with_l1_the_better_of_two_ends_is_kept(monkeypatch, seed, lam):
    """Worlds in which Newton steps after two rounds end above the end of a later start."""
    X, y, query = judged(seed, n_queries=21)
    y = np.round(np.clip(y, 0, 2)) if seed % 2 else y
    options = {"norm": "l1", "lam_alpha": lam, "lam_beta": lam}
    kept = ATVT(**options).fit(X, y, query)
    slow = ATVT(**options, newton=False, tol=1e-10).fit(X, y, query)
    assert kept.objectives_[-1] <= slow.objectives_[-1] * (1 + 1e-9)
    monkeypatch.setattr("qdrank.learners.atvt.estimator.LATER_ROUNDS", 2)
    early = ATVT(**options).fit(X, y, query)
    assert kept.objectives_[-1] < early.objectives_[-1] * (1 - 1e-6)


def test_the_joint_minimum_is_that_of_a_numeric_optimiser():
    X, y, query = judged(6, n_queries=12, features=3)

    def whole(z):
        w, alpha, beta = z[:4], z[4:16], z[16:]
        error = y - beta[query] - alpha[query] * (X @ w[:3] + w[3])
        return error @ error + 10 * ((alpha - 1) ** 2).sum() + beta @ beta + 2.0 * w[:3] @ w[:3]

    start = np.concatenate([np.zeros(4), np.ones(12), np.zeros(12)])
    best = minimize(whole, start, method="BFGS", options={"gtol": 1e-7, "maxiter": 5000})
    model = ATVT(lam_h=2.0).fit(X, y, query)
    assert model.objectives_[-1] == pytest.approx(best.fun, rel=1e-8)
    np.testing.assert_allclose(model.alpha_, best.x[4:16], atol=1e-4)


@pytest.mark.parametrize("norm", ["l1", "l2"])
def test_derivatives_of_the_projected_objective(norm):
    X, y, query = judged(7, n_queries=15)
    projected = Projected(Ridge(X, 1.0), y, query_offsets(query), Penalties(3.0, 0.5, norm, 0.05))
    at = projected.at(np.random.default_rng(0).standard_normal(6))
    gradient, hessian, _ = projected.derivatives(at)
    numeric, second = np.empty(6), np.empty((6, 6))
    for i in range(6):
        up, down = (projected.at(at.w + s * 1e-5 * np.eye(6)[i]) for s in (1, -1))
        numeric[i] = (up.value - down.value) / 2e-5
        second[i] = (projected.derivatives(up)[0] - projected.derivatives(down)[0]) / 2e-5
    np.testing.assert_allclose(2 * gradient, numeric, rtol=1e-5, atol=1e-4)
    np.testing.assert_allclose(hessian, second, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(("second", "kept"), [(1 - 1e-14, 0), (1.0, 0), (1 + 1e-6, 0), (1 - 1e-6, 1)])
def test_of_two_runs_that_end_alike_the_first_is_kept(second, kept, monkeypatch):
    """Rounding must not decide: it differs between processors."""
    runs = []

    def run(self, *given, ends=ATVT._run):
        made, converged = ends(self, *given)
        made.objectives[-1] = 7.0 * (second if runs else 1.0)
        runs.append(made)
        return made, converged

    monkeypatch.setattr(ATVT, "_run", run)
    model = ATVT(norm="l1").fit(*judged(11))
    assert len(runs) == 2
    assert model.n_rounds_ == runs[kept].rounds != runs[1 - kept].rounds


@pytest.mark.parametrize("documents", [3, 4, 40])
def test_normal_equations_are_those_of_numpy_with_and_without_products_of_queries(documents):
    """Products of queries are kept where a query has more documents than half the columns, here 3.5."""
    rng = np.random.default_rng(documents)
    offsets = np.arange(13) * documents
    X, alpha = rng.standard_normal((offsets[-1], 6)), np.repeat(rng.random(12), documents)
    padded = np.column_stack([X - X.mean(axis=0), np.ones(len(X))])
    expected = padded.T @ np.diag(alpha) @ padded + np.diag([2.0] * 6 + [0.0])
    by_query, by_document = Ridge(X, 2.0, offsets), Ridge(X, 2.0)
    assert (by_query._products is None) == (documents < 4)
    for _ in range(2):
        np.testing.assert_allclose(by_query.normal(alpha), expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(by_document.normal(alpha), expected, rtol=1e-12, atol=1e-12)


def test_one_round_by_hand():
    """h, maps, and h once more with the targets (y - beta) / alpha and the weights alpha^2."""
    X, y, query = judged(9)
    padded = np.column_stack([X, np.ones(len(X))])
    penalty = np.diag([1.0] * 5 + [0.0])
    h = padded @ np.linalg.solve(padded.T @ padded + penalty, padded.T @ y)
    maps = [maps_of(h[query == q], y[query == q], "l2", 10.0, 1.0) for q in range(60)]
    alpha, beta = np.array(maps).T
    W = np.diag(alpha[query] ** 2)
    w = np.linalg.solve(padded.T @ W @ padded + penalty, padded.T @ W @ ((y - beta[query]) / alpha[query]))
    once = ATVT(rounds=1).fit(X, y, query)
    np.testing.assert_allclose(once.alpha_, alpha, rtol=1e-9)
    np.testing.assert_allclose(once.predict(X), padded @ w, rtol=1e-8)


def test_composed_maps_without_weights_by_hand():
    X, y, query = judged(10, n_queries=20)
    targets, alphas, betas = y.copy(), [], []
    for _ in range(3):
        h = ATVT(rounds=0).fit(X, targets, query).predict(X)
        alpha, beta = np.array([maps_of(h[query == q], targets[query == q], "l2", 10.0, 1.0) for q in range(20)]).T
        targets = (targets - beta[query]) / alpha[query]
        alphas.append(alpha)
        betas.append(beta)
    model = ATVT(weighted=False, rounds=3).fit(X, y, query)
    np.testing.assert_allclose(model.alpha_, alphas[0] * alphas[1] * alphas[2], rtol=1e-8)
    total = betas[0] + betas[1] * alphas[0] + betas[2] * alphas[0] * alphas[1]
    np.testing.assert_allclose(model.beta_, total, atol=1e-8)
    np.testing.assert_allclose(model.predict(X), ATVT(rounds=0).fit(X, targets, query).predict(X), atol=1e-8)


@pytest.mark.parametrize("norm", ["l1", "l2"])
@pytest.mark.parametrize("scale", [0.01, 7.0])
def test_scaled_penalties_mean_the_same_in_other_units(norm, scale):
    X, y, query = judged(11)
    one, other = (ATVT(norm=norm, penalties="scaled").fit(X, s * y, query) for s in (1.0, scale))
    np.testing.assert_allclose(other.alpha_, one.alpha_, atol=1e-6)
    np.testing.assert_allclose(other.beta_, scale * one.beta_, atol=1e-6 * scale)
    raw = ATVT(norm=norm).fit(X, scale * y, query)
    assert np.abs(raw.alpha_ - one.alpha_).max() > 0.01


@pytest.mark.parametrize("h", ["ridge", "trees"])
def test_maps_of_affine_copies_are_found_again(h):
    """Without noise and with weak penalties the maps are the true ones, up to the scale and zero of h."""
    rng = np.random.default_rng(12)
    X, _, query = judged(12, n_queries=80, features=3)
    query = np.repeat(np.arange(80), 30)
    X = rng.uniform(-1, 1, (len(query), 3))
    alpha, beta = np.exp(0.4 * rng.standard_normal(80)), rng.standard_normal(80)
    f = X @ [1.0, -2.0, 0.5] if h == "ridge" else np.sign(X[:, 0]) + np.sign(X[:, 1])
    y = beta[query] + alpha[query] * f
    options = {"rounds": 20, "trees": 200, "learning_rate": 0.2} if h == "trees" else {"lam_h": 1e-6}
    model = ATVT(h=h, lam_alpha=1e-4, lam_beta=1e-4, **options).fit(X, y, query)
    assert np.corrcoef(np.log(model.alpha_), np.log(alpha))[0, 1] > (0.999 if h == "ridge" else 0.98)
    slope = np.polyfit(model.alpha_, alpha, 1)[0]
    np.testing.assert_allclose(slope * model.alpha_, alpha, rtol=0.001 if h == "ridge" else 0.25)
    assert (
        np.corrcoef(model.predict(X), f)[0, 1] > np.corrcoef(ATVT(h=h, rounds=0).fit(X, y, query).predict(X), f)[0, 1]
    )


def test_a_free_offset_is_regression_within_queries():
    X, y, query = judged(13)
    centred = ATVT(lam_alpha=INF, lam_beta=0.0).fit(X, y, query)
    means = np.array([[X[query == q, j].mean() for j in range(5)] for q in range(60)])
    own = X - means[query]
    left = y - np.array([y[query == q].mean() for q in range(60)])[query]
    np.testing.assert_allclose(
        centred.model_["coef"], np.linalg.solve(own.T @ own + np.eye(5), own.T @ left), rtol=1e-7
    )


@pytest.mark.parametrize("landmarks", [20, 200])
def test_kernels_of_drawn_documents_are_those_of_scikit_learn(landmarks):
    X = np.random.default_rng(1).standard_normal((200, 4))
    ours = Kernel(X, 1.0, 0.2, landmarks, seed=3)
    theirs = Nystroem(gamma=0.2, n_components=landmarks)
    theirs.fit(ours.X)
    features = theirs.transform(X)
    np.testing.assert_allclose(ours.design @ ours.design.T, features @ features.T, atol=1e-8)
    if landmarks == 200:
        np.testing.assert_allclose(features @ features.T, gaussian(X, X, 0.2), atol=1e-8)
    ours.fit(X[:, 0], np.ones(200))
    np.testing.assert_allclose(predict(ours.state(), X), ours.values(), atol=1e-8)


def test_the_kernel_form_solves_the_papers_equations():
    X, y, query = judged(14, n_queries=12)
    model = ATVT(h="kernel", lam_h=0.3, gamma=0.2).fit(X, y, query)
    K = gaussian(X, X, 0.2)
    alpha, beta = model.alpha_[query], model.beta_[query]
    W = np.diag(alpha**2)
    c = np.linalg.solve(W @ K + 0.3 * np.eye(len(X)), W @ ((y - beta) / alpha))
    np.testing.assert_allclose(model.predict(X), K @ c, atol=1e-6)
    assert model.converged_


def test_the_papers_stopping_rule_stops_sooner_and_says_something_else():
    X, y, query = judged(15)
    loose, tight = (ATVT(lam_alpha=100.0, lam_beta=0.2, tol=tol).fit(X, y, query) for tol in (PAPER_TOL, 1e-8))
    assert loose.converged_
    assert loose.n_newton_ == 0
    assert np.abs(loose.beta_ - tight.beta_).max() > 1e-3
    assert loose.objectives_[-1] == pytest.approx(tight.objectives_[-1], rel=0.01)


def test_queries_may_come_in_any_order():
    X, y, query = judged(16, n_queries=20)
    names = np.array([f"q{(7 * q) % 20:02}" for q in query])
    order = np.random.default_rng(0).permutation(len(y))
    one, mixed = ATVT().fit(X, y, names), ATVT().fit(X[order], y[order], names[order])
    seen = list(dict.fromkeys(names[order]))
    place = {name: i for i, name in enumerate(dict.fromkeys(names))}
    np.testing.assert_allclose(mixed.alpha_, one.alpha_[[place[name] for name in seen]], atol=1e-9)


def test_maps_of_other_queries_are_those_of_training_for_the_same_queries():
    X, y, query = judged(17)
    model = ATVT().fit(X, y, query)
    alpha, beta = model.maps(X, y, query)
    np.testing.assert_allclose(alpha, model.alpha_, atol=1e-7)
    np.testing.assert_allclose(beta, model.beta_, atol=1e-7)


def test_fits_that_share_grown_trees_are_those_of_fits_alone(monkeypatch):
    """Whatever the order: a plain fit after a weighted one has no weights, other targets and other sizes their own trees."""
    X, y, query = judged(n_queries=12)
    common = {"h": "trees", "trees": 4, "leaves": 4}
    wanted = [
        ({"min_leaf": 5, "rounds": 1, "lam_alpha": 1.0}, y),
        ({"min_leaf": 5, "rounds": 0}, y),
        ({"min_leaf": 5, "rounds": 1, "lam_alpha": np.inf, "lam_beta": 0.0}, y),
        ({"min_leaf": 9, "rounds": 1}, y),
        ({"min_leaf": 5, "rounds": 1, "weighted": False}, y),
        ({"min_leaf": 5, "rounds": 1, "seed": 2}, y),
        ({"min_leaf": 5, "rounds": 1}, y + np.arange(len(y)) % 3),
    ]
    alone = [ATVT(**common, **params).fit(X, targets, query).model_ for params, targets in wanted]
    assert len({str(model) for model in alone}) == len(wanted)
    grows, calls = Trees.grow, []
    monkeypatch.setattr(Trees, "grow", lambda *given: calls.append(given) or grows(*given))
    grown = GrownTrees()
    shared = [ATVT(**common, **params).fit(X, targets, query, grown=grown).model_ for params, targets in wanted]
    assert shared == alone
    assert len(calls) == 10  # 13 without sharing: three of the seven begin with trees that are there


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_grown_trees_know_the_scores_of_their_documents_to_the_last_bit(dtype):
    """Zeros, missing values and repeated ones fall on the same side of every split, in bins as in `predict`."""
    X, y, _ = judged(22, n_queries=60)
    X = X.astype(dtype)
    X[::3, 0], X[1::5, 0], X[:, 1] = 0.0, np.nan, np.round(X[:, 1])
    trees = Trees(X=X, rounds=60, learning_rate=0.3, leaves=9, min_leaf=3, seed=1)
    for weight in (np.ones(len(y)), np.random.default_rng(1).uniform(0.1, 3.0, len(y))):
        text, scores = trees.grow(y / 3, weight, 60)
        np.testing.assert_array_equal(scores, booster_of(text).predict(X, num_threads=1))
        assert booster_of(text).model_to_string() == text  # kept as text, nothing is lost


@pytest.mark.parametrize("h", ["ridge", "trees"])
@pytest.mark.parametrize("rounds", [1, 3])
def test_rounds_cost_as_many_fits_and_one_more(h, rounds, monkeypatch):
    fits = []
    for regressor in (Ridge, Trees):
        fit = regressor.fit
        monkeypatch.setattr(regressor, "fit", lambda self, *given, fit=fit: (fits.append(1), fit(self, *given))[1])
    ATVT(h=h, rounds=rounds, tol=0.0, min_leaf=5).fit(*judged(21))
    assert len(fits) == rounds + 1


def test_bad_input_is_refused_with_a_reason():
    X, y, query = judged(19)
    for options, text in (
        ({"h": "forest"}, "allowed: ridge"),
        ({"norm": "l3"}, "unknown norm"),
        ({"lam_alpha": -1.0}, "lam_alpha must be 0 or more"),
        ({"lam_beta": float("nan")}, "lam_beta must be"),
        ({"alpha_min": 0.0}, "alpha_min"),
        ({"lam_h": INF}, "lam_h must be finite"),
        ({"rounds": -1}, "rounds must be"),
    ):
        with pytest.raises(InputError, match=text):
            ATVT(**options).fit(X, y, query)


@given(st.lists(st.integers(0, 4), min_size=1, max_size=15))
def test_rows_are_grouped_in_order_of_first_appearance(query):
    n = len(query)
    X, y = np.arange(2.0 * n).reshape(n, 2), np.arange(float(n))
    features, targets, offsets = grouped(X, y, query)
    lists: dict[int, list[int]] = {}
    for row, name in enumerate(query):
        lists.setdefault(name, []).append(row)
    order = [row for rows in lists.values() for row in rows]
    np.testing.assert_array_equal(targets, y[order])
    np.testing.assert_array_equal(features, X[order])
    assert offsets.tolist() == np.cumsum([0, *map(len, lists.values())]).tolist()


def test_without_ids_all_rows_are_one_query():
    assert grouped(np.ones((3, 1)), np.arange(3.0), None)[2].tolist() == [0, 3]


def test_ids_of_another_length_are_refused():
    with pytest.raises(InputError, match="one query id per row"):
        grouped(np.ones((3, 1)), np.arange(3.0), [1, 2])


def test_maps_move_by_the_norms_of_their_differences():
    held = np.zeros(2, dtype=np.bool_)
    before, after = (
        Maps(np.array([1.0, 2.0]), np.zeros(2), held),
        Maps(np.array([4.0, 6.0]), np.array([0.0, 2.0]), held),
    )
    assert moved(before, after) == 5 + 2
    assert moved(before, before) == 0

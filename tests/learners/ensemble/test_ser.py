import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.learners.ensemble.ensemble_world import brute_force_trace, dual, ensemble, primal, reference_optimum

from qdrank.errors import InputError
from qdrank.layout import query_offsets
from qdrank.learners import SER, SSER
from qdrank.learners.ensemble.program import DUALITY_GAP, Program, printed_weights
from qdrank.learners.ensemble.quadratic import SATISFIED, VIOLATED
from qdrank.learners.ensemble.trace import (
    coefficients,
    preference_matrix,
    preference_weights,
    relevance_levels,
    transition_matrix,
)

# ---- coefficients ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ties", ["half", "file"])
@pytest.mark.parametrize(("theta", "delta"), [(0.5, 1.0), (0.3, 0.1), (0.9, 7.0)])
def test_coefficients_are_the_traces_of_the_matrices(ties, theta, delta):
    X, y, query = ensemble(1, coarse=True)
    found = SER(theta=theta, delta=delta, ties=ties).fit(X, y, query).coefficients_
    for q in range(len(found)):
        rows = query == q
        expected = [brute_force_trace(X[rows, j], y[rows], theta, delta, ties) for j in range(X.shape[1])]
        np.testing.assert_allclose(found[q], expected, rtol=1e-12, atol=1e-12)


@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3)), min_size=1, max_size=12),
    st.floats(0, 1),
    st.floats(0.01, 10),
    st.sampled_from(["half", "file"]),
)
def test_a_trace_is_that_of_the_matrices_whatever_the_list(documents, theta, delta, ties):
    y, scores = (np.array(column) for column in zip(*documents, strict=True))
    X, offsets = scores[:, None].astype(float), np.array([0, len(y)])
    found = coefficients(X, y - 1, offsets, theta=theta, delta=delta, ties=ties)[0, 0]
    assert found == pytest.approx(brute_force_trace(scores, y, theta, delta, ties), rel=1e-10, abs=1e-10)


def test_a_constant_ranker_counts_nothing_with_halves_and_something_by_file_order():
    y = np.array([2, 1, 0, 0])
    X = np.ones((4, 1))
    assert SER().fit(X, y, [1] * 4).coefficients_[0, 0] == 0
    assert SER(ties="file").fit(X, y, [1] * 4).coefficients_[0, 0] > 0
    assert SER(ties="file").fit(X, y[::-1], [1] * 4).coefficients_[0, 0] < 0


@pytest.mark.parametrize("ties", ["half", "file"])
def test_similarities_of_equation_7_are_those_of_the_matrices(ties):
    X, y, query = ensemble(2, queries=5, coarse=True)
    offsets, levels = query_offsets(query), y - 1
    frobenius, induced = np.empty((2, 5, X.shape[1]))
    for q in range(5):
        rows = slice(offsets[q], offsets[q + 1])
        A = preference_matrix(levels[rows], 0.5)
        for j in range(X.shape[1]):
            apart = A - transition_matrix(X[rows, j], 2.0, ties)
            frobenius[q, j], induced[q, j] = (apart**2).sum(), np.linalg.norm(apart, 1)
    options = {"theta": 0.5, "delta": 2.0, "ties": ties}
    for name, distance in (("bregman", frobenius), ("induced", induced)):
        found = coefficients(X, levels, offsets, similarity=name, width=3.0, **options)
        np.testing.assert_allclose(found, np.exp(-distance / 3.0), rtol=1e-12)
        found = coefficients(X, levels, offsets, similarity=name, **options)
        np.testing.assert_allclose(found, np.exp(-distance / np.median(distance)), rtol=1e-12)


def test_normalised_coefficients_are_divided_by_the_weight_of_the_preferences():
    X, y, query = ensemble(3)
    offsets = query_offsets(query)
    weights = [np.abs(preference_matrix(y[a:b] - 1, 0.5)).sum() / 2 for a, b in itertools.pairwise(offsets)]
    np.testing.assert_allclose(preference_weights(y - 1, offsets, 0.5), weights)
    plain, divided = (SER(normalise=n).fit(X, y, query).coefficients_ for n in (False, True))
    np.testing.assert_allclose(divided, plain / np.where(np.array(weights) > 0, weights, 1)[:, None])


@pytest.mark.parametrize(
    ("grades", "levels"),
    [
        ([2, 1, 0], [1, 0, -1]),
        ([1, 0, 1], [1, -1, 1]),
        ([4, 3, 2, 1, 0], [1, 1, 0, 0, -1]),
        ([3, 2, 1, 0], [1, 1, 0, -1]),
        ([-1, 0, 1], [-1, 0, 1]),
    ],
)
def test_grades_of_other_scales_have_levels(grades, levels):
    assert relevance_levels(grades).tolist() == levels


def test_the_scale_may_be_named():
    assert relevance_levels([1, 0], max_grade=2).tolist() == [0, -1]


# ---- the program -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("C", [0.001, 1.0, 100.0])
@pytest.mark.parametrize("bounded", [True, False])
def test_the_optimum_is_that_of_another_solver_on_both_sides(seed, C, bounded):
    X, y, query = ensemble(seed, coarse=seed % 2 == 0)
    ser = SER(C=C, nonnegative=bounded).fit(X, y, query)
    M, B = np.eye(X.shape[1]), ser.coefficients_
    w, alpha = reference_optimum(M, B, C, bounded)
    np.testing.assert_allclose(ser.weights_, w, atol=1e-7 * max(1, np.abs(w).max()))
    assert ser.objective_ == pytest.approx(primal(M, B, C, ser.weights_), rel=1e-12)
    assert ser.objective_ <= primal(M, B, C, np.maximum(w, 0) if bounded else w) * (1 + 1e-9)
    assert dual(M, B, ser.alpha_, ser.eta_) == pytest.approx(ser.objective_, rel=1e-8)
    assert ser.gap_ <= DUALITY_GAP
    assert ser.kkt_ <= 1e-8
    assert ((ser.alpha_ >= 0) & (ser.alpha_ <= C)).all()
    np.testing.assert_allclose(B.T @ ser.alpha_ + ser.eta_, M @ ser.weights_, atol=1e-8 * max(1, C))  # c.4
    assert (ser.eta_ >= 0).all()
    assert alpha.sum() == pytest.approx(ser.alpha_.sum(), rel=1e-3, abs=1e-3)


def test_conditions_hold_side_by_side():
    ser = SER().fit(*ensemble(4, queries=40))
    (_, found), margins = ser.solved(), ser.coefficients_ @ ser.weights_
    assert (margins[found.state == SATISFIED] >= 1 - 1e-9).all()
    assert (margins[found.state == VIOLATED] <= 1 + 1e-9).all()
    np.testing.assert_allclose(ser.weights_ * ser.eta_, 0, atol=1e-12)


def test_equation_13_as_printed_is_wrong_where_a_bound_is_active():
    X, y, query = ensemble(5)
    X[:, 5] = -X[:, 0]  # a ranker that is worth a negative weight
    ser = SER().fit(X, y, query)
    assert (ser.weights_ == 0).any()
    printed = printed_weights(np.eye(6), ser.coefficients_, ser.alpha_)
    assert printed.min() < 0
    np.testing.assert_allclose(printed + ser.eta_, ser.weights_, atol=1e-9)


@given(st.integers(0, 10_000), st.integers(1, 30), st.integers(1, 8), st.floats(-4, 4), st.booleans())
def test_any_program_is_solved_from_nothing_and_from_a_neighbour(seed, n, m, logC, bounded):
    rng = np.random.default_rng(seed)
    B = np.round(rng.normal(0.5, 2, (n, m)), rng.integers(0, 4))  # coarse ones have equal rows and rows of 0
    first, second = np.eye(m), np.eye(m)
    for M in (first, second):
        G = rng.normal(0, 1, (5, m))
        M += G.T @ G
    C = 10.0**logC
    program = Program(B, C, bounded=bounded)
    start = program.minimise(first)
    there, cold = program.minimise(second, start), program.minimise(second)
    for found in (start, there, cold):
        assert found.gap <= DUALITY_GAP
    np.testing.assert_allclose(there.weights, cold.weights, atol=1e-6 * (1 + np.abs(cold.weights).max()))
    w, _ = reference_optimum(second, B, C, bounded)
    assert there.objective <= primal(second, B, C, np.maximum(w, 0) if bounded else w) * (1 + 1e-7) + 1e-12


@pytest.mark.parametrize("equal", ["in all columns", "where weights are free"])
def test_queries_on_the_margin_that_depend_on_each_other(equal):
    """Every query three times, as in collections that ask the same thing twice: solved to the last digits, and followed."""
    rng = np.random.default_rng(0)
    B = np.hstack([np.abs(rng.normal(1, 1, (12, 4))), -np.ones((12, 2))])
    B = np.tile(B, (3, 1))
    if equal == "where weights are free":
        B[:, 5] = -1 - rng.random(len(B))  # a ranker without weight
    program, M = Program(B, 0.5), np.eye(6)
    start = program.minimise(M)
    G = rng.normal(0, 0.2, (5, 6))
    there = program.minimise(M + G.T @ G, start)
    assert (start.weights[4:] == 0).all()
    assert (np.abs(B @ start.weights - 1) < 1e-9).sum() == 6  # two queries
    for found in (start, there):
        assert found.gap < 1e-13
        assert found.kkt < 1e-12
    assert there.steps < start.steps
    w, _ = reference_optimum(M, B, 0.5, True)
    np.testing.assert_allclose(start.weights, w, atol=1e-6)


# ---- the learner -------------------------------------------------------------------------------------------------


@settings(max_examples=25)
@given(st.integers(0, 1000), st.integers(0, 1000))
def test_the_order_of_documents_changes_nothing_with_halves(seed, shuffle):
    X, y, query = ensemble(seed, coarse=True)
    order = np.lexsort((np.random.default_rng(shuffle).random(len(y)), query))
    plain, shuffled = SER().fit(X, y, query), SER().fit(X[order], y[order], query)
    np.testing.assert_array_equal(plain.weights_, shuffled.weights_)
    np.testing.assert_array_equal(plain.predict(X)[order], shuffled.predict(X[order]))


def test_the_order_of_documents_matters_by_file_order():
    X, y, query = ensemble(7, coarse=True)
    order = np.lexsort((-y, query))
    one, other = SER(ties="file").fit(X, y, query), SER(ties="file").fit(X[order], y[order], query)
    assert np.abs(one.weights_ - other.weights_).max() > 1e-3


def test_the_order_of_queries_changes_next_to_nothing():
    X, y, query = ensemble(8)
    order = np.argsort(-query, kind="stable")
    np.testing.assert_allclose(SER().fit(X, y, query).weights_, SER().fit(X[order], y[order], query[order]).weights_)


def test_a_query_without_preferences_costs_C_and_changes_no_weight():
    X, y, query = ensemble(9)
    more = (np.vstack([X, X[:3]]), np.append(y, [0, 0, 0]), np.append(query, [99] * 3))
    plain, longer = SER(C=2.0).fit(X, y, query), SER(C=2.0).fit(*more)
    np.testing.assert_allclose(longer.weights_, plain.weights_, atol=1e-12)
    assert longer.objective_ == pytest.approx(plain.objective_ + 2.0)


def test_dust_breaks_no_tie():
    ser = SER().fit(*ensemble(10))
    ser.weights_ = np.array([0.3, 0.1, 0.0, 0.0, 0.0, 0.0])
    X = np.zeros((2, 6))
    X[0, :2], X[1, 0] = (0.1, 0.3), 0.2  # 0.1 * 0.3 + 0.3 * 0.1 and 0.2 * 0.3 differ by rounding alone
    scores = ser.predict(X)
    assert scores[0] == scores[1]


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"C": 0.0}, "C must"),
        ({"theta": 1.5}, "theta"),
        ({"delta": 0.0}, "delta"),
        ({"ties": "random"}, "ties"),
        ({"similarity": "cosine"}, "similarity"),
        ({"similarity": "bregman", "width": -1.0}, "width"),
    ],
)
def test_what_makes_no_sense_is_refused(change, named):
    with pytest.raises(InputError, match=named):
        SER(**change).fit(*ensemble(0))


def test_levels_out_of_range_are_refused():
    with pytest.raises(InputError, match="levels"):
        relevance_levels([-2, 0, 1])


@pytest.mark.parametrize("learner", [SER, SSER])
@pytest.mark.parametrize("size", [1e-9, 1.0, 1e9])
def test_the_digits_of_a_score_know_the_size_of_the_features(size, learner):
    """Features of any size rank alike: the digits are relative to max |X| times sum |w|."""
    X, y, query = ensemble(3)
    model = learner().fit(X, y, query) if learner is SER else learner(gamma=0.0).fit(X, y, query)
    expected, found = model.predict(X), model.predict(X * size)
    assert len(np.unique(found)) == len(np.unique(expected)) > 10
    np.testing.assert_allclose(found / size, expected, rtol=1e-6, atol=1e-9)


def test_a_query_with_small_features_keeps_its_order_beside_one_with_large_ones():
    X, y, query = ensemble(3)
    model = SER().fit(X, y, query)
    alone = model.predict(X * 1e-12)
    beside = model.predict(np.vstack([X * 1e-12, X]), np.r_[np.zeros(len(X)), np.ones(len(X))])[: len(X)]
    np.testing.assert_array_equal(beside, alone)
    assert np.isfinite(model.predict(X * 1e-302)).all()

"""The compiled kernels against pairs formed one by one, and against NumPy."""

from itertools import pairwise
from math import fsum

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.learners.ranksvm.explicit_pairs import differences, model_sums, pairs_of
from threadpoolctl import threadpool_info, threadpool_limits

from qdrank.learners.ranksvm import kernels
from qdrank.learners.ranksvm.kernels import block, curvature, pairs, single
from qdrank.learners.ranksvm.preferences import prepare


def judged(seed, n_queries=6, d=4, longest=12, grades=3, dtype=np.float64):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(0, longest, n_queries)
    X = rng.normal(size=(sizes.sum(), d)).astype(dtype)
    return prepare(X, rng.integers(0, grades, sizes.sum()), np.concatenate([[0], np.cumsum(sizes)]))


def lists(data, n_models, seed):
    rng = np.random.default_rng(seed)
    neighbours = np.stack([rng.permutation(data.n_queries)[:3] for _ in range(n_models)])
    coef = np.where(data.pairs[neighbours] > 0, rng.uniform(0.1, 1, neighbours.shape), 0.0)
    return neighbours, coef


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.sampled_from([2, 3, 30]), st.sampled_from([12, 40, 150]))
def test_sums_of_models_are_those_of_their_pairs(seed, grades, longest):
    """Lists short and long, so that models, documents and a single model are in the lanes of the vector unit."""
    data = judged(seed, grades=grades, longest=longest)
    neighbours, coef = lists(data, 5, seed)
    position, active = np.array([0, -1, 1, 2, -1]), [0, 2, 3]
    W = np.random.default_rng(seed).normal(size=(3, data.n_features))
    table = block.transpose(neighbours, coef, data.n_queries)
    found = block.evaluate_block(data.X, data.offsets, data.lower, *table, position, W)
    for sums, expected in zip(found, model_sums(data, neighbours[active], coef[active], W), strict=True):
        np.testing.assert_allclose(sums, expected, rtol=1e-11, atol=1e-10)


@given(st.integers(0, 10**6), st.integers(1, 40), st.integers(1, 3), st.sampled_from([np.float32, np.float64]))
def test_pairs_of_many_models_equal_pairs_taken_one_by_one(seed, n, tiles, dtype):
    """Any number of documents in each grade; scratch and results hold what an earlier query left there."""
    rng = np.random.default_rng(seed)
    S, slack = rng.normal(size=(n, tiles * pairs.MODELS)).astype(dtype), np.full(tiles * pairs.MODELS, np.nan, dtype)
    data = prepare(np.zeros((n, 1)), rng.integers(0, rng.integers(1, 6), n), np.array([0, n]))
    better, worse = pairs_of(data, 0)
    v, images = np.maximum(0, 1 - S[better].astype(float) + S[worse]), np.zeros(S.shape)
    np.add.at(images, worse, v)
    np.subtract.at(images, better, v)
    arrays = pairs.scratch(n + 5, S)
    for each in arrays[:2]:
        each[:] = np.nan
    close = {"rtol": 1e-4, "atol": 1e-3} if dtype == np.float32 else {"rtol": 1e-11, "atol": 1e-10}
    pairs.pair_loop(S, data.lower, slack, arrays)
    np.testing.assert_allclose(S, images, **close)
    np.testing.assert_allclose(slack, v.sum(axis=0), **close)


@given(st.integers(0, 10**6), st.integers(1, 60), st.sampled_from([np.float32, np.float64]))
def test_the_rows_of_one_model_equal_pairs_taken_one_by_one(seed, n, dtype):
    """In float32 too: exact sums over the pairs of the rounded scores, within a bound of the rounding."""
    rng = np.random.default_rng(seed)
    grades = np.sort(rng.integers(0, rng.integers(1, 6), n))[::-1]
    s, c = np.full(n + block.LANES, np.nan, dtype), np.full(n + block.LANES, np.nan, dtype)
    s[:n] = rng.normal(size=n)
    better, worse = np.nonzero(grades[:, None] > grades)
    v = [max(0.0, 1 - float(s[i]) + float(s[j])) for i, j in zip(better, worse, strict=True)]
    expected = [fsum(x for x, j in zip(v, worse, strict=True) if j == at) for at in range(n)]
    expected -= np.array([fsum(x for x, i in zip(v, better, strict=True) if i == at) for at in range(n)])
    lower = prepare(np.zeros((n, 1)), grades, np.array([0, n])).lower
    rounding = 4 * np.finfo(dtype).eps * n * (1 + np.abs(s[:n]).max())
    slack = block.row_sums(s, lower, c)
    np.testing.assert_allclose(slack, fsum(v), rtol=0, atol=rounding * n)
    np.testing.assert_allclose(c[:n], expected, rtol=0, atol=rounding)


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.floats(-1, 2))
def test_sums_of_one_model_are_those_of_its_pairs(seed, threshold):
    data = judged(seed)
    rng = np.random.default_rng(seed)
    w, queries = rng.normal(size=data.n_features), np.flatnonzero(data.pairs)
    coef = rng.uniform(0.1, 1, len(queries))
    D = [differences(data, q) for q in queries]
    v = [np.maximum(0, threshold - each @ w) for each in D]
    sums = [[sum(c * (x**p).sum() for c, x in zip(coef, v, strict=True)) for p in (1, 2)]]
    G = [-sum((c * x @ each for c, x, each in zip(coef, v, D, strict=True)), np.zeros(data.n_features))]
    found = single.evaluate_single(data.X, data.offsets, data.lower, queries, coef, w, np.array([threshold]))
    np.testing.assert_allclose(found[0], sums, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(found[1], G, rtol=1e-10, atol=1e-10)


def hessian(data, queries, coef, w, width):
    """Weighted sum of the products of the differences whose slack lies between 0 and ``width``."""
    H = np.zeros((len(w), len(w)))
    for q, c in zip(queries, coef, strict=True):
        D = differences(data, q)
        v = 1 - D @ w
        D = D[(v > 0) & (v < width)]
        H += c * (D.T @ D)
    return H


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("width", [0.7, np.inf])
def test_the_hessian_is_the_sum_over_active_pairs(seed, width):
    data = judged(seed)
    rng = np.random.default_rng(seed)
    w, queries = rng.normal(size=data.n_features), np.flatnonzero(data.pairs)
    coef = rng.uniform(0.1, 1, len(queries))
    H = curvature.hessian_single(data.X, data.offsets, data.lower, queries, coef, w, 1.0, width)
    np.testing.assert_allclose(H, hessian(data, queries, coef, w, width), atol=1e-10)


def test_denses_pass_the_strips_of_the_hessian():
    rng = np.random.default_rng(0)
    data = prepare(rng.normal(size=(700, 3)), rng.integers(0, 4, 700), np.array([0, 700]))
    queries, coef, w = np.array([0]), np.ones(1), rng.normal(size=3)
    found = curvature.hessian_single(data.X, data.offsets, data.lower, queries, coef, w, 1.0, np.inf)
    np.testing.assert_allclose(found, hessian(data, queries, coef, w, np.inf))


@pytest.mark.parametrize("seed", range(3))
def test_pairs_are_split_by_their_slack(seed):
    data = judged(seed)
    queries, w = np.flatnonzero(data.pairs), np.random.default_rng(seed).normal(size=data.n_features)
    found = single.split_pairs(
        data.X, data.offsets, data.lower, queries, np.full(len(queries), 0.5), w, -0.3, 1.1, 1000
    )
    D = np.concatenate([differences(data, q) for q in queries])
    better, worse = np.concatenate([pairs_of(data, q) for q in queries], axis=1)
    v = 1 - D @ w
    between, above = (v > -0.3) & (v < 1.1), v >= 1.1
    expected = (
        better[between],
        worse[between],
        np.full(between.sum(), 0.5),
        0.5 * D[above].sum(axis=0),
        0.5 * above.sum(),
    )
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-12)


@pytest.mark.parametrize("longest", [12, 600])
def test_matrices_of_active_pairs_are_sums_over_pairs(longest):
    data = judged(4, n_queries=5, longest=longest, grades=4)
    rng = np.random.default_rng(0)
    w, queries = rng.normal(size=data.n_features), np.array([3, 0, 4, 1])
    found = np.empty((4, 10))
    curvature.active_matrices(data.X, data.offsets, data.lower, queries, w, found)
    for row, q in zip(found, queries, strict=True):
        D = differences(data, q)
        D = D[1 - D @ w > 0]
        np.testing.assert_allclose(row, (D.T @ D)[np.tril_indices(4)], rtol=1e-11, atol=1e-11)


def test_images_are_those_of_the_laplacian():
    data = judged(5, n_queries=7)
    coef, first, last = np.random.default_rng(0).uniform(size=7), 2, 6
    found, expected = np.empty((data.offsets[last] - data.offsets[first], 4)), []
    curvature.laplacian_images(data.X, data.offsets, data.lower, coef, first, last, found)
    for q in range(first, last):
        rows = slice(data.offsets[q], data.offsets[q + 1])
        other = data.lower[rows, None] != data.lower[rows]
        expected.append(coef[q] * (np.diag(other.sum(axis=1)) - other) @ data.X[rows])
    np.testing.assert_allclose(found, np.concatenate(expected), atol=1e-12)


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.sampled_from([np.float32, np.float64]))
def test_documents_are_sorted_by_grade_and_centred(seed, dtype):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(0, 9, 5)
    offsets, n = np.concatenate([[0], np.cumsum(sizes)]), sizes.sum()
    X, y = rng.normal(size=(n, 3)).astype(dtype), rng.choice([-1.5, 0.0, 2.0], n)
    ready, lower, n_pairs = np.empty_like(X), np.empty(n, np.int64), np.zeros(5, np.int64)
    assert pairs.arrange(X, y, offsets, ready, lower, n_pairs)
    for q, (a, b) in enumerate(pairwise(offsets)):
        order = np.argsort(-y[a:b], kind="stable")
        grades, own = -y[a:b][order], X[a:b][order].astype(np.float64)
        np.testing.assert_array_equal(lower[a:b], np.searchsorted(grades, grades, side="right"))
        assert n_pairs[q] == (grades[:, None] < grades).sum()
        assert ready[a:b].tobytes() == (own - own.mean(axis=0) if len(own) else own).astype(dtype).tobytes()
    itself = X.copy()
    assert pairs.arrange(itself, y, offsets, itself, lower, np.zeros(5, np.int64))
    assert itself.tobytes() == ready.tobytes()
    if n:
        X[rng.integers(n), 1] = rng.choice([np.nan, np.inf])
        assert not pairs.arrange(X, y, offsets, ready, lower, n_pairs)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_factors_solve_the_systems(dtype):
    rng = np.random.default_rng(0)
    D = rng.normal(size=(6, 9, 5))
    A = D.transpose(0, 2, 1) @ D
    packed = A[:, *np.tril_indices(5)].astype(dtype)
    G, rows = rng.normal(size=(3, 5)), np.array([5, 0, 2])
    expected = np.linalg.solve(0.1 * np.eye(5) + 2 * A[rows], G[:, :, None])[:, :, 0]
    L = np.empty((6, 15))
    curvature.factorise(packed, 0.1, L)
    found = curvature.solve_factors(L, rows, G)
    np.testing.assert_allclose(found, expected, rtol=1e-4 if dtype == np.float32 else 1e-10)


def test_a_singular_matrix_has_factors_of_full_rank():
    packed, L = np.zeros((1, 6), dtype=np.float32), np.empty((1, 6))
    packed[0] = np.outer([1e3, 1e3, 1e3], [1e3, 1e3, 1e3])[np.tril_indices(3)] * (1 - 1e-6 * np.arange(6))
    curvature.factorise(packed, 1e-7, L)
    assert np.isfinite(L).all()
    assert (L[0, [0, 3, 5]] > 0).all()


def test_blas_is_held_to_one_thread_and_let_go():
    def threads():
        return {one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"}

    with kernels.one_thread():
        pass  # loads SciPy's BLAS beside NumPy's
    with threadpool_limits(2, user_api="blas"):
        for _ in range(2):
            with kernels.one_thread():
                assert threads() == {1}
            assert threads() == {2}

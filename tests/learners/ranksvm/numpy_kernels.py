"""The kernels of Ranking SVM in NumPy, the reference for the compiled ones."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from qdrank.layout import FloatArray, IntArray

Array = NDArray[Any]


def _slacks(S: Array, lower: IntArray, threshold: float) -> tuple[Array, Array]:
    """Slacks (better, documents, models) of all pairs of a query and the rows of the better documents."""
    n = len(S)
    better = np.flatnonzero(lower < n)
    preferred = np.arange(n)[None, :] >= lower[better][:, None]
    slack = np.maximum(0, threshold - S[better][:, None] + S[None])
    return slack * preferred[:, :, None], better


def pair_loop(S: Array, lower: IntArray, threshold: float = 1.0) -> tuple[Array, Array]:
    """Coefficients C (n, models) and sums of slacks (models,) of one query with scores S (n, models)."""
    v, better = _slacks(S, lower, threshold)
    C = v.sum(axis=0)
    C[better] -= v.sum(axis=1)
    return C, v.sum(axis=(0, 1))


def evaluate_block(
    X: Array,
    offsets: IntArray,
    lower: IntArray,
    first: IntArray,
    members: IntArray,
    coef: FloatArray,
    position: IntArray,
    W: Array,
) -> tuple[FloatArray, FloatArray]:
    """See `qdrank.learners.ranksvm.kernels.block.evaluate_block`."""
    slacks, G = np.zeros(len(W)), np.zeros(W.shape)
    for q in np.flatnonzero(np.diff(first)):
        at = position[members[first[q] : first[q + 1]]]
        c, at = coef[first[q] : first[q + 1]][at >= 0], at[at >= 0]
        rows = slice(offsets[q], offsets[q + 1])
        C, slack = pair_loop(X[rows] @ W[at].T, lower[rows])
        np.add.at(slacks, at, c * slack)  # a model may use a query twice
        np.add.at(G, at, 2 * c[:, None] * (C.T @ X[rows]))
    return slacks, G


def evaluate_single(
    X: Array,
    offsets: IntArray,
    lower: IntArray,
    queries: IntArray,
    coef: FloatArray,
    w: FloatArray,
    thresholds: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """See `qdrank.learners.ranksvm.kernels.single.evaluate_single`."""
    sums, G = np.zeros((len(thresholds), 2)), np.zeros((len(thresholds), len(w)))
    for q, c in zip(queries, coef, strict=True):
        rows = slice(offsets[q], offsets[q + 1])
        X_q = X[rows].astype(np.float64)
        for t, threshold in enumerate(thresholds):
            s = X_q @ w
            C, slack = pair_loop(s[:, None], lower[rows], threshold)
            sums[t] += c * np.array([slack[0], slack[0] * threshold + s @ C[:, 0]])
            G[t] += c * (C[:, 0] @ X_q)
    return sums, G


def hessian_single(
    X: Array,
    offsets: IntArray,
    lower: IntArray,
    queries: IntArray,
    coef: FloatArray,
    w: FloatArray,
    threshold: float,
    width: float,
) -> FloatArray:
    """See `qdrank.learners.ranksvm.kernels.single.hessian_single`."""
    H = np.zeros((len(w), len(w)))
    for q, c in zip(queries, coef, strict=True):
        rows = slice(offsets[q], offsets[q + 1])
        X_q = X[rows].astype(np.float64)
        v, better = _slacks((X_q @ w)[:, None], lower[rows], threshold)
        i, j = np.nonzero((v[:, :, 0] > 0) & (v[:, :, 0] < width))
        D = X_q[better[i]] - X_q[j]
        H += c * (D.T @ D)
    return H


def transpose(neighbours: IntArray, coef: FloatArray, n_queries: int) -> tuple[IntArray, IntArray, FloatArray]:
    """See `qdrank.learners.ranksvm.kernels.block.transpose`."""
    models, entries = np.nonzero(coef)
    queries = neighbours[models, entries]
    order = np.argsort(queries, kind="stable")
    first = np.searchsorted(queries[order], np.arange(n_queries + 1))
    return first.astype(np.int64), models[order], coef[models, entries][order]


def split_pairs(
    X: Array,
    offsets: IntArray,
    lower: IntArray,
    queries: IntArray,
    coef: FloatArray,
    w: FloatArray,
    low: float,
    high: float,
    many: int,
) -> tuple[IntArray, IntArray, FloatArray, FloatArray, float]:
    """See `qdrank.learners.ranksvm.kernels.single.split_pairs`."""
    clear, clear_weight = np.zeros(len(w)), 0.0
    of_queries = [np.zeros((3, 0))]
    for q, c in zip(queries, coef, strict=True):
        rows = slice(offsets[q], offsets[q + 1])
        X_q = X[rows].astype(np.float64)
        s = X_q @ w
        i, j = np.nonzero(np.arange(len(s))[None, :] >= lower[rows][:, None])
        v = 1 - s[i] + s[j]
        above, between = v >= high, (v > low) & (v < high)
        clear += c * (X_q[i[above]] - X_q[j[above]]).sum(axis=0)
        clear_weight += c * above.sum()
        of_queries.append(np.stack([offsets[q] + i[between], offsets[q] + j[between], np.full(between.sum(), c)]))
    better, worse, weights = np.concatenate(of_queries, axis=1)[:, :many]
    return better.astype(np.int64), worse.astype(np.int64), weights, clear, clear_weight


def active_matrices(
    X: Array,
    offsets: IntArray,
    lower: IntArray,
    queries: IntArray,
    w: Array,
    packed: Array,
) -> None:
    """See `qdrank.learners.ranksvm.kernels.curvature.active_matrices`."""
    triangle = np.tril_indices(X.shape[1])
    for row, q in zip(packed, queries, strict=True):
        rows = slice(offsets[q], offsets[q + 1])
        i, j = np.nonzero(np.arange(len(X[rows]))[None, :] >= lower[rows][:, None])
        s, D = X[rows] @ w, X[rows][i] - X[rows][j]
        chosen = D[1 - s[i] + s[j] > 0]
        row[:] = (chosen.T @ chosen)[triangle]


def laplacian_images(
    X: Array, offsets: IntArray, lower: IntArray, coef: FloatArray, first: int, last: int, Z: Array
) -> None:
    """See `qdrank.learners.ranksvm.kernels.curvature.laplacian_images`."""
    for q in range(first, last):
        rows = slice(offsets[q], offsets[q + 1])
        other = lower[rows][:, None] != lower[rows][None, :]
        laplacian = np.diag(other.sum(axis=1)) - other
        Z[offsets[q] - offsets[first] : offsets[q + 1] - offsets[first]] = coef[q] * (laplacian @ X[rows])


def arrange(X: Array, y: FloatArray, offsets: IntArray, ready: Array, lower: IntArray, pairs: IntArray) -> bool:
    """See `qdrank.learners.ranksvm.kernels.pairs.arrange`."""
    if not np.isfinite(X).all():
        return False
    for q in range(len(offsets) - 1):
        rows = slice(offsets[q], offsets[q + 1])
        order = np.argsort(-y[rows], kind="stable")
        grades, own = -y[rows][order], X[rows][order].astype(np.float64)
        lower[rows] = np.searchsorted(grades, grades, side="right")
        pairs[q] = len(own) ** 2 - lower[rows].sum()
        ready[rows] = own - own.mean(axis=0) if len(own) else own
    return True


def factorise(packed: Array, lam: float, U: FloatArray) -> None:
    """See `qdrank.learners.ranksvm.kernels.curvature.factorise`; a matrix that rounding made indefinite gets its diagonal."""
    d = int((np.sqrt(8 * packed.shape[1] + 1) - 1) / 2)
    lower, upper = np.tril_indices(d), np.triu_indices(d)
    diagonal = upper[0] == upper[1]
    for row, own in zip(U, packed.astype(np.float64), strict=True):
        A = np.zeros((d, d))
        A[lower] = 2 * own
        A = A + np.tril(A, -1).T + lam * np.eye(d)
        try:
            row[:] = np.linalg.cholesky(A).T[upper]
        except np.linalg.LinAlgError:
            row[:] = np.sqrt(np.diag(np.diag(A)))[upper]
        row[diagonal] = 1 / row[diagonal]


def solve_factors(U: FloatArray, rows: IntArray, G: FloatArray) -> FloatArray:
    """See `qdrank.learners.ranksvm.kernels.curvature.solve_factors`."""
    d = G.shape[1]
    S = np.empty_like(G)
    for r, row in enumerate(rows):
        factor = np.zeros((d, d))
        factor[np.triu_indices(d)] = U[row]
        np.fill_diagonal(factor, 1 / np.diag(factor))
        S[r] = np.linalg.solve(factor.T @ factor, G[r])
    return S

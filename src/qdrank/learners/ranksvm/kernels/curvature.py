"""Second derivatives: Hessians of each query's pairs, of one model, and Cholesky factors (numba).

With the adjacency A of the active pairs (better documents by all documents) and the number of active pairs ``deg`` of
each document, the sum of ``(x_i - x_j)(x_i - x_j)^T`` is ``X^T Z + Z^T X`` with ``Z = deg X / 2 - A X``, where the rows of
A X belong to the better documents. Rows of X and Z of many queries are stacked, so that the product is one large GEMM.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

STACKED = 2048  # rows of X and Z in one product


@njit(cache=True)
def _active_row(s: Any, threshold: Any, width: Any, start: int, A_i: Any, deg: Any) -> Any:
    """Fill the row of A of one better document with score ``threshold`` + 1; returns its number of active pairs."""
    count = s.dtype.type(0)
    one, none = s.dtype.type(1), s.dtype.type(0)
    for j in range(start):
        A_i[j] = none
    for j in range(start, len(s)):
        v = s[j] - threshold
        a = one if (v > none) & (v < width) else none
        A_i[j] = a
        deg[j] += a
        count += a
    return count


@njit(cache=True)
def _adjacency(s: Any, lower: Any, threshold: Any, width: Any, A: Any, deg: Any, top: int, bottom: int) -> Any:
    """Fill rows ``top`` to ``bottom`` of A, and add the pairs of all their documents to ``deg``."""
    total = s.dtype.type(0)
    for i in range(top, bottom):
        count = _active_row(s, s[i] - threshold, width, lower[i], A[i - top], deg)
        deg[i] += count
        total += count
    return total


@njit(cache=True)
def _better(lower: Any) -> int:
    """Number of documents that are preferred to some other."""
    n = len(lower)
    for i in range(n):
        if lower[i] == n:
            return i
    return n


@njit(cache=True)
def _half_images(X: Any, s: Any, lower: Any, threshold: Any, width: Any, A_all: Any, deg: Any, Z: Any) -> Any:
    """``Z`` (n, d) of one query, in strips of the better documents; returns the number of active pairs."""
    n, better, strip = len(s), _better(lower), len(A_all) // len(s)
    total = s.dtype.type(0)
    for i in range(n):
        deg[i] = 0
    for top in range(0, better, strip):
        bottom = min(top + strip, better)
        A = A_all[: (bottom - top) * n].reshape(bottom - top, n)
        total += _adjacency(s, lower, threshold, width, A, deg, top, bottom)
        np.dot(A, X, Z[top:bottom])
    half = s.dtype.type(0.5)
    for i in range(n):
        for f in range(X.shape[1]):
            Z[i, f] = half * deg[i] * X[i, f] - (Z[i, f] if i < better else 0)
    return total


@njit(cache=True)
def full_images(X: Any, lower: Any, factor: Any, sums: Any, Z: Any) -> None:
    """``factor L X`` (n, d) with the Laplacian of all pairs of a query: one sum of features per grade.

    ``sums`` (2, d) is scratch: the sum of all documents, and that of one grade.
    """
    n, d = X.shape
    for f in range(d):
        sums[0, f] = 0
    for i in range(n):
        for f in range(d):
            sums[0, f] += X[i, f]
    start = 0
    while start < n:
        end = lower[start]
        for f in range(d):
            sums[1, f] = 0
        for i in range(start, end):
            for f in range(d):
                sums[1, f] += X[i, f]
        for f in range(d):
            sums[1, f] -= sums[0, f]
        others = X.dtype.type(n - (end - start))
        for i in range(start, end):
            for f in range(d):
                Z[i, f] = factor * (others * X[i, f] + sums[1, f])
        start = end


@njit(cache=True)
def laplacian_images(X: Any, offsets: Any, lower: Any, coef: Any, first: int, last: int, Z: Any) -> None:
    """``coef[q] L_q X_q`` for the queries ``first`` to ``last``, below each other in ``Z``."""
    sums, top = np.empty((2, X.shape[1]), X.dtype), offsets[first]
    for q in range(first, last):
        start, end = offsets[q], offsets[q + 1]
        full_images(X[start:end], lower[start:end], X.dtype.type(coef[q]), sums, Z[start - top : end - top])


@njit(cache=True)
def _pack(product: Any, packed: Any) -> None:
    """Lower triangle of ``product + product^T``, row by row."""
    at = 0
    for a in range(len(product)):
        for b in range(a + 1):
            packed[at] = product[a, b] + product[b, a]
            at += 1


@njit(cache=True)
def active_matrices(
    X: NDArray[Any],
    offsets: NDArray[Any],
    lower: NDArray[Any],
    queries: NDArray[Any],
    w: NDArray[Any],
    packed: NDArray[Any],
) -> None:
    """For each query the sum of ``(x_i - x_j)(x_i - x_j)^T`` over its pairs that are active at ``w``.

    Parameters
    ----------
    X, offsets, lower : as in `qdrank.learners.ranksvm.preferences.Preferences`
    queries : (n,) int64
    w : (n_features,), dtype of ``X``
    packed : (n, d (d + 1) / 2), dtype of ``X``; filled with the lower triangles, row by row
    """
    d, dtype, longest, strip = X.shape[1], X.dtype, 1, 256
    for q in queries:
        longest = max(longest, offsets[q + 1] - offsets[q])
    Z_all, s_all, deg = np.empty((longest, d), dtype), np.empty(longest, dtype), np.empty(longest, dtype)
    A_all, product, one = np.empty(strip * longest, dtype), np.empty((d, d), dtype), dtype.type(1)
    for k in range(len(queries)):
        start, end = offsets[queries[k]], offsets[queries[k] + 1]
        X_q, Z = X[start:end], Z_all[: end - start]
        if end == start:
            packed[k] = 0
        else:
            s = s_all[: end - start]
            np.dot(X_q, w, s)
            _half_images(X_q, s, lower[start:end], one, dtype.type(np.inf), A_all, deg, Z)
            np.dot(X_q.T, Z, product)
            _pack(product, packed[k])


@njit(cache=True)
def _count_active(s: Any, lower: Any, threshold: float, width: float) -> int:
    total = 0
    for i in range(_better(lower)):
        u = s[i] - threshold
        for j in range(lower[i], len(s)):
            v = s[j] - u
            total += 1 if (v > 0) & (v < width) else 0
    return total


@njit(cache=True)
def _differences(X: Any, s: Any, lower: Any, threshold: float, width: float, c: float, P: Any, Q: Any) -> int:
    """Rows ``x_i - x_j`` (P) and ``c/2 (x_i - x_j)`` (Q) of the active pairs; returns how many."""
    at = 0
    for i in range(_better(lower)):
        for j in range(lower[i], len(s)):
            v = threshold - s[i] + s[j]
            if 0 < v < width:
                for f in range(X.shape[1]):
                    P[at, f] = X[i, f] - X[j, f]
                    Q[at, f] = c / 2 * P[at, f]
                at += 1
    return at


@njit(cache=True)
def hessian_single(
    X: NDArray[Any],
    offsets: NDArray[Any],
    lower: NDArray[Any],
    queries: NDArray[Any],
    coef: NDArray[Any],
    w: NDArray[Any],
    threshold: float,
    width: float,
) -> Any:
    """Weighted sum of ``(x_i - x_j)(x_i - x_j)^T`` over the pairs with ``0 < v < width``, in float64.

    Shape (n_features, n_features); parameters as for `evaluate_single`. Queries with fewer active pairs than documents
    add their differences to the stack, the others their images.
    """
    d, strip, longest = X.shape[1], 256, 1
    for q in queries:
        longest = max(longest, offsets[q + 1] - offsets[q])
    H, product = np.zeros((d, d)), np.empty((d, d))
    P, Q = np.empty((STACKED + longest, d)), np.empty((STACKED + longest, d))
    s_all, deg, A_all = np.empty(longest), np.empty(longest), np.empty(min(longest, strip) * longest)
    filled = 0
    for k in range(len(queries)):
        start, end = offsets[queries[k]], offsets[queries[k] + 1]
        n, lower_q = end - start, lower[start:end]
        X_q, Z, s = P[filled : filled + n], Q[filled : filled + n], s_all[:n]
        for i in range(n):
            for f in range(d):
                X_q[i, f] = X[start + i, f]
        np.dot(X_q, w, s)
        active = _count_active(s, lower_q, threshold, width)
        if active >= n:
            _half_images(X_q, s, lower_q, threshold, width, A_all, deg, Z)
            for i in range(n):
                for f in range(d):
                    Z[i, f] *= coef[k]
            filled += n
        elif active > 0:
            filled += _differences(
                X[start:end].astype(np.float64), s, lower_q, threshold, width, coef[k], P[filled:], Q[filled:]
            )
        if filled >= STACKED:
            np.dot(P[:filled].T, Q[:filled], product)
            H += product
            filled = 0
    np.dot(P[:filled].T, Q[:filled], product)
    H += product
    return H + H.T


@njit(cache=True)
def _dot(a: Any, b: Any) -> float:
    """Scalar product in four sums, which do not wait for each other."""
    n = len(a) // 4 * 4
    s0 = s1 = s2 = s3 = 0.0
    for j in range(0, n, 4):
        s0 += a[j] * b[j]
        s1 += a[j + 1] * b[j + 1]
        s2 += a[j + 2] * b[j + 2]
        s3 += a[j + 3] * b[j + 3]
    for j in range(n, len(a)):
        s0 += a[j] * b[j]
    return (s0 + s1) + (s2 + s3)


@njit(cache=True)
def _reduce(U: Any, d: int, i: int, row: Any) -> None:
    """Subtract from row ``i``, from its diagonal on, what the rows above explain: four of them at a time."""
    k, at = 0, i  # place of U[k, i]
    while k + 4 <= i:
        at1 = at + d - k - 1
        at2 = at1 + d - k - 2
        at3 = at2 + d - k - 3
        a, b, c, e = U[at : at + d - i], U[at1 : at1 + d - i], U[at2 : at2 + d - i], U[at3 : at3 + d - i]
        a0, b0, c0, e0 = a[0], b[0], c[0], e[0]
        for j in range(len(row)):
            row[j] -= (a0 * a[j] + b0 * b[j]) + (c0 * c[j] + e0 * e[j])
        at, k = at3 + d - k - 4, k + 4
    while k < i:
        a = U[at : at + d - i]
        a0 = a[0]
        for j in range(len(row)):
            row[j] -= a0 * a[j]
        at, k = at + d - k - 1, k + 1


@njit(cache=True)
def factorise(packed: NDArray[Any], lam: float, U: NDArray[Any]) -> None:
    """Cholesky factors ``U^T U`` of ``lam I + 2 A`` for each row of ``packed``, the lower triangle of A row by row.

    Parameters
    ----------
    packed : (n, d (d + 1) / 2) float32 or float64
    lam : float; no pivot is smaller than this, as in exact arithmetic
    U : (n, d (d + 1) / 2) float64; filled with the upper factors row by row, the inverse pivots on the diagonal
    """
    n, size = packed.shape
    d = int((np.sqrt(8 * size + 1) - 1) / 2)
    for m in range(n):
        factor, A, at = U[m], packed[m], 0
        for i in range(d):
            row = factor[at : at + d - i]
            for j in range(i, d):
                row[j - i] = 2 * A[j * (j + 1) // 2 + i]
            row[0] += lam
            _reduce(factor, d, i, row)
            pivot = 1 / np.sqrt(max(row[0], lam))
            row[0] = pivot
            for j in range(1, len(row)):
                row[j] *= pivot
            at += d - i


@njit(cache=True)
def solve_factors(U: NDArray[Any], rows: NDArray[Any], G: NDArray[Any]) -> Any:
    """Solutions (n, d) of the systems of the factors ``U[rows]`` with right sides ``G`` (n, d)."""
    n, d = G.shape
    S = G.copy()
    for r in range(n):
        factor, x, at = U[rows[r]], S[r], 0
        for i in range(d):
            row, rest = factor[at : at + d - i], x[i:]
            y = rest[0] * row[0]
            for j in range(1, len(row)):
                rest[j] -= row[j] * y
            rest[0] = y
            at += d - i
        for i in range(d - 1, -1, -1):
            at -= d - i
            row = factor[at : at + d - i]
            x[i] = (x[i] - _dot(row[1:], x[i + 1 :])) * row[0]
    return S

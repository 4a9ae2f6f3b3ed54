"""Cholesky factors of many small matrices, and systems solved with them (numba)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray


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

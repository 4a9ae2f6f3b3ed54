"""Cholesky factors of many small matrices, and systems solved with them (numba)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray


@njit(cache=True, fastmath={"reassoc", "contract"})
def _dot(a: Any, b: Any) -> float:
    """Scalar product in whatever order is fast."""
    total = 0.0
    for i in range(len(a)):
        total += a[i] * b[i]
    return total


@njit(cache=True)
def factorise(packed: NDArray[Any], lam: float, L: NDArray[Any]) -> None:
    """Cholesky factors of ``lam I + 2 A`` for each row of ``packed``, the lower triangle of A row by row.

    Parameters
    ----------
    packed : (n, d (d + 1) / 2) float32 or float64
    lam : float
        No pivot is smaller than this: so it is in exact arithmetic.
    L : (n, d (d + 1) / 2) float64
        Filled with the factors, the inverse pivots on the diagonal.
    """
    n, size = packed.shape
    d = int((np.sqrt(8 * size + 1) - 1) / 2)
    for m in range(n):
        row, A = L[m], packed[m]
        for i in range(d):
            at = i * (i + 1) // 2
            for j in range(i):
                other = j * (j + 1) // 2
                row[at + j] = (2 * A[at + j] - _dot(row[at : at + j], row[other : other + j])) * row[other + j]
            pivot = lam + 2 * A[at + i] - _dot(row[at : at + i], row[at : at + i])
            row[at + i] = 1 / np.sqrt(max(pivot, lam))


@njit(cache=True)
def solve_factors(L: NDArray[Any], rows: NDArray[Any], G: NDArray[Any]) -> Any:
    """Solutions (n, d) of the systems of the factors ``L[rows]`` with right sides ``G`` (n, d)."""
    n, d = G.shape
    S = np.empty((n, d))
    for r in range(n):
        factor, x = L[rows[r]], S[r]
        for i in range(d):
            at = i * (i + 1) // 2
            x[i] = (G[r, i] - _dot(factor[at : at + i], x[:i])) * factor[at + i]
        for i in range(d - 1, -1, -1):
            at = i * (i + 1) // 2
            x[i] *= factor[at + i]
            for j in range(i):
                x[j] -= factor[at + j] * x[i]
    return S

"""Sums over the pairs of one model in float64: slacks and gradient (numba)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray


@njit(cache=True)
def dot(a: Any, b: Any) -> float:
    """Scalar product, summed in order."""
    total = 0.0
    for i in range(len(a)):
        total += a[i] * b[i]
    return total


@njit(cache=True)
def pair_sums(s: Any, lower: Any, threshold: float, C: Any) -> Any:
    """Slacks ``max(0, threshold - s_i + s_j)`` of all pairs of a query.

    ``C`` (n,) gets minus the sum of slacks for the better and plus the sum for the worse document of each pair.
    Returns the sum of the slacks and the sum of their squares.
    """
    n = len(s)
    for j in range(n):
        C[j] = 0.0
    slack = 0.0
    for i in range(n):
        u, above = s[i] - threshold, 0.0
        for j in range(lower[i], n):
            v = max(s[j] - u, 0.0)
            C[j] += v
            above += v
        C[i] -= above
        slack += above
    return slack, slack * threshold + dot(s, C)


@njit(cache=True)
def _longest(offsets: Any, queries: Any) -> int:
    longest = 0
    for q in queries:
        longest = max(longest, offsets[q + 1] - offsets[q])
    return longest


@njit(cache=True)
def _scores(X: Any, w: Any, wide: Any, s: Any) -> None:
    """Scores of a query's documents, and their features in float64."""
    for i in range(X.shape[0]):
        for f in range(X.shape[1]):
            wide[i, f] = X[i, f]
    np.dot(wide, w, s)


@njit(cache=True)
def _add_rows(X: Any, C: Any, c: float, G: Any) -> None:
    """Add ``c C^T X`` to the gradient ``G``."""
    for i in range(X.shape[0]):
        factor = c * C[i]
        if factor != 0:
            for f in range(X.shape[1]):
                G[f] += factor * X[i, f]


@njit(cache=True)
def evaluate_single(
    X: NDArray[Any],
    offsets: NDArray[Any],
    lower: NDArray[Any],
    queries: NDArray[Any],
    coef: NDArray[Any],
    w: NDArray[Any],
    thresholds: NDArray[Any],
) -> Any:
    """Slacks ``v = max(0, threshold - w.(x_i - x_j))`` of a model's pairs, for each of several thresholds.

    Parameters
    ----------
    X, offsets, lower : as in `qdrank.learners.ranksvm.preferences.Preferences`
    queries : (k,) int64, coef : (k,) float64; the model's training queries and the weight of each of their pairs
    w : (n_features,) float64; weights
    thresholds : (n_thresholds,) float64

    Returns
    -------
    sums : (n_thresholds, 2) float64; weighted sums of v and of v^2
    G : (n_thresholds, n_features) float64; half the gradient of the sum of v^2
    """
    d = X.shape[1]
    longest = _longest(offsets, queries)
    X_all, s_all, C_all = np.empty((longest, d)), np.empty(longest), np.empty(longest)
    sums, G = np.zeros((len(thresholds), 2)), np.zeros((len(thresholds), d))
    for k in range(len(queries)):
        start, end = offsets[queries[k]], offsets[queries[k] + 1]
        n = end - start
        X_q, C, lower_q = X_all[:n], C_all[:n], lower[start:end]
        s = s_all[:n]
        _scores(X[start:end], w, X_q, s)
        for t in range(len(thresholds)):
            slack, square = pair_sums(s, lower_q, thresholds[t], C)
            sums[t, 0] += coef[k] * slack
            sums[t, 1] += coef[k] * square
            _add_rows(X_q, C, coef[k], G[t])
    return sums, G


@njit(cache=True)
def split_pairs(
    X: NDArray[Any],
    offsets: NDArray[Any],
    lower: NDArray[Any],
    queries: NDArray[Any],
    coef: NDArray[Any],
    w: NDArray[Any],
    low: float,
    high: float,
    many: int,
) -> Any:
    """Pairs whose slack ``1 - w.(x_i - x_j)`` lies between ``low`` and ``high``, and sums over those above.

    Returns
    -------
    better, worse : (n,) int64
        Rows of the documents of the pairs in between. At ``many`` of them the search stops with incomplete sums.
    weights : (n,) float64; their weights
    clear : (n_features,) float64, clear_weight : float
        Weighted sum of ``x_i - x_j``, and of 1, over the pairs at or above ``high``.
    """
    d, longest = X.shape[1], _longest(offsets, queries)
    better, worse, weights = np.empty(many, dtype=np.int64), np.empty(many, dtype=np.int64), np.empty(many)
    X_all, s_all, C_all = np.empty((longest, d)), np.empty(longest), np.empty(longest)
    clear, clear_weight, near = np.zeros(d), 0.0, 0
    for k in range(len(queries)):
        start, end = offsets[queries[k]], offsets[queries[k] + 1]
        n = end - start
        X_q, s, C = X_all[:n], s_all[:n], C_all[:n]
        _scores(X[start:end], w, X_q, s)
        for i in range(n):
            C[i] = 0.0
        for i in range(n):
            for j in range(lower[start + i], n):
                v = 1 - s[i] + s[j]
                if v >= high:
                    C[i] += 1
                    C[j] -= 1
                    clear_weight += coef[k]
                elif v > low:
                    if near == many:
                        return better, worse, weights, clear, clear_weight
                    better[near], worse[near], weights[near] = start + i, start + j, coef[k]
                    near += 1
        _add_rows(X_q, C, coef[k], clear)
    return better[:near], worse[:near], weights[:near], clear, clear_weight

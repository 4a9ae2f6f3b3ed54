"""Squared hinge of a block of models at once, query by query (numba).

For each query: gather the models that use it, scores by GEMM, a loop over pairs, gradients by GEMM. The lanes of the vector unit
are models (`qdrank.learners.kernels.tiles`), or documents where there are few models (`qdrank.learners.kernels.rows`). Since
``v^2 = v - v s_i + v s_j``, the loss follows from the sum of slacks and the gradient; no pair is squared.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from qdrank.learners.kernels.rows import row_sums
from qdrank.learners.kernels.sorting import is_dense, slack_sums
from qdrank.learners.kernels.tiles import LANES, pair_loop

_FEW = 2  # models up to which documents fill the lanes of the vector unit better


@njit(cache=True)
def by_documents(S: Any, lower: Any, C: Any, slack: Any, dense: float) -> None:
    """`pair_loop` with ``S`` and ``C`` (models, n), one model after the other; long lists in O(n log n)."""
    models, n = S.shape
    if is_dense(lower, dense):
        s, c = np.empty(n), np.empty(n)
        for m in range(models):
            for i in range(n):
                s[i] = S[m, i]
            slack[m] = slack_sums(s, lower, 1.0, c)[0]
            for i in range(n):
                C[m, i] = c[i]
    else:
        for m in range(models):
            slack[m] = row_sums(S[m], lower, C[m])


@njit(cache=True)
def _gather(W: Any, members: Any, begin: int, end: int, position: Any, rows: Any, where: Any) -> int:
    """Copy the weights of a query's active models to ``rows``; returns how many there are."""
    count = 0
    for e in range(begin, end):
        p = position[members[e]]
        if p >= 0:
            where[count, 0], where[count, 1] = p, e
            for f in range(W.shape[1]):
                rows[count, f] = W[p, f]
            count += 1
    return count


@njit(cache=True)
def _scatter(part: Any, slack: Any, where: Any, coef: Any, slacks: Any, G: Any) -> None:
    for r in range(len(part)):
        p, c = where[r, 0], coef[where[r, 1]]
        slacks[p] += c * slack[r]
        for f in range(G.shape[1]):
            G[p, f] += 2 * c * part[r, f]


@njit(cache=True)
def _widened(X: Any, wide: Any) -> Any:
    """A query's features, in ``wide`` if that has more columns: products are faster if their number is a multiple of four."""
    n, d = X.shape
    if wide.shape[1] == d:
        return X
    for i in range(n):
        for f in range(d):
            wide[i, f] = X[i, f]
    return wide[:n]


@njit(cache=True)
def _evaluate_query(
    X: Any, lower: Any, used: int, W: Any, S_all: Any, C_all: Any, slack: Any, part: Any, dense: float
) -> None:
    """Sums of slacks and half gradients (``part``) of one query for the first ``used`` rows of ``W``."""
    n = len(X)
    if used == 1:  # a query that arrives alone: vectors instead of matrices
        s, c = S_all[:n], C_all[:n]
        np.dot(X, W[0], s)
        by_documents(s.reshape(1, n), lower, c.reshape(1, n), slack, dense)
        np.dot(c, X, part[0])
    elif used <= _FEW or is_dense(lower, dense):
        S, C = S_all[: used * n].reshape(used, n), C_all[: used * n].reshape(used, n)
        np.dot(W[:used], X.T, S)
        by_documents(S, lower, C, slack, dense)
        np.dot(C, X, part[:used])
    else:
        models = (used + LANES - 1) // LANES * LANES  # the last rows of W are of other queries, and not looked at again
        S, C = S_all[: n * models].reshape(n, models), C_all[: n * models].reshape(n, models)
        np.dot(X, W[:models].T, S)
        pair_loop(S, lower, C, slack)
        np.dot(C.T, X, part[:models])


@njit(cache=True)
def evaluate_block(
    X: NDArray[Any],
    offsets: NDArray[Any],
    lower: NDArray[Any],
    first: NDArray[Any],
    members: NDArray[Any],
    coef: NDArray[Any],
    position: NDArray[Any],
    W: NDArray[Any],
    dense: float,
) -> Any:
    """Loss and gradient of the pairs for the active models of a block.

    Parameters
    ----------
    X, offsets, lower
        As in `qdrank.learners.preferences.Preferences`.
    first : (n_queries + 1,), members, coef : (n_entries,)
        Query ``q`` is used by the models ``members[first[q]:first[q + 1]]``; each of its pairs has weight ``coef``.
    position : (n_models,) int64
        Row of ``W`` for each model of the block, -1 if it is not active.
    W : (n_active, n_features), dtype of ``X``
        Weights.
    dense : float
        Queries with more pairs per document are evaluated by sorting.

    Returns
    -------
    slacks : (n_active,) float64
        Weighted sum of slacks; the loss is ``slacks + (W * G).sum(1) / 2``.
    G : (n_active, n_features) float64
        Gradient of the loss.
    """
    d, dtype = X.shape[1], X.dtype
    slacks, G = np.zeros(len(W)), np.zeros((len(W), d))
    longest, most = 0, 0
    for q in range(len(offsets) - 1):
        if first[q + 1] > first[q]:
            longest, most = max(longest, offsets[q + 1] - offsets[q]), max(most, first[q + 1] - first[q])
    width, most = d + (d % 4 == 3), (most + LANES - 1) // LANES * LANES
    gathered, part = np.zeros((most, width), dtype), np.empty((most, width), dtype)
    wide = np.zeros((longest if width > d else 0, width), dtype)
    S_all, C_all, slack = np.empty(longest * most, dtype), np.empty(longest * most, dtype), np.empty(most, dtype)
    where = np.empty((most, 2), np.int64)
    for q in range(len(offsets) - 1):
        used = _gather(W, members, first[q], first[q + 1], position, gathered, where)
        if used > 0:
            X_q, lower_q = _widened(X[offsets[q] : offsets[q + 1]], wide), lower[offsets[q] : offsets[q + 1]]
            _evaluate_query(X_q, lower_q, used, gathered, S_all, C_all, slack, part, dense)
            _scatter(part[:used], slack, where, coef, slacks, G)
    return slacks, G


@njit(cache=True)
def transpose(neighbours: NDArray[Any], coef: NDArray[Any], n_queries: int) -> Any:
    """Lists of models per query from lists of queries per model; entries with ``coef`` 0 are left out.

    ``neighbours`` and ``coef`` are (n_models, k); returns ``first``, ``members``, ``coef`` of `evaluate_block`.
    """
    first = np.zeros(n_queries + 1, dtype=np.int64)
    for m in range(neighbours.shape[0]):
        for e in range(neighbours.shape[1]):
            if coef[m, e] != 0:
                first[neighbours[m, e] + 1] += 1
    for q in range(n_queries):
        first[q + 1] += first[q]
    members, weights = np.empty(first[n_queries], dtype=np.int64), np.empty(first[n_queries])
    at = first[:-1].copy()
    for m in range(neighbours.shape[0]):
        for e in range(neighbours.shape[1]):
            if coef[m, e] != 0:
                q = neighbours[m, e]
                members[at[q]], weights[at[q]] = m, coef[m, e]
                at[q] += 1
    return first, members, weights

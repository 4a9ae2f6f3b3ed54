"""Squared hinge of a block of models at once, query by query (numba).

For each query the models that use it are taken together: scores by BLAS, a loop over pairs with the models side by side
(`qdrank.learners.ranksvm.kernels.pairs`), gradients by BLAS. With few models, documents lie side by side instead
(`row_sums`). Since ``v^2 = v - v s_i + v s_j``, the loss follows from the sum of slacks and
the gradient; no pair is squared.

In `row_sums` the worse documents are taken by lanes, and four better ones pass over them at once. Each lane has a sum of its own, and
the lanes are added by halves at the end: LLVM may compute lanes side by side, and cannot choose an order.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from qdrank.learners.ranksvm.kernels.pairs import MODELS, pair_loop, scratch

LANES = 16


@njit(cache=True)
def _pass(worse: Any, images: Any, u: Any, sums: Any) -> None:
    """Slacks of four better documents with all ``worse`` ones.

    ``u`` (4,) are the scores of the better ones less 1; ``sums`` (4 * LANES,) gets their sums by lanes.
    """
    u0, u1, u2, u3, none = u[0], u[1], u[2], u[3], worse.dtype.type(0)
    for at in range(0, len(worse), LANES):
        s, c = worse[at : at + LANES], images[at : at + LANES]
        for a in range(LANES):
            v0, v1, v2, v3 = max(s[a] - u0, none), max(s[a] - u1, none), max(s[a] - u2, none), max(s[a] - u3, none)
            c[a] += (v0 + v1) + (v2 + v3)
            sums[a] += v0
            sums[LANES + a] += v1
            sums[2 * LANES + a] += v2
            sums[3 * LANES + a] += v3


@njit(cache=True)
def _lane_sum(sums: Any) -> Any:
    """Sum of the lanes, by halves; they are overwritten."""
    half = LANES // 2
    while half:
        for a in range(half):
            sums[a] += sums[a + half]
        half //= 2
    return sums[0]


@njit(cache=True)
def row_sums(s: Any, lower: Any, c: Any) -> Any:
    """Sum of slacks of one query and one model.

    Parameters
    ----------
    s, c : (n + LANES,)
        Scores, and what gets minus the sum of slacks for the better and plus the sum for the worse document of each
        pair. The last `LANES` places are scratch.
    """
    n, i, slack, one = len(lower), 0, s.dtype.type(0), s.dtype.type(1)
    u, sums = np.empty(4, s.dtype), np.empty(4 * LANES, s.dtype)
    s[n:] = -np.inf  # below all others: no slack
    c[:] = 0
    while i < n and lower[i] < n:
        low, end = lower[i], min(i + 4, lower[i])
        last = low + (n - low + LANES - 1) // LANES * LANES
        u[:] = np.inf
        for a in range(end - i):
            u[a] = s[i + a] - one
        sums[:] = 0
        _pass(s[low:last], c[low:last], u, sums)
        for a in range(end - i):
            v = _lane_sum(sums[a * LANES : (a + 1) * LANES])
            c[i + a] -= v
            slack += v
        i = end
    return slack


_FEW = 2  # up to this many models, documents fill the lanes of the vector unit better
_MANY = 256  # models of a query that are taken together; bounds the memory


@njit(cache=True)
def _one_model(X: Any, lower: Any, w: Any, s: Any, c: Any, half: Any) -> Any:
    """Sum of slacks and half gradient (``half``) of one query and one model; ``s`` and ``c`` as in `row_sums`."""
    n = len(X)
    np.dot(X, w, s[:n])
    slack = row_sums(s, lower, c)
    np.dot(c[:n], X, half)
    return slack


@njit(cache=True)
def _find(members: Any, begin: int, end: int, position: Any, where: Any) -> int:
    """Rows of a query's active models and their entries; returns how many there are."""
    count = 0
    for e in range(begin, end):
        p = position[members[e]]
        if p >= 0:
            where[count, 0], where[count, 1] = p, e
            count += 1
    return count


@njit(cache=True)
def _scatter(halves: Any, slack: Any, where: Any, coef: Any, slacks: Any, G: Any) -> None:
    for r in range(len(where)):
        p, c = where[r, 0], coef[where[r, 1]]
        slacks[p] += c * slack[r]
        row, half, factor = G[p], halves[r], 2 * c
        for f in range(len(row)):
            row[f] += factor * half[f]


@njit(cache=True)
def _gather(W: Any, where: Any, chosen: Any) -> None:
    """Weights of a query's models, one below the other; rows that are left get 0."""
    for r in range(len(where)):
        weights, row = W[where[r, 0]], chosen[r]
        for f in range(len(row)):  # several times faster than to assign the row
            row[f] = weights[f]
    chosen[len(where) :] = 0


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
) -> Any:
    """Loss and gradient of the pairs for the active models of a block.

    Parameters
    ----------
    X, offsets, lower : as in `qdrank.learners.ranksvm.preferences.Preferences`
    first : (n_queries + 1,), members, coef : (n_entries,)
        Query ``q`` is used by the models ``members[first[q]:first[q + 1]]``; each of its pairs has weight ``coef``.
    position : (n_models,) int64; row of ``W`` for each model of the block, -1 if it is not active
    W : (n_active, n_features), dtype of ``X``; weights

    Returns
    -------
    slacks : (n_active,) float64; weighted sum of slacks; the loss is ``slacks + (W * G).sum(1) / 2``
    G : (n_active, n_features) float64; gradient of the loss
    """
    (n_active, d), dtype = W.shape, X.dtype
    slacks, G = np.zeros(n_active), np.zeros((n_active, d))
    longest, n_entries = 0, 0
    for q in range(len(offsets) - 1):
        if first[q + 1] > first[q]:
            longest, n_entries = max(longest, offsets[q + 1] - offsets[q]), max(n_entries, first[q + 1] - first[q])
    most = min(_MANY, (n_entries + MODELS - 1) // MODELS * MODELS)
    S_all, chosen, halves = np.empty(longest * most, dtype), np.empty((most, d), dtype), np.empty((most, d), dtype)
    slack, where, arrays = np.empty(most, dtype), np.empty((n_entries, 2), np.int64), scratch(longest, X)
    s, c = np.empty(longest + LANES, dtype), np.empty(longest + LANES, dtype)
    for q in range(len(offsets) - 1):
        used = _find(members, first[q], first[q + 1], position, where)
        X_q, lower_q = X[offsets[q] : offsets[q + 1]], lower[offsets[q] : offsets[q + 1]]
        n = len(X_q)
        if used <= _FEW:
            for r in range(used):
                slack[0] = _one_model(X_q, lower_q, W[where[r, 0]], s[: n + LANES], c[: n + LANES], halves[0])
                _scatter(halves, slack, where[r : r + 1], coef, slacks, G)
            continue
        for start in range(0, used, _MANY):
            entries = where[start : min(start + _MANY, used)]
            models = (len(entries) + MODELS - 1) // MODELS * MODELS
            S, W_q = S_all[: n * models].reshape(n, models), chosen[:models]
            _gather(W, entries, W_q)
            np.dot(X_q, W_q.T, S)
            pair_loop(S, lower_q, slack[:models], arrays)
            np.dot(S.T, X_q, halves[:models])
            _scatter(halves, slack, entries, coef, slacks, G)
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

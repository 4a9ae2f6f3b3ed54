"""Squared hinge of a block of models at once, query by query (numba).

For each query: gather the models that use it, scores by GEMM, a loop over pairs, gradients by GEMM. The lanes of the vector unit
are models where a document is in few pairs, and documents where it is in many (`qdrank.learners.kernels.rows`). With ``u_i = s_i - 1`` the slack of a pair is
``v = max(s_j, u_i) - u_i``: one max and two adds per pair, corrected once per document. And since
``v^2 = v - v s_i + v s_j``, the loss follows from the sum of slacks and the gradient; no pair is squared.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from qdrank.learners.kernels.rows import row_sums
from qdrank.learners.kernels.sorting import is_dense, slack_sums

_FULL = 20.0  # pairs per document from which documents fill the lanes of the vector unit better than models do
_FEW = 8  # and so they do where a list has at least this many documents a model


@njit(cache=True)
def _pair_row(s_j: Any, u_i: Any, sum_i: Any, sum_j: Any) -> None:
    """One pair for all models; one-dimensional rows are what lets LLVM vectorise."""
    for m in range(len(s_j)):
        larger = max(s_j[m], u_i[m])
        sum_i[m] += larger
        sum_j[m] += larger


@njit(cache=True)
def _pair_rows(s_j: Any, u_a: Any, u_b: Any, sum_a: Any, sum_b: Any, sum_j: Any) -> None:
    """Two pairs that end in the same document: a sixth faster than one after the other; more at once are slower."""
    for m in range(len(s_j)):
        a, b = max(s_j[m], u_a[m]), max(s_j[m], u_b[m])
        sum_a[m] += a
        sum_b[m] += b
        sum_j[m] += a + b


@njit(cache=True)
def _start_rows(S: Any, lower: Any, C: Any, prefix: Any) -> None:
    """``C_j = -(sum of u_i over the documents preferred to j)``: the correction of all pairs that end in j."""
    n, models = S.shape
    for m in range(models):
        prefix[m] = 0
    start = 0
    while start < n:
        end = lower[start]
        for j in range(start, end):
            for m in range(models):
                C[j, m] = prefix[m]
        if end < n:
            for j in range(start, end):
                for m in range(models):
                    prefix[m] += 1 - S[j, m]
        start = end


@njit(cache=True)
def _start_document(S_i: Any, u_i: Any, sum_i: Any) -> None:
    for m in range(len(S_i)):
        u_i[m] = S_i[m] - 1
        sum_i[m] = 0


@njit(cache=True)
def _finish_document(u_i: Any, sum_i: Any, count: Any, C_i: Any, slack: Any) -> None:
    for m in range(len(C_i)):
        v = sum_i[m] - count * u_i[m]
        C_i[m] -= v
        slack[m] += v


@njit(cache=True)
def pair_loop(S: Any, lower: Any, C: Any, rows: Any) -> None:
    """Slacks of one query: ``C`` (n, models) gets -sum for the better, +sum for the worse document of each pair.

    ``rows`` is (5, models or more): the first row gets the sums of slacks, the others are scratch.
    """
    slack, u_a, u_b, sum_a, sum_b = rows[0], rows[1], rows[2], rows[3], rows[4]
    n, models = S.shape
    _start_rows(S, lower, C, u_a)
    for m in range(models):
        slack[m] = 0
    i = 0
    while i < n and lower[i] < n:
        count, two = S.dtype.type(n - lower[i]), lower[i + 1] == lower[i]
        _start_document(S[i], u_a, sum_a)
        if two:
            _start_document(S[i + 1], u_b, sum_b)
            for j in range(lower[i], n):
                _pair_rows(S[j], u_a, u_b, sum_a, sum_b, C[j])
            _finish_document(u_b, sum_b, count, C[i + 1], slack)
        else:
            for j in range(lower[i], n):
                _pair_row(S[j], u_a, sum_a, C[j])
        _finish_document(u_a, sum_a, count, C[i], slack)
        i += 2 if two else 1


@njit(cache=True)
def by_documents(S: Any, lower: Any, C: Any, slack: Any, dense: float) -> None:
    """The same with ``S`` and ``C`` (models, n), one model after the other; long lists in O(n log n)."""
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
        for f in range(part.shape[1]):
            G[p, f] += 2 * c * part[r, f]


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
    gathered, part = np.empty((most, d), dtype), np.empty((most, d), dtype)
    S_all, C_all, rows = np.empty(longest * most, dtype), np.empty(longest * most, dtype), np.empty((5, most), dtype)
    where = np.empty((most, 2), np.int64)
    for q in range(len(offsets) - 1):
        used = _gather(W, members, first[q], first[q + 1], position, gathered, where)
        if used == 0:
            continue
        X_q, lower_q = X[offsets[q] : offsets[q + 1]], lower[offsets[q] : offsets[q + 1]]
        n, size = len(X_q), len(X_q) * used
        if used == 1:  # a query that arrives alone: vectors instead of matrices
            s, c = S_all[:n], C_all[:n]
            np.dot(X_q, gathered[0], s)
            by_documents(s.reshape(1, n), lower_q, c.reshape(1, n), rows[0], dense)
            np.dot(c, X_q, part[0])
        elif used * _FEW <= n or is_dense(lower_q, min(_FULL, dense)):
            S, C = S_all[:size].reshape(used, n), C_all[:size].reshape(used, n)
            np.dot(gathered[:used], X_q.T, S)
            by_documents(S, lower_q, C, rows[0], dense)
            np.dot(C, X_q, part[:used])
        else:
            S, C = S_all[:size].reshape(n, used), C_all[:size].reshape(n, used)
            np.dot(X_q, gathered[:used].T, S)
            pair_loop(S, lower_q, C, rows)
            np.dot(C.T, X_q, part[:used])
        _scatter(part[:used], rows[0], where, coef, slacks, G)
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

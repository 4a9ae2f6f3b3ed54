"""The graph of one query's documents and the smoothness of scores on it, Hoi and Jin 2008, eq. 9 and 10 (numba)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

#: Distances that differ by less than this share count as equal: they may sum the same numbers in another order.
SAME = 1e-12


@njit(cache=True)
def squared_distances(G: Any) -> Any:
    """Squared Euclidean distances between the rows of G (n, m), shape (n, n), infinite on the diagonal.

    The sum over the features has the same order for every pair, so that equal documents are equally far from any other.
    """
    n, m = G.shape
    varying = [f for f in range(m) if G[:, f].max() > G[:, f].min()]
    columns = np.empty((len(varying), n))
    for a, f in enumerate(varying):
        columns[a] = G[:, f]
    d = np.zeros((n, n))
    for i in range(n):
        row = d[i, i + 1 :]
        for f in range(len(columns)):
            value, others = columns[f, i], columns[f, i + 1 :]
            for j in range(len(row)):
                row[j] += (others[j] - value) * (others[j] - value)
        d[i, i] = np.inf
        d[i + 1 :, i] = row
    return d


@njit(cache=True)
def nearest_marks(d: Any, k: int, all_tied: bool) -> Any:
    """Which documents are among the k nearest of each one, shape (n, n); row ``i`` marks the neighbours of ``i``.

    ``all_tied``: all documents as near as the k-th are neighbours; else the first of them by row, k in all.
    """
    n = len(d)
    marks = np.zeros((n, n), dtype=np.uint8)
    best = np.empty(k)
    for i in range(n):
        _smallest(d[i], best)
        inside, limit = best[k - 1] * (1 - SAME), best[k - 1] * (1 + SAME)
        room = n if all_tied else k - np.sum(d[i] < inside)
        for j in range(n):
            if d[i, j] < inside:
                marks[i, j] = 1
            elif d[i, j] <= limit and room > 0:
                marks[i, j] = 1
                room -= 1
    return marks


@njit(cache=True)
def _smallest(d: Any, best: Any) -> None:
    """The smallest values of ``d``, ascending, into ``best``."""
    best[:] = np.inf
    last = len(best) - 1
    for value in d:
        if value < best[last]:
            at = last
            while at > 0 and best[at - 1] > value:
                best[at] = best[at - 1]
                at -= 1
            best[at] = value


@njit(cache=True)
def smoothness(G: Any, S: Any, normalised: bool) -> Any:
    """``G^T L G`` (m, m) for rows of documents G (n, m) and a symmetric graph S (n, n).

    L = I - D^-1/2 S D^-1/2 (eq. 9), or D - S. A document without neighbours adds nothing.
    """
    n, m = G.shape
    Z, left, K = np.empty((n, m)), np.empty(m), np.zeros((m, m))
    degree = np.zeros(n)
    for i in range(n):
        for j in range(n):
            degree[i] += S[i, j]
        root = np.sqrt(degree[i]) if normalised and degree[i] > 0 else 1.0
        for f in range(m):
            Z[i, f] = G[i, f] / root
    for i in range(n):  # K is the sum of the products of the rows of Z and of (D - S) Z
        for f in range(m):
            left[f] = degree[i] * Z[i, f]
        for j in range(n):
            if S[i, j] != 0:
                for f in range(m):
                    left[f] -= S[i, j] * Z[j, f]
        z = Z[i]
        for f in range(m):
            if left[f] != 0:
                row = K[f, : f + 1]  # the lower triangle: the sum is symmetric
                for g in range(len(row)):
                    row[g] += left[f] * z[g]
    for f in range(m):
        K[:f, f] = K[f, :f]
    return K

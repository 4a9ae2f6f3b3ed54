"""The graph of one query's documents, and the cost of unequal scores of neighbours (Hoi and Jin 2008, eq. 8 to 10)."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numba import njit
from numpy.typing import NDArray

from qdrank.errors import InputError
from qdrank.layout import FloatArray
from qdrank.registry import refuse_unknown

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


Symmetry = Literal["either", "both", "mean"]
Edges = Literal["binary", "heat"]
Laplacian = Literal["normalised", "unnormalised"]
NeighbourTies = Literal["all", "file"]


def document_graph(
    X: NDArray[Any],
    neighbours: int = 5,
    *,
    edges: Edges = "binary",
    symmetry: Symmetry = "either",
    ties: NeighbourTies = "all",
) -> FloatArray:
    """Similarities S (n, n) of the documents X (n, m) of one query: symmetric, 0 on the diagonal.

    Parameters
    ----------
    neighbours : number of nearest documents, by Euclidean distance, that each one is joined to; all if there are fewer
    edges : "binary" edges weigh 1; "heat" edges exp(-d^2 / mean d^2 of the edges)
    symmetry : an edge where "either" document has the other as neighbour, where "both" have, or the "mean" of the two
    ties : if several documents are as near as the last neighbour, "all" are neighbours (so the order of the rows does
        not matter), or those that come first in the "file"
    """
    refuse_unknown("edges", edges, ("binary", "heat"))
    refuse_unknown("symmetry", symmetry, ("either", "both", "mean"))
    refuse_unknown("ties", ties, ("all", "file"))
    if neighbours < 1:
        raise InputError(f"a document needs at least 1 neighbour, not {neighbours}")
    n = len(X)
    if n < 2:
        return np.zeros((n, n))
    d = squared_distances(np.ascontiguousarray(X, dtype=np.float64))
    marks = nearest_marks(d, min(neighbours, n - 1), ties == "all").astype(np.float64)
    S = _symmetric(marks, symmetry)
    return S if edges == "binary" else _heated(S, d)


def _symmetric(marks: FloatArray, symmetry: Symmetry) -> FloatArray:
    if symmetry == "either":
        return np.maximum(marks, marks.T)
    return np.minimum(marks, marks.T) if symmetry == "both" else (marks + marks.T) / 2


def _heated(S: FloatArray, d: FloatArray) -> FloatArray:
    """Edges weighted by exp(-d^2 / t), t the mean d^2 over the edges; 1 where all neighbours are equal documents."""
    d = np.where(S > 0, d, 0.0)
    scale = d.sum() / max(1, int((S > 0).sum()))
    return S if scale == 0 else S * np.exp(-d / scale)


def roughness(X: NDArray[Any], S: FloatArray, laplacian: Laplacian = "normalised") -> FloatArray:
    """Matrix K (m, m) for which ``w^T K w`` is the cost of unequal scores ``X w`` of neighbours.

    "normalised" is ``G^T L G`` with L of eq. 9, as in eq. 10; "unnormalised" follows eq. 8 to the letter, ``2 G^T (D - S) G``.
    A document without neighbours costs nothing.
    """
    refuse_unknown("laplacian", laplacian, ("normalised", "unnormalised"))
    K: FloatArray = smoothness(np.ascontiguousarray(X, dtype=np.float64), S, laplacian == "normalised")
    return K if laplacian == "normalised" else 2 * K

"""The graph of one query's documents, and the cost of unequal scores of neighbours (Hoi and Jin 2008, eq. 8 to 10)."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from qdrank.errors import InputError
from qdrank.layout import FloatArray
from qdrank.learners.ensemble.kernels.graph import nearest_marks, smoothness, squared_distances

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
    _refuse_unknown(edges=edges, symmetry=symmetry, ties=ties)
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
    _refuse_unknown(laplacian=laplacian)
    K: FloatArray = smoothness(np.ascontiguousarray(X, dtype=np.float64), S, laplacian == "normalised")
    return K if laplacian == "normalised" else 2 * K


_KNOWN = {
    "edges": ("binary", "heat"),
    "symmetry": ("either", "both", "mean"),
    "ties": ("all", "file"),
    "laplacian": ("normalised", "unnormalised"),
}


def _refuse_unknown(**given: str) -> None:
    for name, value in given.items():
        if value not in _KNOWN[name]:
            raise InputError(f"unknown {name} {value!r}", fix="use " + " or ".join(map(repr, _KNOWN[name])))

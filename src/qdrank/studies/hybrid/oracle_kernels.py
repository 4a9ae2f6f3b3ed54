"""First documents of rankings, distances between them, and the size of a change that brings a ranking as far (numba).

Rankings are rows of scores, one for each query; a document that is not in the list has the score minus infinity. A list that
is shorter than the depth goes on with negative numbers, the same for every list.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from qdrank.layout import FloatArray, IntArray

#: Kinds of distance: by rank-biased overlap, and by the share of the first documents in common.
BY_RANK, SHARE = 0, 1


@njit(cache=True)
def _first(base: Any, size: float, change: Any, first: Any, best: Any) -> None:
    """Places of the highest of ``base + size change`` into ``first``, descending, ties by place; ``best``: room for scores."""
    held, depth = 0, len(first)
    for i in range(len(base)):
        score = base[i] + size * change[i]
        if not score > (best[depth - 1] if held == depth else -np.inf):
            continue
        j = min(held, depth - 1)
        while j > 0 and score > best[j - 1]:
            best[j], first[j] = best[j - 1], first[j - 1]
            j -= 1
        best[j], first[j] = score, i
        held = min(held + 1, depth)
    for d in range(held, depth):
        first[d] = -1 - d


@njit(cache=True)
def _distance(a: Any, b: Any, kind: int, weight: Any) -> float:
    """Distance of two lists of places; ``weight`` (depth,) of the agreement at each depth, with sum 1."""
    total, agreed = 0.0, 0
    for d in range(len(a)):
        for i in range(d):
            agreed += a[d] == b[i]
            agreed += a[i] == b[d]
        agreed += a[d] == b[d]
        total += weight[d] * agreed / (d + 1)
    return 1 - (total if kind == BY_RANK else agreed / len(a))


@njit(cache=True)
def first_places(scores: FloatArray, depth: int) -> IntArray:
    """Places of each row's highest scores, descending, ties by place; (n_queries, depth) from (n_queries, n_places)."""
    first, best, nothing = np.empty((len(scores), depth), np.int64), np.empty(depth), np.zeros(scores.shape[1])
    for q in range(len(scores)):
        _first(scores[q], 0.0, nothing, first[q], best)
    return first


@njit(cache=True)
def distances(a: IntArray, b: IntArray, kind: int, weight: FloatArray) -> FloatArray:
    """Distance of the lists of each row, both (n_queries, depth); shape (n_queries,)."""
    far = np.empty(len(a))
    for q in range(len(a)):
        far[q] = _distance(a[q], b[q], kind, weight)
    return far


@njit(cache=True)
def matched_sizes(
    base: FloatArray, change: FloatArray, first: IntArray, wanted: FloatArray, kind: int, weight: FloatArray,
    widest: float, steps: int,
) -> FloatArray:  # fmt: skip
    """Logarithm to base 2 of the size of each row's change, found by bisection between -widest and widest; (n_queries,)."""
    sizes = np.empty(len(base))
    moved, best = np.empty(first.shape[1], np.int64), np.empty(first.shape[1])
    for q in range(len(base)):
        if not wanted[q] > 0:  # nothing is to be moved, and the caller knows
            sizes[q] = -widest
            continue
        low, high = -widest, widest
        for _ in range(steps):
            middle = (low + high) / 2
            _first(base[q], 2.0**middle, change[q], moved, best)
            if _distance(first[q], moved, kind, weight) > wanted[q]:
                high = middle
            else:
                low = middle
        sizes[q] = (low + high) / 2
    return sizes

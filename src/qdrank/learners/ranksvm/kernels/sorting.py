"""Sums over the pairs of one query: in O(n log n) with sorted scores and a tree of counts, or pair by pair (numba)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit


@njit(cache=True)
def _add(counts: Any, sums: Any, place: int, score: float) -> None:
    """Fenwick tree: add one document at ``place``."""
    at = place + 1
    while at < len(counts):
        counts[at] += 1
        sums[at] += score
        at += at & -at


@njit(cache=True)
def _below(counts: Any, sums: Any, place: int) -> Any:
    """Number of documents at places before ``place``, and the sum of their scores."""
    count, total = 0.0, 0.0
    at = place
    while at > 0:
        count += counts[at]
        total += sums[at]
        at -= at & -at
    return count, total


@njit(cache=True)
def _places(lower: Any) -> Any:
    """Index of each document's grade (0 = best), and the number of grades."""
    n = len(lower)
    place = np.zeros(n, dtype=np.int64)
    for i in range(1, n):
        place[i] = place[i - 1] + (1 if lower[i] != lower[i - 1] else 0)
    return place, place[n - 1] + 1


@njit(cache=True)
def is_dense(lower: Any, dense: float) -> bool:
    """Whether a query has more than ``dense`` pairs per document: sorting then beats the loop over its pairs."""
    n, pairs = len(lower), 0
    for i in range(n):
        pairs += n - lower[i]
    return pairs > dense * n


@njit(cache=True)
def ascending(s: Any) -> Any:
    """Stable order of rising scores by merging runs; compiles several times faster than numba's ``argsort``."""
    n = len(s)
    order, other = np.arange(n), np.empty(n, dtype=np.int64)
    width = 1
    while width < n:
        for start in range(0, n, 2 * width):
            a, middle, end = start, min(start + width, n), min(start + 2 * width, n)
            b = middle
            for at in range(start, end):
                if a < middle and (b >= end or s[order[a]] <= s[order[b]]):
                    other[at] = order[a]
                    a += 1
                else:
                    other[at] = order[b]
                    b += 1
        order, other = other, order
        width *= 2
    return order


@njit(cache=True)
def dot(a: Any, b: Any) -> float:
    """Scalar product, summed in order."""
    total = 0.0
    for i in range(len(a)):
        total += a[i] * b[i]
    return total


@njit(cache=True)
def slack_sums(s: Any, lower: Any, threshold: float, C: Any) -> Any:
    """Slacks ``max(0, threshold - s_i + s_j)`` of all pairs of a query.

    ``C`` (n,) gets minus the sum of slacks for the better and plus the sum for the worse document of each pair.
    Returns the sum of the slacks and the sum of their squares.
    """
    n = len(s)
    place, n_places = _places(lower)
    order = ascending(s)
    counts, sums = np.zeros(n_places + 1), np.zeros(n_places + 1)
    entered = 0
    for at in range(n):  # worse documents by rising score: better ones with s_i < s_j + threshold have entered
        j = order[at]
        while entered < n and s[order[entered]] < s[j] + threshold:
            i = order[entered]
            _add(counts, sums, place[i], s[i])
            entered += 1
        count, total = _below(counts, sums, place[j])
        C[j] = count * (threshold + s[j]) - total
    slack, entered = 0.0, n - 1
    counts, sums = np.zeros(n_places + 1), np.zeros(n_places + 1)
    for at in range(n - 1, -1, -1):  # better documents by falling score
        i = order[at]
        while entered >= 0 and s[order[entered]] > s[i] - threshold:
            j = order[entered]
            _add(counts, sums, n_places - 1 - place[j], s[j])
            entered -= 1
        count, total = _below(counts, sums, n_places - 1 - place[i])
        v = count * (threshold - s[i]) + total
        C[i] -= v
        slack += v
    return slack, slack * threshold + dot(s, C)


@njit(cache=True)
def pair_sums(s: Any, lower: Any, threshold: float, C: Any) -> Any:
    """`slack_sums` by the plain loop over pairs: faster for short lists."""
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

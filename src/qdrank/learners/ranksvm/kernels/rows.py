"""Slacks of one query for one model, with the documents in the innermost loop (numba).

The worse documents are taken by lanes, and four better ones pass over them at once. Each lane has a sum of its own, and
the lanes are added by halves at the end: LLVM may compute lanes side by side, and cannot choose an order.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

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

"""Sorting and centring of judged documents (numba)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray


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
def arrange(
    X: NDArray[Any],
    y: NDArray[Any],
    offsets: NDArray[Any],
    ready: NDArray[Any],
    lower: NDArray[Any],
    pairs: NDArray[Any],
) -> bool:
    """Fill ``ready``, ``lower`` and ``pairs`` as in `qdrank.learners.ranksvm.preferences.Preferences`.

    ``y`` (n_documents,) is float64; ``ready`` may be ``X`` itself. Returns whether all features are finite.
    """
    d = X.shape[1]
    mean, longest, finite = np.empty(d), 0, True
    for q in range(len(offsets) - 1):
        longest = max(longest, offsets[q + 1] - offsets[q])
    sorted_rows = np.empty((longest, d), X.dtype)
    for q in range(len(offsets) - 1):
        start, end = offsets[q], offsets[q + 1]
        order = ascending(-y[start:end])
        mean[:] = 0
        for i in range(end - start):
            for f in range(d):
                sorted_rows[i, f] = X[start + order[i], f]
                mean[f] += sorted_rows[i, f]
        for f in range(d):
            finite = finite and np.isfinite(mean[f])
            mean[f] /= max(end - start, 1)
        for i in range(end - start):
            for f in range(d):
                ready[start + i, f] = sorted_rows[i, f] - mean[f]
        last = end
        for i in range(end - 1, start - 1, -1):
            if i + 1 < end and y[start + order[i - start]] != y[start + order[i + 1 - start]]:
                last = i + 1
            lower[i] = last - start
            pairs[q] += end - last
    return finite

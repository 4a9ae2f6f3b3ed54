"""Sorting and centring of judged documents (numba)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from qdrank.learners.ranksvm.kernels.sorting import ascending


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

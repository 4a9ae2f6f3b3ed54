"""The inner loop of RankBoost: which threshold on which feature agrees best with the preferences."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from qdrank.layout import FloatArray


@njit(cache=True)
def best_threshold(codes: NDArray[np.int32], sizes: NDArray[np.int32], potential: FloatArray) -> tuple[int, int, float]:
    """Weak ranker with the largest ``|r|``: feature, threshold and ``r``; the first among equals.

    Parameters
    ----------
    codes : number of thresholds below each value, shape (n_features, n_documents)
    sizes : number of thresholds of each feature, shape (n_features,)
    potential : weight of the pairs a document wins minus weight of those it loses, shape (n_documents,)
    """
    n_features, n_documents = codes.shape
    mass = np.empty(sizes.max() + 1)
    best = (0, 0, 0.0)
    for f in range(n_features):
        size = sizes[f]
        mass[: size + 1] = 0.0
        for i in range(n_documents):
            mass[codes[f, i]] += potential[i]
        r = 0.0
        # h(x) = 1 where the code exceeds the threshold's number, so r is a sum from the top.
        for t in range(size - 1, -1, -1):
            r += mass[t + 1]
            if abs(r) > abs(best[2]):
                best = (f, t, r)
    return best

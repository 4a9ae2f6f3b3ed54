"""Means of training queries' curves (numba)."""

from __future__ import annotations

import numpy as np
from numba import njit

from qdrank.layout import FloatArray, IntArray


@njit(cache=True)
def means_of(curves: FloatArray, rows: IntArray) -> FloatArray:
    """Mean of the curves (n_known, n_settings) in each of ``rows`` (n_queries, k), added in order; (n_queries, n_settings)."""
    means = np.zeros((len(rows), curves.shape[1]))
    for q in range(len(rows)):
        for row in rows[q]:
            for g in range(curves.shape[1]):
                means[q, g] += curves[row, g]
    means /= rows.shape[1]
    return means

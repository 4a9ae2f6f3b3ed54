"""BordaCount points of one list, from which several rankings are combined."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from qdrank.layout import FloatArray, IntArray, query_index


def borda_points(scores: ArrayLike, offsets: IntArray) -> FloatArray:
    """Number of the query's documents ranked below each document, shape (n_documents,).

    Tied documents share the mean of their ranks. Documents without a score (NaN) come after all others and share
    the mean of the remaining ranks.
    """
    values = np.nan_to_num(np.asarray(scores, dtype=np.float64), nan=-np.inf, posinf=np.inf, neginf=-np.inf)
    query = query_index(offsets)
    order = np.lexsort((values, query))
    new = np.ones(len(order), dtype=bool)
    new[1:] = (values[order][1:] != values[order][:-1]) | (query[order][1:] != query[order][:-1])
    starts = np.flatnonzero(new)
    ends = np.append(starts[1:], len(order))
    middle = (starts + ends - 1) / 2
    points = np.empty(len(order))
    points[order] = np.repeat(middle, ends - starts)
    return points - offsets[query]

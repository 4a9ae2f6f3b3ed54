"""K-means of query vectors: classes if the data have none, and groups of training queries that share a model."""

from __future__ import annotations

import warnings
from math import ceil, log10

import numpy as np
from threadpoolctl import threadpool_limits

from qdrank.errors import InputError
from qdrank.layout import FloatArray, IntArray


def k_means(vectors: FloatArray, k: int, *, seed: int, starts: int = 1) -> tuple[FloatArray, IntArray]:
    """Centres, shape (k, n_columns), and the nearest of them to every query, shape (n_queries,).

    The best of several starts of scikit-learn's `KMeans`; centres coincide where there are fewer different vectors.
    """
    if not 1 <= k <= len(vectors):
        raise InputError(f"{len(vectors)} queries cannot be divided into {k} clusters")
    if not np.isfinite(vectors).all():
        raise InputError("a query vector has a value that is not finite")
    from sklearn.cluster import KMeans  # 1.7 CPU seconds
    from sklearn.exceptions import ConvergenceWarning

    with threadpool_limits(1), warnings.catch_warnings():  # centres have other bits with two threads
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer different vectors than centres
        centres: FloatArray = KMeans(k, n_init=starts, tol=0, random_state=seed).fit(vectors).cluster_centers_
    return centres, nearest_centre(vectors, centres)


def nearest_centre(vectors: FloatArray, centres: FloatArray) -> IntArray:
    """Nearest centre of every query, shape (n_queries,); ties go to the first.

    Squared distances are rounded so that equal ones tie in any order of summation; to more digits if vectors are short.
    """
    lengths = (vectors**2).sum(axis=1)
    longest = float(lengths.max(initial=0.0))
    squared = vectors @ (-2 * centres).T + lengths[:, None] + (centres**2).sum(axis=1)
    nearest: IntArray = squared.round(9 + (max(0, ceil(-log10(longest))) if longest > 0 else 0)).argmin(axis=1)
    return nearest

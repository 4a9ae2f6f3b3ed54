"""Preferences of judged documents, without ever forming the pairs.

Each query's documents are sorted by grade, best first; the documents that document ``i`` is preferred to are then
one contiguous range that starts at ``lower[i]``. Features are centred per query: no difference of two documents
changes, and the shortcuts of the kernels stay accurate.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qdrank.errors import InputError
from qdrank.layout import FloatArray, IntArray, rows_of_queries
from qdrank.registry import refuse_unknown


@dataclass(frozen=True)
class Preferences:
    """Judged documents made ready for pairwise learning.

    Attributes
    ----------
    X : (n_documents, n_features) float32 or float64; features, sorted by falling grade and centred within each query
    offsets : (n_queries + 1,) int64; query ``q`` owns the rows ``offsets[q]`` to ``offsets[q + 1] - 1``
    lower : (n_documents,) int64
        First document of the same query with a lower grade, counted from the query's first row; the query's
        length if there is none.
    pairs : (n_queries,) int64; pairs of documents with different grades
    """

    X: NDArray[Any]
    offsets: IntArray
    lower: IntArray
    pairs: IntArray

    @property
    def n_queries(self) -> int:
        """Number of queries, including those without pairs."""
        return len(self.pairs)

    @property
    def n_features(self) -> int:
        """Number of features."""
        return int(self.X.shape[1])


def prepare(X: NDArray[Any], y: NDArray[Any], offsets: IntArray, *, overwrite: bool = False) -> Preferences:
    """Sort and centre judged documents.

    Parameters
    ----------
    X : (n_documents, n_features) array; features; float32 stays float32, all else becomes float64
    y : (n_documents,) array; grades, the higher the better
    offsets : (n_queries + 1,) int64; bounds of the queries
    overwrite : bool; whether the memory of ``X`` may be used for the result
    """
    from qdrank.learners.ranksvm import (
        kernels,  # numba takes long to import, and many users of preferences do not prepare them
    )

    X, y = np.asarray(X), np.asarray(y)
    offsets = np.ascontiguousarray(offsets, dtype=np.int64)
    _check(X, y, offsets)
    dtype = np.float32 if X.dtype == np.float32 else np.float64
    X = np.ascontiguousarray(X, dtype=dtype)
    ready, lower = X if overwrite else np.empty_like(X), np.empty(len(y), dtype=np.int64)
    pairs = np.zeros(len(offsets) - 1, dtype=np.int64)
    if not kernels.arrange(X, y.astype(np.float64), offsets, ready, lower, pairs):
        raise InputError("a feature is not finite", fix="fill in or drop missing values before training")
    return Preferences(ready, offsets, lower, pairs)


def _check(X: NDArray[Any], y: NDArray[Any], offsets: IntArray) -> None:
    if X.ndim != 2 or y.ndim != 1 or len(X) != len(y):
        raise InputError(f"features {X.shape} and grades {y.shape} do not match")
    if not np.issubdtype(y.dtype, np.number):
        raise InputError(f"grades must be numbers, not {y.dtype}")
    if not np.isfinite(y).all():
        raise InputError("a grade is not finite", fix="give every document a grade")
    if len(offsets) == 0 or offsets[0] != 0 or offsets[-1] != len(y) or (np.diff(offsets) < 0).any():
        raise InputError("the offsets do not cover the documents", fix="use qdrank.layout.query_offsets")


def subset(data: Preferences, queries: IntArray) -> Preferences:
    """Some queries, in the order given."""
    rows, offsets = rows_of_queries(data.offsets, queries)
    return Preferences(data.X[rows], offsets, data.lower[rows], data.pairs[queries])


def pair_weights(pairs: IntArray, weighting: str, weights: NDArray[Any] | None = None) -> FloatArray:
    """Weight of every single pair of each query, not yet normalised, shape of ``weights`` or (n_queries,).

    ``weighting`` is "pairs" (each pair counts the same) or "equal" (each query counts the same: 1 / its pairs);
    ``weights`` multiply it.
    """
    refuse_unknown("query weighting", weighting, ("pairs", "equal"))
    given = np.ones(pairs.shape) if weights is None else np.asarray(weights, dtype=np.float64)
    if given.shape != pairs.shape:
        raise InputError(f"{pairs.shape} query weights are needed, not {given.shape}")
    if not (np.isfinite(given).all() and (given >= 0).all()):
        raise InputError("query weights must be finite and not negative")
    return np.where(pairs > 0, given / np.maximum(pairs, 1), 0.0) if weighting == "equal" else given


def normal_matrix(data: Preferences, coef: FloatArray, batch: int = 65_536) -> FloatArray:
    """Sum over all pairs of ``coef[q] (x_i - x_j)(x_i - x_j)^T``, shape (n_features, n_features).

    This is ``X_q^T L_q X_q`` with the Laplacian of the query's preference graph, which is complete between grades:
    ``L_q X_q`` needs no more than one sum of features per grade.
    """
    from qdrank.learners.ranksvm import kernels

    d = data.n_features
    total = np.zeros((d, d))
    bounds = np.searchsorted(data.offsets, np.arange(0, data.offsets[-1] + batch, batch))
    bounds[-1] = data.n_queries
    for first, last in pairwise(bounds):
        start, end = data.offsets[first], data.offsets[last]
        if end > start:
            images = np.empty((end - start, d), data.X.dtype)
            kernels.laplacian_images(data.X, data.offsets, data.lower, coef, first, last, images)
            total += data.X[start:end].T @ images
    return (total + total.T) / 2

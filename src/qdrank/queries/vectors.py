"""Query vectors: what the best documents of a query look like on average (Geng 2008, section 3.2.1).

The documents of a query are ranked by a reference feature (BM25 in the paper); the vector of the query is the
mean of the features of its top T documents. Everything here works on whole blocks of queries, and every row of a
result depends on its own query alone, so equal queries get equal vectors to the last bit. Also their principal plane, and their
k-means: classes if the data have none, and groups of training queries that share a model.
"""

from __future__ import annotations

import warnings
from itertools import pairwise
from math import ceil, log10
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from qdrank.errors import InputError
from qdrank.layout import FloatArray, IntArray, query_index
from qdrank.registry import refuse_unknown

Pooling = Literal["mean", "mean+std", "mean+std+max", "none"]
Missing = Literal["error", "omit"]
POOLINGS: tuple[Pooling, ...] = ("mean", "mean+std", "mean+std+max")

#: Documents pooled at a time: bounds the float64 copy of their features.
_BLOCK = 65_536


def query_vectors(
    X: NDArray[Any],
    offsets: IntArray,
    reference: int | NDArray[Any],
    *,
    top: int = 50,
    pooling: Pooling = "mean",
    missing: Missing = "error",
) -> FloatArray:
    """Pool the features of each query's top documents into one vector.

    Returns an array of shape (n_queries, n_features * number of statistics).

    Parameters
    ----------
    X : (n_documents, n_features) features, each query's documents contiguous
    offsets : (n_queries + 1,) bounds of the queries, see :func:`qdrank.layout.query_offsets`
    reference : int or array of shape (n_documents,)
        Column of the reference feature, or the reference scores themselves.
    top : T of the paper; a query with fewer documents uses all of them
    pooling : {"mean", "mean+std", "mean+std+max", "none"}
        Statistics to take; each adds n_features columns. "none": no column, whatever the documents are.
    missing : {"error", "omit"}
        Whether NaN among the features is an error or is left out of the statistics; a statistic of no values is NaN.
    """
    if pooling == "none":
        return np.empty((len(offsets) - 1, 0))
    refuse_unknown("pooling", pooling, POOLINGS)
    scores = X[:, reference] if isinstance(reference, int | np.integer) else np.asarray(reference)
    rows, bounds = top_documents(scores, offsets, top)
    blocks = [
        _pool(_documents(X, rows[bounds[a] : bounds[b]], missing), bounds[a : b + 1] - bounds[a], pooling)
        for a, b in _query_blocks(bounds)
    ]
    width = X.shape[1] * len(pooling.split("+"))
    return np.concatenate(blocks) if blocks else np.empty((0, width))


def top_documents(scores: NDArray[Any], offsets: IntArray, top: int) -> tuple[IntArray, IntArray]:
    """Rows of each query's ``top`` best documents, in row order, and the bounds of the queries among them.

    Ties keep row order; a document without a score (NaN) ranks last.
    """
    if top < 1:
        raise InputError(f"top must be at least 1, not {top}")
    if np.any(np.diff(offsets) == 0):
        raise InputError("a query without documents has no vector")
    query = query_index(offsets)
    order = np.lexsort((-scores.astype(np.float64), query))  # stable: ties keep row order
    rank = np.arange(len(query)) - offsets[query]
    rows = np.sort(order[rank < top])
    bounds = np.concatenate([[0], np.cumsum(np.minimum(np.diff(offsets), top))])
    return rows, bounds.astype(np.int64)


def _query_blocks(bounds: IntArray) -> list[tuple[int, int]]:
    """Runs of whole queries of about ``_BLOCK`` documents."""
    cuts = np.flatnonzero(np.diff(bounds[:-1] // _BLOCK)) + 1
    edges = [0, *cuts.tolist(), len(bounds) - 1]
    return [(a, b) for a, b in pairwise(edges) if a < b]


def _documents(X: NDArray[Any], rows: IntArray, missing: Missing) -> FloatArray:
    """Copy the features of ``rows`` as float64, checked."""
    features = X[rows].astype(np.float64)
    bad = ~np.isfinite(features) if missing == "error" else np.isinf(features)
    if bad.any():
        row, column = np.argwhere(bad)[0]
        raise InputError(
            f"feature {column + 1} of document row {rows[row]} has no finite value",
            found=str(features[row, column]),
            fix="fill the missing values, or use missing='omit'",
        )
    return features


def _pool(features: FloatArray, bounds: IntArray, pooling: Pooling) -> FloatArray:
    """Statistics of each run of rows, side by side, shape (n_queries, n_statistics * n_features)."""
    present = ~np.isnan(features)
    count = np.add.reduceat(present, bounds[:-1], axis=0, dtype=np.float64)
    count[count == 0] = np.nan
    mean = _sums(np.where(present, features, 0.0), bounds) / count
    columns = [mean]
    if "std" in pooling:
        deviation = np.where(present, features - np.repeat(mean, np.diff(bounds), axis=0), 0.0)
        columns.append(np.sqrt(_sums(deviation**2, bounds) / count))
    if "max" in pooling:
        largest = np.maximum.reduceat(np.where(present, features, -np.inf), bounds[:-1], axis=0)
        columns.append(np.where(np.isfinite(largest), largest, np.nan))
    return np.hstack(columns)


def _sums(values: FloatArray, bounds: IntArray) -> FloatArray:
    return np.asarray(np.add.reduceat(values, bounds[:-1], axis=0))


class Standardiser:
    """Columns scaled to mean 0 and deviation 1 on the training queries; constant columns become 0.

    Parameters
    ----------
    scale : False leaves the columns as they are ("raw") and only fills missing values

    A missing value (NaN) becomes the column's training mean.
    """

    def __init__(self, *, scale: bool = True) -> None:
        self.scale = scale

    def fit(self, vectors: FloatArray) -> Self:
        """Learn means and deviations from training query vectors, shape (n_queries, n_columns)."""
        present = ~np.isnan(vectors)
        count = np.maximum(present.sum(axis=0), 1)
        self.mean_: FloatArray = np.where(present, vectors, 0.0).sum(axis=0) / count
        centred = np.where(present, vectors - self.mean_, 0.0)
        deviation = np.sqrt((centred**2).sum(axis=0) / count)
        # Rounding leaves a tiny deviation in a constant column; dividing by it would make noise a feature.
        constant = deviation <= 1e-12 * np.maximum(np.abs(self.mean_), 1e-300)
        self.scale_: FloatArray = np.where(constant, np.inf, deviation)
        return self

    def transform(self, vectors: FloatArray) -> FloatArray:
        """Return standardised vectors of the same shape."""
        filled = np.where(np.isnan(vectors), self.mean_, vectors)
        return (filled - self.mean_) / self.scale_ if self.scale else filled


def principal_axes(vectors: FloatArray, components: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Mean (n_columns,), leading axes (n_columns, r) and variances along all axes, descending; r is at most the rank.

    An axis points to where its largest entry, the first among equals, is positive.
    """
    mean: FloatArray = vectors.mean(axis=0)
    _, lengths, rows = np.linalg.svd(vectors - mean, full_matrices=False)
    kept = min(components, int((lengths > 1e-10 * max(lengths.max(initial=0.0), 1e-300)).sum()))
    axes = rows[:kept].T
    heaviest = np.argmax(np.abs(axes).round(9), axis=0) if kept else np.zeros(0, dtype=np.int64)
    return mean, axes * np.sign(axes[heaviest, np.arange(kept)]), lengths**2 / max(len(vectors), 1)


def principal_plane(vectors: FloatArray, train: NDArray[np.bool_]) -> tuple[FloatArray, FloatArray]:
    """Queries in the first two principal components of the training queries, (n_queries, 2), and explained shares."""
    mean, axes, variances = principal_axes(vectors[train], 2)
    plane = np.zeros((len(vectors), 2))
    plane[:, : axes.shape[1]] = row_product(vectors - mean, axes)
    return plane, variances[:2] / max(variances.sum(), 1e-300)


def row_product(rows: FloatArray, matrix: FloatArray) -> FloatArray:
    """Compute ``rows @ matrix`` so that each row of the result depends on its row alone.

    BLAS rounds a row differently according to the rows around it, so equal queries would differ in the last bit,
    and ties between neighbours would depend on the batch.
    """
    product = np.zeros((len(rows), matrix.shape[1]))
    for column, weights in zip(rows.T, matrix, strict=True):
        product += column[:, None] * weights
    return product


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

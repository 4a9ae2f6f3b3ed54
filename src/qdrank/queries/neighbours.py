"""Nearest training queries, exactly: the k-NN graph of the query space.

Distances are first estimated for whole blocks at once, which is fast but rounds differently from block to block.
The estimate only proposes candidates, with a margin wider than its error; the candidates' distances are then
computed one pair at a time, in a way that depends on the two vectors alone. So the result is the same whatever
the block size, the BLAS library or the search structure, and ties are true ties, broken by query id.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from qdrank.errors import InputError
from qdrank.layout import FloatArray, IntArray, query_index
from qdrank.queries.metrics import Cosine, Euclidean

Search = Literal["brute", "kdtree"]

#: Numbers in one block of estimated distances, 16 MiB.
_BLOCK = 2**21
#: Numbers in one block of exact differences, small enough for the cache.
_PAIRS = 2**15
#: Number of queries per KD-tree search.
TREE_BLOCK = 256
#: Largest value of a vector whose square is safe.
LARGEST_COORDINATE = 1e140


class Neighbours(NamedTuple):
    """The k nearest training queries of each query, nearest first."""

    rows: NDArray[np.int32]
    """Rows of the training queries, shape (n_queries, k)."""
    distance: FloatArray
    """Their distances, shape (n_queries, k)."""


class Within(NamedTuple):
    """The training queries within a radius of each query, nearest first; query i owns bounds[i] to bounds[i + 1]."""

    bounds: IntArray
    rows: NDArray[np.int32]
    distance: FloatArray


def neighbours(
    vectors: FloatArray,
    train: FloatArray,
    k: int,
    *,
    train_index: IntArray | None = None,
    ids: NDArray[Any] | None = None,
    metric: Euclidean | None = None,
    search: Search = "brute",
    block: int | None = None,
) -> Neighbours:
    """Find the k nearest training queries of every query.

    Parameters
    ----------
    vectors : (n_queries, n_columns) queries whose neighbours are searched
    train : (n_train, n_columns) training queries
    k : number of neighbours, at most n_train
    train_index : array of shape (n_queries,), optional
        Row in ``train`` of each query that is itself a training query, -1 for the others. It becomes its own
        first neighbour, even if there are duplicates.
    ids : (n_train,) ids of the training queries, which break ties; without them the row order does
    metric : a fitted metric (see :mod:`qdrank.queries.metrics`); Euclidean by default
    search : {"brute", "kdtree"}; how candidates are found; the result is the same
    block : rows estimated at a time; changes memory and speed, never the result
    """
    return TrainingQueries(train, ids, metric).nearest(vectors, k, train_index, search=search, block=block)


def within_radius(
    vectors: FloatArray,
    train: FloatArray,
    radius: float,
    *,
    train_index: IntArray | None = None,
    ids: NDArray[Any] | None = None,
    metric: Euclidean | None = None,
    least: int = 0,
    block: int | None = None,
) -> Within:
    """Find all training queries at a distance of at most ``radius``, but the ``least`` nearest in any case.

    Parameters are those of :func:`neighbours`; ``least`` gives an isolated query something to learn from.
    """
    least = min(least, len(train))
    space = _Space(vectors, TrainingQueries(train, ids, metric), train_index)
    limit = space.train.metric.raw(radius) * (1 + 1e-12)  # the exact test follows
    blocks = [_kept(space, radius, least, *near) for near in _block_candidates(space, least, block, limit)]
    counts = np.concatenate([[0], *(of_block[0] for of_block in blocks)])
    index = np.concatenate([np.empty(0, dtype=np.int64), *(of_block[1] for of_block in blocks)])
    distance = np.concatenate([np.empty(0), *(of_block[2] for of_block in blocks)])
    return Within(np.cumsum(counts, dtype=np.int64), space.train.rows[index].astype(np.int32), distance)


def _kept(
    space: _Space, radius: float, least: int, start: int, bounds: IntArray, candidates: IntArray
) -> tuple[IntArray, IntArray, FloatArray]:
    """Number of candidates near enough to each query of the block, and their rows and distances."""
    order, distance = space.sorted_candidates(start, bounds, candidates)
    query = query_index(bounds)
    kept = (distance <= radius) | (np.arange(len(order)) - bounds[query] < least)
    return np.bincount(query[kept], minlength=len(bounds) - 1), order[kept], distance[kept]


#: First query of a block, bounds of each query's candidates, the candidates: ascending rows of ``TrainingQueries.points``.
_Candidates = Iterator[tuple[int, IntArray, IntArray]]


class TrainingQueries:
    """Training queries as points of a metric's space, prepared for finding the nearest; parameters as for `neighbours`."""

    def __init__(self, vectors: FloatArray, ids: NDArray[Any] | None = None, metric: Euclidean | None = None) -> None:
        self.metric, self.n_columns = metric or Euclidean(), vectors.shape[1]
        self.rows: IntArray = np.arange(len(vectors)) if ids is None else np.argsort(ids, kind="stable")
        self.points = np.ascontiguousarray(self.mapped(vectors)[self.rows])  # in the order of ids
        self.estimate = (_l1_estimate if self.metric.norm == "l1" else _l2_estimate)(self.points)

    def nearest(
        self,
        vectors: FloatArray,
        k: int,
        train_index: IntArray | None = None,
        *,
        search: Search = "brute",
        block: int | None = None,
    ) -> Neighbours:
        """The k nearest of every query, as `neighbours` finds them."""
        if not 1 <= k <= len(self.rows):
            raise InputError(
                f"{k} neighbours were asked for", fix=f"ask for 1 to {len(self.rows)}, the number of training queries"
            )
        space = _Space(vectors, self, train_index)
        blocks = _tree_candidates(space, k) if search == "kdtree" else _block_candidates(space, k, block)
        rows = np.empty((len(vectors), k), dtype=np.int32)
        distance = np.empty((len(vectors), k))
        for start, bounds, candidates in blocks:
            order, distances = space.sorted_candidates(start, bounds, candidates)
            taken = bounds[:-1, None] + np.arange(k)
            block_rows = slice(start, start + len(taken))
            rows[block_rows] = self.rows[order[taken]]
            distance[block_rows] = distances[taken]
        return Neighbours(rows, distance)

    def mapped(self, vectors: FloatArray) -> FloatArray:
        """Where queries (n_queries, n_columns) lie in the space of the metric."""
        if vectors.shape[1] != self.n_columns:
            raise InputError(f"query vectors of {vectors.shape[1]} and of {self.n_columns} columns do not match")
        if not np.isfinite(vectors).all():
            raise InputError("a query vector has a value that is not finite")
        if np.abs(vectors).max(initial=0.0) > LARGEST_COORDINATE and not isinstance(self.metric, Cosine):
            raise InputError(
                f"a query vector has a value above {LARGEST_COORDINATE:g}", fix="z-score the query vectors"
            )
        return np.ascontiguousarray(self.metric.transform(vectors))


class _Space:
    """Queries in the space of the training queries."""

    def __init__(self, vectors: FloatArray, train: TrainingQueries, train_index: IntArray | None) -> None:
        self.train, self.vectors = train, train.mapped(vectors)
        self.train_index = np.full(len(vectors), -1) if train_index is None else self._sorted_rows(train_index)

    def _sorted_rows(self, rows: IntArray) -> IntArray:
        place = np.empty(len(self.train.rows) + 1, dtype=np.int64)
        place[self.train.rows] = np.arange(len(self.train.rows))
        place[-1] = -1
        return place[rows]

    def sorted_candidates(self, start: int, bounds: IntArray, candidates: IntArray) -> tuple[IntArray, FloatArray]:
        """Candidates of each query by exact distance, then id, its own row first; and the distances."""
        query = query_index(bounds)
        distance = self.exact(query + start, candidates)
        place = np.arange(len(candidates)) - bounds[query]
        key = np.full((len(bounds) - 1, place.max(initial=-1) + 1), np.inf)
        key[query, place] = np.where(candidates == self.train_index[query + start], -1.0, distance)
        order = np.argsort(key, axis=1, kind="stable")  # candidates come in id order: ties keep it
        order = (order + bounds[:-1, None])[np.arange(key.shape[1]) < np.diff(bounds)[:, None]]
        return candidates[order], distance[order]

    def exact(self, query: IntArray, candidates: IntArray) -> FloatArray:
        """Distances of pairs, each a function of its two vectors alone."""
        raw = np.empty(len(query))
        points, metric = self.train.points, self.train.metric
        step = max(1, _PAIRS // max(1, points.shape[1]))
        for a in range(0, len(query), step):
            apart = np.take(self.vectors, query[a : a + step], axis=0)
            apart -= np.take(points, candidates[a : a + step], axis=0)
            (np.abs if metric.norm == "l1" else np.square)(apart, out=apart)
            # NumPy sums a contiguous row in an order that depends on its length alone.
            np.sum(apart, axis=1, out=raw[a : a + step])
        return metric.distance(raw)


def _block_candidates(space: _Space, k: int, block: int | None, limit: float = -np.inf) -> _Candidates:
    """For each block of queries the training queries that may be among the k nearest, or within ``limit``."""
    block = block or max(1, _BLOCK // max(1, len(space.train.points)))
    for start in range(0, len(space.vectors), block):
        raw, error = space.train.estimate(space.vectors[start : start + block])
        cut = np.full(len(raw), limit)
        if k:
            # Each estimate is off by at most `error`, so the true k nearest have estimates within twice that of
            # the k-th smallest estimate.
            cut = np.maximum(cut, np.partition(raw, k - 1, axis=1)[:, k - 1] + error)
        query, candidates = np.nonzero(raw <= (cut + error)[:, None])
        yield start, np.searchsorted(query, np.arange(len(raw) + 1)), candidates


#: Estimated raw sums of a block of queries to all training queries, and a bound on their error for each query.
_Estimate = Callable[[FloatArray], tuple[FloatArray, FloatArray]]


def _l2_estimate(points: FloatArray) -> _Estimate:
    """Squared distances by |x|² + |y|² - 2 x.y, one matrix product per block."""
    centre = points.mean(axis=0)  # centring reduces cancellation in the difference
    train = points - centre
    squares = np.square(train).sum(axis=1)
    slack = 8 * (train.shape[1] + 8) * np.finfo(np.float64).eps

    def estimate(vectors: FloatArray) -> tuple[FloatArray, FloatArray]:
        vectors = vectors - centre
        lengths = np.square(vectors).sum(axis=1)
        raw = vectors @ train.T
        raw *= -2
        raw += squares
        raw += lengths[:, None]
        return raw, slack * (lengths + squares.max())

    return estimate


def _l1_estimate(points: FloatArray) -> _Estimate:
    """Sums of absolute differences."""
    from scipy.spatial.distance import cdist

    slack = 8 * (points.shape[1] + 8) * np.finfo(np.float64).eps

    def estimate(vectors: FloatArray) -> tuple[FloatArray, FloatArray]:
        raw = cdist(vectors, points, "cityblock")
        return raw, slack * raw.max(axis=1)

    return estimate


def _tree_candidates(space: _Space, k: int) -> _Candidates:
    """The same candidates from a KD-tree, which pays off in few dimensions."""
    from scipy.spatial import cKDTree

    tree = cKDTree(space.train.points)
    p = 1.0 if space.train.metric.norm == "l1" else 2.0
    for start in range(0, len(space.vectors), TREE_BLOCK):
        vectors = space.vectors[start : start + TREE_BLOCK]
        farthest = np.asarray(tree.query(vectors, k=[k], p=p)[0])[:, 0]
        # a little more than the k-th distance, for rounding and ties
        inside = tree.query_ball_point(vectors, farthest * (1 + 1e-9), p=p, return_sorted=True)
        bounds = np.concatenate([[0], np.cumsum([len(rows) for rows in inside])]).astype(np.int64)
        yield start, bounds, np.concatenate([np.asarray(rows, dtype=np.int64) for rows in inside])

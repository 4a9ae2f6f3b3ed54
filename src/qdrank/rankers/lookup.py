"""From the vector of one query to the training query whose model serves it, fast and exactly as in a study.

What does not depend on the query is prepared once. The answers are those of `qdrank.queries.neighbours` and
`qdrank.rankers.knn`, ties included: an estimate by one matrix-vector product proposes, and where its error could
matter, exact distances decide.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from qdrank.errors import InputError
from qdrank.layout import FloatArray, IntArray
from qdrank.queries.metrics import Cosine, Euclidean
from qdrank.queries.neighbours import LARGEST_COORDINATE
from qdrank.rankers.knn import Alikeness, gamma

#: Up to this many training queries their neighbourhoods are kept as a matrix, 64 MiB,
_DENSE_MOST = 4096
#: if they hold at least this share of them; else as inverted lists.
_DENSE_SHARE = 0.05


class TrainingSpace:
    """Training queries as points, prepared for nearest-neighbour search.

    Parameters
    ----------
    vectors : (m, n_columns) vectors of the training queries
    ids : (m,) their ids, which break ties
    metric : a fitted metric
    """

    def __init__(self, vectors: FloatArray, ids: NDArray[Any], metric: Euclidean) -> None:
        self.metric = metric
        self.rows: IntArray = np.argsort(ids, kind="stable").astype(np.int64)  # points are kept in the order of ids
        self.place = np.argsort(self.rows)
        self.points = np.ascontiguousarray(metric.transform(vectors)[self.rows])
        self._centre = self.points.mean(axis=0)  # centring reduces cancellation in the difference
        self._centred = self.points - self._centre
        self._squares: FloatArray = np.square(self._centred).sum(axis=1)
        self._slack = 8 * (self.points.shape[1] + 8) * np.finfo(np.float64).eps

    def point(self, vector: FloatArray) -> FloatArray:
        """Where a query (n_columns,) lies in the space of the metric."""
        if not np.isfinite(vector).all():
            raise InputError("a query vector has a value that is not finite")
        if np.abs(vector).max(initial=0.0) > LARGEST_COORDINATE and not isinstance(self.metric, Cosine):
            raise InputError(
                f"a query vector has a value above {LARGEST_COORDINATE:g}", fix="z-score the query vectors"
            )
        point: FloatArray = self.metric.transform(vector[None, :])[0]
        return point

    def nearest(self, point: FloatArray) -> int:
        """Row of the training query nearest to a point."""
        raw, error = self._estimate(point)
        return int(self.rows[self._by_distance(point, np.flatnonzero(raw <= raw.min() + 4 * error))[0]])

    def neighbourhood(self, point: FloatArray, k: int) -> IntArray:
        """Rows of the ``k`` nearest training queries, shape (k,), in no order."""
        if k >= len(self.points):
            return self.rows
        raw, error = self._estimate(point)
        border = np.partition(raw, k - 1)[k - 1]
        # Both an estimate and the border are off by at most `error`; taking roots may also round close values together.
        inside = np.flatnonzero(raw < border - 4 * error)
        doubtful = np.flatnonzero(np.abs(raw - border) <= 4 * error)
        kept = self._by_distance(point, doubtful)[: k - len(inside)]
        rows: IntArray = self.rows[np.concatenate([inside, kept])]
        return rows

    def first_of(self, point: FloatArray, rows: IntArray) -> int:
        """The training query among ``rows`` that is nearest to a point."""
        return int(self.rows[self._by_distance(point, np.sort(self.place[rows]))[0]])

    def _by_distance(self, point: FloatArray, candidates: IntArray) -> IntArray:
        """Candidates, given in ascending order, sorted by exact distance and then id."""
        if len(candidates) < 2:
            return candidates
        distance = self.metric.distance(self._raw(point, self.points[candidates]))
        return candidates[np.argsort(distance, kind="stable")]

    def _raw(self, point: FloatArray, points: FloatArray) -> FloatArray:
        """Exact sums of a point's differences to others, each a function of its two points alone."""
        apart = point - points
        (np.abs if self.metric.norm == "l1" else np.square)(apart, out=apart)
        return np.asarray(apart.sum(axis=1))

    def _estimate(self, point: FloatArray) -> tuple[FloatArray, float]:
        """Sums to all training queries, and a bound on their error; squares by |x|² + |y|² - 2 x.y."""
        if self.metric.norm == "l1":
            return self._raw(point, self.points), 0.0
        centred = point - self._centre
        length = float(centred @ centred)
        raw = self._centred @ centred
        raw *= -2
        raw += self._squares
        raw += length
        return raw, self._slack * (length + float(self._squares.max()))


class Neighbourhoods:
    """Neighbourhoods of the training queries, prepared for comparison with that of a new query (eq. 1 of `qdrank.rankers.knn`).

    Parameters
    ----------
    neighbours : (m, k) neighbours of the training queries
    pairs : (m,) document pairs of the training queries
    alike : what makes two neighbourhoods alike, see `qdrank.rankers.knn.offline1`
    """

    def __init__(self, neighbours: NDArray[np.int32], pairs: IntArray, alike: Alikeness) -> None:
        m, self.k = neighbours.shape
        self._alike = alike
        self._size: IntArray = np.ones(m, dtype=np.int64) if alike == "shared_queries" else pairs.astype(np.int64)
        self._totals = self._size[neighbours].sum(axis=1)
        self._matrix = np.zeros((0, 0), dtype=np.int32)
        if m <= _DENSE_MOST and self.k >= _DENSE_SHARE * m and self._totals.max() < 2**30:
            self._matrix = np.zeros((m, m), dtype=np.int32)
            self._matrix[neighbours.T, np.arange(m)] = self._size[neighbours.T]
        else:
            members = neighbours.ravel()
            self._owners = (np.argsort(members, kind="stable") // self.k).astype(np.int32)
            self._starts = np.concatenate([[0], np.cumsum(np.bincount(members, minlength=m))]).astype(np.int64)

    def likeness(self, members: IntArray) -> NDArray[Any]:
        """How much each neighbourhood is like the set ``members`` of training queries, shape (m,); more is better."""
        shared = self._shared(members)
        if self._alike != "smallest_gamma":
            return shared
        return -gamma(self._size[members].sum(), self._totals, shared)

    def _shared(self, members: IntArray) -> NDArray[Any]:
        """Size of what each neighbourhood shares with ``members``, shape (m,)."""
        if self._matrix.size:
            return np.asarray(self._matrix[members].sum(axis=0, dtype=np.int32))
        sizes = np.diff(self._starts)[members]
        places = np.arange(sizes.sum()) + np.repeat(self._starts[members] - np.cumsum(sizes) + sizes, sizes)
        shared = np.zeros(len(self._size), dtype=np.int64)
        np.add.at(shared, self._owners[places], np.repeat(self._size[members], sizes))
        return shared


class Offline1:
    """The training query whose neighbourhood is most like that of a query; ties to the nearer one.

    Parameters
    ----------
    space, neighbourhoods : of the training queries
    largest : number of neighbours the study stored; training queries beyond them tie, and the lower row wins
    """

    def __init__(self, space: TrainingSpace, neighbourhoods: Neighbourhoods, largest: int) -> None:
        self.space, self.neighbourhoods, self.largest = space, neighbourhoods, largest

    def __call__(self, vector: FloatArray) -> int:
        """Row of the training query that serves a query vector (n_columns,)."""
        point = self.space.point(vector)
        return self.best(point, self.space.neighbourhood(point, self.neighbourhoods.k))

    def best(self, point: FloatArray, members: IntArray) -> int:
        """Row of the training query that serves a point with the neighbourhood ``members``."""
        alike = self.neighbourhoods.likeness(members)
        tied = np.flatnonzero(alike == alike.max())
        if len(tied) > 1 and self.largest < len(alike):
            near = np.intersect1d(tied, self.space.neighbourhood(point, self.largest))
            tied = near if len(near) else tied[:1]
        return int(tied[0]) if len(tied) == 1 else self.space.first_of(point, tied)


class Offline2:
    """The nearest training query."""

    def __init__(self, space: TrainingSpace) -> None:
        self.space = space

    def __call__(self, vector: FloatArray) -> int:
        """Row of the training query that serves a query vector (n_columns,)."""
        return self.space.nearest(self.space.point(vector))

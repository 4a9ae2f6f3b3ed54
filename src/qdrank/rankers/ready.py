"""Local models trained in advance, one for the neighbourhood of each training query; one of them serves each query.

`nearest` takes the model of the nearest training query; the other ways take that of the training query whose
neighbourhood is most like the query's own (see `qdrank.rankers.knn`).

From the vector of one query to the training query whose model serves it, fast and exactly as in a study.

What does not depend on the query is prepared once. The answers are those of `qdrank.queries.neighbours` and
`qdrank.rankers.knn`, ties included: an estimate by one matrix-vector product proposes, and where its error could
matter, exact distances decide.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from qdrank.datasets.judged import Judged
from qdrank.errors import InputError
from qdrank.layout import FloatArray, IntArray
from qdrank.queries.graph import metric_with
from qdrank.queries.metrics import Cosine, Euclidean
from qdrank.queries.neighbours import LARGEST_COORDINATE
from qdrank.queries.sizes import neighbour_count
from qdrank.rankers.base import QueryRanker, Validation, refuse_other_vectors
from qdrank.rankers.documents import query_scores
from qdrank.rankers.knn import ALIKE, Alikeness, gamma

if TYPE_CHECKING:
    from qdrank.learners.ranksvm.estimator import Penalty


_Choice = Literal["nearest"] | Alikeness


@dataclass(kw_only=True, eq=False)
class ReadyModels(QueryRanker):
    """Models prepared for the training queries.

    Parameters
    ----------
    k : number of training queries per model; values up to 1 are shares of them
    lam, penalty, tol : as for `RankSVM`
    choice : "nearest", or what makes two neighbourhoods alike; which model serves a query
    metric : name of the distance between query vectors
    largest : number of a query's neighbours used to break ties between equally similar neighbourhoods; all by default
    """

    NAME: ClassVar[str] = "ready"

    k: float = 0.27
    lam: float = 0.01
    penalty: Penalty = "half"
    tol: float = 1e-6
    choice: _Choice = "shared_pairs"
    metric: str = "euclidean"
    largest: int | None = None
    weights_: FloatArray = field(init=False, repr=False)
    """(m, n_features) weights of the model of each training query."""
    vectors_: FloatArray = field(init=False, repr=False)
    query_id_: NDArray[np.object_] = field(init=False, repr=False)
    neighbours_: NDArray[np.int32] = field(init=False, repr=False)
    """(m, k) training queries of each model."""
    pairs_: IntArray = field(init=False, repr=False)
    map_: FloatArray = field(init=False, repr=False)
    """(n_columns, rank) the map that the metric has learned; of size 0 if it learns nothing."""

    def __post_init__(self) -> None:
        if self.choice not in ("nearest", *ALIKE):
            raise InputError(f"unknown choice {self.choice!r}", fix="allowed: " + ", ".join(("nearest", *ALIKE)))

    def fit(self, train: Judged, vectors: FloatArray, validation: Validation | None = None) -> Self:  # noqa: ARG002
        """Train a model for the neighbourhood of every training query."""
        from qdrank.learners.ranksvm.blocks import block_size, locality_order, make_blocks
        from qdrank.learners.ranksvm.local import prepare_training, train_local
        from qdrank.learners.ranksvm.preferences import prepare
        from qdrank.queries.graph import fitted_metric
        from qdrank.queries.neighbours import neighbours

        refuse_other_vectors(train, vectors)
        m, self.vectors_, self.query_id_ = len(vectors), np.asarray(vectors, dtype=np.float64), train.query_id
        metric = fitted_metric(self.metric, self.vectors_, train)
        self.map_ = getattr(metric, "map_", np.zeros((0, 0)))
        k = neighbour_count(self.k, m)
        near = neighbours(self.vectors_, self.vectors_, k, train_index=np.arange(m), ids=self.query_id_, metric=metric)
        self.neighbours_, self.pairs_ = near.rows, train.pairs
        base = prepare_training(
            prepare(train.X, train.y, train.offsets), lam=self.lam, penalty=self.penalty, tol=self.tol
        )
        size = block_size(None, m)
        models = train_local(base, near.rows, make_blocks(locality_order(self.vectors_, size), size), tol=self.tol)
        self.weights_ = np.empty_like(models.W)
        self.weights_[models.rows] = models.W
        self.__dict__.pop("finder", None)
        return self

    def predict(self, documents: Judged, vectors: FloatArray) -> FloatArray:
        """Scores (n_documents,), each query's by the model that serves it."""
        refuse_other_vectors(documents, vectors)
        return query_scores(documents, self.weights_[self.models(vectors)])

    def models(self, vectors: FloatArray) -> IntArray:
        """Training query whose model serves each of the queries with these vectors, shape (n_queries,)."""
        self.refuse_unfitted()
        return np.array([self.finder(vector) for vector in vectors], dtype=np.int64)

    @cached_property
    def finder(self) -> Offline1 | Offline2:
        """From the vector of a query to the training query whose model serves it."""
        fitted: Euclidean = metric_with(self.metric, self.map_)
        space = TrainingSpace(self.vectors_, self.query_id_, fitted)
        if self.choice == "nearest":
            return Offline2(space)
        largest = len(self.vectors_) if self.largest is None else self.largest
        return Offline1(space, Neighbourhoods(self.neighbours_, self.pairs_, self.choice), largest)


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

"""A linear model for each query, learned from the training queries near to it when it arrives, or ready before.

With w_S, the model of all training queries (Single), the model of a query minimises::

    lam/2 [(1 - proximity) |w|^2 + proximity |w - w_S|^2] + mean of u(q') max(0, 1 - w.(x_i - x_j))^2 over its pairs

which is the objective of `RankSVM` with the centre ``proximity w_S``. The pairs are those of the k nearest training queries. With
``hard`` weights all have u = 1. With ``kernel`` weights u = exp(-d^2 / 2 h^2), where h is the distance of the k-th neighbour, and the
nearest 3 k take part. The score is that of ``mix w + (1 - mix) w_S``.

Ready models are trained in advance, one for the neighbourhood of each training query; one of them serves each query: that
of the nearest training query, or that whose neighbourhood is most like the query's own (see `qdrank.rankers.knn`). They
are served without the code that trains, which is imported when it is used.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qdrank.datasets.judged import Judged
from qdrank.errors import InputError
from qdrank.layout import FloatArray, IntArray, query_index
from qdrank.learners.base import Learner
from qdrank.learners.inputs import as_offsets
from qdrank.queries.graph import metric_with
from qdrank.queries.neighbours import TrainingQueries, neighbours
from qdrank.queries.sizes import neighbour_count
from qdrank.queries.vectors import Pooling, Standardiser, query_vectors
from qdrank.rankers.base import OwnModels, QueryRanker, Validation, refuse_other_vectors
from qdrank.rankers.documents import query_scores
from qdrank.rankers.knn import ALIKE, Alikeness, Neighbourhoods, offline2, random_neighbours
from qdrank.registry import refuse_unknown

if TYPE_CHECKING:
    from qdrank.learners.ranksvm.estimator import Penalty
    from qdrank.learners.ranksvm.local import TrainingBase
    from qdrank.learners.ranksvm.preferences import Preferences


#: With kernel weights this many times k neighbours take part: at 3 h the kernel has fallen to 0.01.
REACH = 3


@dataclass(kw_only=True, eq=False)
class LocalRanker(OwnModels):
    """Local models on the block engine.

    Parameters
    ----------
    k : number of neighbours; up to 1 a share of the training queries
    weights : {"hard", "kernel"}
    lam, penalty, query_weights, tol : as for `RankSVM`
    proximity : share of the penalty that pulls to Single instead of 0; below 1
    mix : weight of the local model against Single's
    random : int, optional
        Seed for random training queries instead of neighbours, the control that shows whether nearness matters. Kernel
        weights then come from the distances of the true neighbours.
    block : number of models trained together
    """

    NAME: ClassVar[str] = "local"
    SEEDS: ClassVar[tuple[str, ...]] = ("random",)
    NEEDS_TRAINING: ClassVar[bool] = True

    k: float = 0.27
    weights: Literal["hard", "kernel"] = "hard"
    lam: float = 0.01
    penalty: Penalty = "half"
    query_weights: str = "pairs"
    proximity: float = 0.0
    mix: float = 1.0
    random: int | None = None
    tol: float = 1e-6
    block: int = 256
    single_: FloatArray = field(init=False, repr=False)
    vectors_: FloatArray = field(init=False, repr=False)
    query_id_: NDArray[np.object_] = field(init=False, repr=False)
    _data: Preferences | None = field(init=False, repr=False, default=None)
    _base: TrainingBase | None = field(init=False, repr=False, default=None)

    def __post_init__(self) -> None:
        refuse_unknown("weights", self.weights, ("hard", "kernel"))
        if not 0 <= self.proximity < 1 or not 0 <= self.mix <= 1:
            raise InputError(
                "proximity must be at least 0 and below 1, mix between 0 and 1",
                found=f"proximity={self.proximity}, mix={self.mix}",
            )

    def fit(self, train: Judged, vectors: FloatArray, validation: Validation | None = None) -> Self:  # noqa: ARG002
        """Train Single and keep the training queries."""
        self.vectors_, self.query_id_ = np.asarray(vectors, dtype=np.float64), train.query_id
        self.remember(train, vectors)
        base = self._trained_base()
        self.single_ = base.single.w
        self._base = None if self.proximity else base
        return self

    def remember(self, train: Judged, vectors: FloatArray) -> Self:
        """Keep the training documents, whose pairs the models of queries are trained on."""
        from qdrank.learners.ranksvm.preferences import prepare

        refuse_other_vectors(train, vectors)
        if not np.array_equal(train.query_id, self.query_id_):
            raise InputError("these are not the training queries that the ranker was fitted on")
        self._data, self._base = prepare(train.X, train.y, train.offsets), None
        return self

    def models(self, documents: Judged, vectors: FloatArray) -> FloatArray:
        """Weights of the queries, (n_queries, n_features); of the documents only the names of their queries are used."""
        from qdrank.learners.ranksvm.local import make_blocks, train_local

        refuse_other_vectors(documents, vectors)
        self.refuse_unfitted()
        if len(vectors) == 0:
            return np.zeros((0, len(self.single_)))
        rows, weights = self._neighbourhood(np.asarray(vectors, dtype=np.float64), documents.query_id)
        blocks = make_blocks(np.arange(len(rows)), self.block)
        trained = train_local(self._prepared(), rows, blocks, weights=weights, tol=self.tol)
        W = np.empty_like(trained.W)
        W[trained.rows] = trained.W
        return self.mix * W + (1 - self.mix) * self.single_

    def scores_by(self, documents: Judged, models: FloatArray) -> FloatArray:
        """Scores (n_documents,) of each query's documents by its weights."""
        return query_scores(documents, models)

    def _neighbourhood(
        self, vectors: FloatArray, query_id: NDArray[np.object_]
    ) -> tuple[NDArray[np.int32], FloatArray | None]:
        """Training queries (n_queries, reach), nearest first, and their weights, None if all are equal."""
        m = len(self.vectors_)
        k = neighbour_count(self.k, m)
        reach = min(m, REACH * k) if self.weights == "kernel" else k
        near = neighbours(vectors, self.vectors_, reach, ids=self.query_id_)
        rows = near.rows
        if self.random is not None:
            rows = random_neighbours(query_id.tolist(), m, reach, self.random)
        if self.weights == "hard":
            return rows, None
        return rows, kernel_weights(near.distance, k)

    def _prepared(self) -> TrainingBase:
        """What the local models share; trained when first needed."""
        if self._base is None:
            self._base = self._trained_base(self.proximity * self.single_ if self.proximity else None)
        return self._base

    def _trained_base(self, prox: FloatArray | None = None) -> TrainingBase:
        from qdrank.learners.ranksvm.local import prepare_training

        options: dict[str, Any] = {name: getattr(self, name) for name in ("lam", "penalty", "query_weights", "tol")}
        if self._data is None:
            raise InputError("a stored ranker of local models has no training documents", fix="call remember first")
        return prepare_training(self._data, prox=prox, **options)


def kernel_weights(distance: FloatArray, k: int) -> FloatArray:
    """``exp(-d^2 / 2 h^2)`` of distances (n_queries, reach), ascending; h is the k-th distance.

    Where h is 0, only queries at distance 0 have weight.
    """
    h = distance[:, k - 1 : k]
    ratio = np.divide(distance, h, out=np.where(distance > 0, np.inf, 0.0), where=h > 0)
    return np.asarray(np.exp(-np.square(ratio) / 2))


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
        refuse_unknown("choice", self.choice, ("nearest", *ALIKE))

    def fit(self, train: Judged, vectors: FloatArray, validation: Validation | None = None) -> Self:  # noqa: ARG002
        """Train a model for the neighbourhood of every training query."""
        from qdrank.learners.ranksvm.local import block_size, locality_order, make_blocks, prepare_training, train_local
        from qdrank.learners.ranksvm.preferences import prepare
        from qdrank.queries.graph import fitted_metric

        refuse_other_vectors(train, vectors)
        m, self.vectors_, self.query_id_ = len(vectors), np.asarray(vectors, dtype=np.float64), train.query_id
        metric = fitted_metric(self.metric, self.vectors_, train)
        self.map_ = getattr(metric, "map_", np.zeros((0, 0)))
        k = neighbour_count(self.k, m)
        near = TrainingQueries(self.vectors_, self.query_id_, metric).nearest(self.vectors_, k, np.arange(m))
        self.neighbours_, self.pairs_ = near.rows, train.pairs
        base = prepare_training(
            prepare(train.X, train.y, train.offsets), lam=self.lam, penalty=self.penalty, tol=self.tol
        )
        size = block_size(None, m)
        models = train_local(base, near.rows, make_blocks(locality_order(self.vectors_, size), size), tol=self.tol)
        self.weights_ = np.empty_like(models.W)
        self.weights_[models.rows] = models.W
        self.__dict__.pop("_prepared", None)
        return self

    def predict(self, documents: Judged, vectors: FloatArray) -> FloatArray:
        """Scores (n_documents,), each query's by the model that serves it."""
        refuse_other_vectors(documents, vectors)
        return query_scores(documents, self.weights_[self.models(vectors)])

    def models(self, vectors: FloatArray) -> IntArray:
        """Training query whose model serves each of the queries with these vectors, shape (n_queries,)."""
        self.refuse_unfitted()
        space, neighbourhoods = self._prepared
        if neighbourhoods is None:
            return offline2(space.nearest(vectors, 1).rows)
        k, largest = self.neighbours_.shape[1], self.largest or len(self.vectors_)
        near = space.nearest(vectors, k).rows
        return neighbourhoods.most_alike(near, lambda rows: space.nearest(vectors[rows], largest).rows)

    @cached_property
    def _prepared(self) -> tuple[TrainingQueries, Neighbourhoods | None]:
        """What does not depend on the query."""
        space = TrainingQueries(self.vectors_, self.query_id_, metric_with(self.metric, self.map_))
        if self.choice == "nearest":
            return space, None
        return space, Neighbourhoods(self.neighbours_, self.pairs_, self.choice)


@dataclass(kw_only=True, eq=False)
class QueryDependent(Learner):
    """A query-dependent ranker behind the interface of the learners, for `Pipeline` and `GridSearchCV`.

    The vector of a query is pooled from its documents and standardised on the training queries. Parameters of the ranker are set
    as ``ranker__k`` and the like.

    Parameters
    ----------
    ranker : the ranker; a copy of it is fitted, not the ranker itself
    reference : feature whose values select the documents for a query's vector, counted from 0
    top : number of documents to select
    pooling : {"mean", "mean+std", "mean+std+max"}; statistics of their features

    Attributes
    ----------
    ranker_ : the fitted ranker
    scaler_ : what standardises the vectors
    """

    NAME: ClassVar[str] = "query-dependent"

    ranker: QueryRanker = field(default_factory=LocalRanker)
    reference: int = 0
    top: int = 50
    pooling: Pooling = "mean"
    ranker_: QueryRanker = field(init=False, repr=False)
    scaler_: Standardiser = field(init=False, repr=False)

    def fit(self, X: ArrayLike, y: ArrayLike, query: ArrayLike | None = None) -> Self:
        """Learn from judged documents, the rows of each query together; without ``query`` all belong to one query."""
        features, grades, offsets = self.training(X, y, query)
        documents = Judged.from_arrays(features, grades, query_index(offsets))
        vectors = self._vectors(documents)
        self.scaler_ = Standardiser().fit(vectors)
        self._n_features = features.shape[1]
        self.ranker_ = self.ranker.fresh().fit(documents, self.scaler_.transform(vectors))
        return self

    def predict(self, X: ArrayLike, query: ArrayLike | None = None) -> FloatArray:
        """Scores (n_documents,), each query's by its own vector; without ``query`` all rows belong to one query."""
        features = self.documents(X)
        of_query = query_index(as_offsets(query, len(features)))
        documents = Judged.from_arrays(features, np.zeros(len(features)), of_query)
        return self.ranker_.predict(documents, self.scaler_.transform(self._vectors(documents)))

    @property
    def n_features_in_(self) -> int:
        """Number of features of the documents that the ranker was fitted to."""
        return int(self._n_features)

    def _vectors(self, documents: Judged) -> FloatArray:
        return query_vectors(documents.X, documents.offsets, self.reference, top=self.top, pooling=self.pooling)

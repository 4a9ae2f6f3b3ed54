"""Local models trained in advance, one for the neighbourhood of each training query; one of them serves each query.

`nearest` takes the model of the nearest training query; the other ways take that of the training query whose
neighbourhood is most like the query's own (see `qdrank.rankers.knn`). What does not depend on the query is prepared once.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from qdrank.datasets.judged import Judged
from qdrank.layout import FloatArray, IntArray
from qdrank.queries.graph import metric_with
from qdrank.queries.neighbours import TrainingQueries
from qdrank.queries.sizes import neighbour_count
from qdrank.rankers.base import QueryRanker, Validation, refuse_other_vectors
from qdrank.rankers.documents import query_scores
from qdrank.rankers.knn import ALIKE, Alikeness, Neighbourhoods, offline2
from qdrank.registry import refuse_unknown

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

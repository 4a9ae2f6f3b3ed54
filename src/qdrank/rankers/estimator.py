"""Any query-dependent ranker as an estimator of features, grades and query ids."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from qdrank.datasets.judged import Judged
from qdrank.layout import FloatArray, query_index
from qdrank.learners.base import Learner
from qdrank.learners.inputs import as_offsets
from qdrank.queries.vectors import Pooling, Standardiser, query_vectors
from qdrank.rankers.base import QueryRanker
from qdrank.rankers.local_ranker import LocalRanker


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

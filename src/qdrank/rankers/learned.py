"""Any learner as a ranker, and the query's vector beside each of its documents.

Nothing here depends on the code of one learner: a change to it concerns the methods that use it alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from qdrank.datasets.judged import Judged
from qdrank.layout import FloatArray, JoinedFeatures
from qdrank.rankers.base import OnOtherFeatures, QueryRanker, Validation, refuse_other_vectors


@dataclass(kw_only=True, eq=False)
class LearnerRanker(QueryRanker):
    """A learner of `qdrank.learners` for all queries; some of them combine whole lists."""

    NAME: ClassVar[str] = "learner"
    IN_BATCHES: ClassVar[bool] = True

    learner: Any

    def fit(self, train: Judged, vectors: FloatArray, validation: Validation | None = None) -> Self:  # noqa: ARG002
        """Fit the learner."""
        return self._fit(train, validation, {})

    def fit_each(
        self,
        tried: Sequence[Self],
        train: Judged,
        vectors: FloatArray,  # noqa: ARG002
        validation: Validation | None = None,
    ) -> Iterator[Self]:
        """Fit learners; those of trees share the bins of the documents."""
        bins: dict[str, Any] = {}
        for one in tried:
            yield one if one.is_fitted else one._fit(train, validation, bins)

    def _fit(self, train: Judged, validation: Validation | None, bins: dict[str, Any]) -> Self:
        from qdrank.learners.choose import fit_one

        vali = None if validation is None else validation[0]
        watched = None if vali is None else (vali.X, vali.y, vali.query, vali.unranked)
        judged = (train.X, train.y, train.query)
        self.learner = fit_one(type(self.learner), self.learner.get_params(deep=False), judged, watched, bins)
        return self

    def predict(self, documents: Judged, vectors: FloatArray) -> FloatArray:  # noqa: ARG002
        """Scores (n_documents,)."""
        return np.asarray(self.learner.predict(documents.X, documents.query_index), dtype=np.float64)

    def draw_with(self, seed: int) -> None:
        """Give the learner this seed, if it has one."""
        if hasattr(self.learner, "seed"):
            self.learner.seed = seed


@dataclass(kw_only=True, eq=False)
class WithQueryVectors(OnOtherFeatures):
    """A ranker whose documents have the vector of their query as extra features; for trees."""

    NAME: ClassVar[str] = "with-vectors"

    def inside(self, documents: Judged, vectors: FloatArray) -> Judged:
        """The documents with the vectors of their queries after their features."""
        inside = with_vectors(documents, vectors)
        return inside if self.base.IN_BATCHES else inside.with_features(np.asarray(inside.X))


def with_vectors(documents: Judged, vectors: FloatArray) -> Judged:
    """The documents with the vectors (n_queries, n_columns) of their queries after their features, joined on demand."""
    refuse_other_vectors(documents, vectors)
    return documents.with_features(JoinedFeatures(documents.X, vectors.astype(np.float32), documents.query_index))

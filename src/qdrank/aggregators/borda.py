"""BordaCount: the sum, over the input rankings, of the number of documents ranked below."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qdrank.layout import FloatArray, IntArray
from qdrank.learners.base import Learner
from qdrank.learners.inputs import as_features, as_offsets
from qdrank.measures.ranking import borda_points

Best = Literal["low", "high"]


@dataclass(kw_only=True, eq=False)
class BordaCount(Learner):
    """Aggregation without learning; documents that are missing in a ranking share the ranks below the others.

    ``best``: which rank numbers are better. Ranks mean "low", but the figures published for LETOR 4.0's rank
    aggregation are reproduced only with "high", that is, with the rankings read upside down.
    """

    NAME: ClassVar[str] = "bordacount"
    NEEDS_FIT: ClassVar[bool] = False
    MISSING: ClassVar[bool] = True

    best: Best = "low"

    def fit(self, X: ArrayLike, y: ArrayLike | None = None, query: ArrayLike | None = None) -> Self:  # noqa: ARG002
        """Learn nothing."""
        as_rankings(X, query)
        return self

    @property
    def n_features_in_(self) -> int:
        """Unknown: any number of lists will do."""
        raise AttributeError("BordaCount takes any number of lists")

    def predict(self, X: ArrayLike, query: ArrayLike | None = None) -> FloatArray:
        """Points (n_documents,) from ranks (n_documents, n_lists), NaN where a list lacks the document."""
        ranks, offsets = as_rankings(X, query)
        return np.asarray(points_per_list(ranks, offsets, self.best).sum(axis=1))


def as_rankings(X: ArrayLike, query: ArrayLike | None) -> tuple[NDArray[Any], IntArray]:
    """Checked ranks (n_documents, n_lists) and offsets (n_queries + 1,); without ``query`` the rows are one list."""
    ranks = as_features(X, missing=True)
    return ranks, as_offsets(query, len(ranks))


def points_per_list(ranks: NDArray[Any], offsets: IntArray, best: Best) -> FloatArray:
    """BordaCount points in each input ranking, shape (n_documents, n_lists)."""
    sign = -1.0 if best == "low" else 1.0
    return np.stack([borda_points(sign * column, offsets) for column in ranks.T], axis=1)

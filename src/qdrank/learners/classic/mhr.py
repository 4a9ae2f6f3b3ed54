"""MHR-BC (Qin et al. 2007): multiple hyperplanes, one Ranking SVM per pair of grades, combined by BordaCount."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qdrank.layout import FloatArray, query_index, query_offsets
from qdrank.learners.base import Learner
from qdrank.learners.classic.borda_points import borda_points
from qdrank.learners.inputs import as_offsets
from qdrank.learners.ranksvm.estimator import RankSVM
from qdrank.learners.ranksvm.preferences import prepare


@dataclass(kw_only=True, eq=False)
class MultipleHyperplaneRanker(Learner):
    """One Ranking SVM for each pair of grades, learned from their document pairs alone; BordaCount sums the rankings.

    Parameters
    ----------
    C : weight of the sum of losses in each Ranking SVM; replaces ``lam`` if given
    lam : weight of the regulariser against the mean loss
    """

    NAME: ClassVar[str] = "mhr-bc"

    C: float | None = None
    lam: float = 0.01
    grades_: NDArray[np.int64] = field(init=False, repr=False)
    """Higher and lower grade of each hyperplane, shape (n_hyperplanes, 2)."""
    coef_: FloatArray = field(init=False, repr=False)
    """Weights of each hyperplane, shape (n_hyperplanes, n_features)."""

    def fit(self, X: ArrayLike, y: ArrayLike, query: ArrayLike | None = None) -> Self:
        """Learn from judged documents, the rows of each query together."""
        X, grades, offsets = self.training(X, y, query)
        pairs = [(high, low) for low, high in combinations(np.unique(grades).tolist(), 2)]
        self.grades_ = np.array(pairs, dtype=np.int64).reshape(-1, 2)
        of_query = query_index(offsets)
        weights = [self._hyperplane(X, grades, of_query, np.isin(grades, pair)) for pair in pairs]
        self.coef_ = np.array(weights).reshape(-1, X.shape[1])
        return self

    def _hyperplane(self, X: NDArray[Any], y: NDArray[Any], query: NDArray[Any], rows: NDArray[np.bool_]) -> FloatArray:
        data = prepare(X[rows], y[rows], query_offsets(query[rows]))
        return RankSVM(C=self.C, lam=self.lam).fit_preferences(data).coef_

    def predict(self, X: ArrayLike, query: ArrayLike | None = None) -> FloatArray:
        """Sum of the BordaCount points, shape (n_documents,); without ``query`` the rows are one list."""
        X = self.documents(X).astype(np.float64, copy=False)
        offsets = as_offsets(query, len(X))
        points: FloatArray = np.zeros(len(X))
        for w in self.coef_:
            points += borda_points(X @ w, offsets)
        return points

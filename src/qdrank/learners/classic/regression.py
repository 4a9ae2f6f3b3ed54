"""Pointwise regression on the grades: the simplest learner that LETOR lists."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from qdrank.learners.base import LinearLearner


@dataclass(kw_only=True, eq=False)
class Regression(LinearLearner):
    """Ridge regression of the grades: ``sum (y - b - x.w)^2 + l2 |w|^2``; the intercept has no effect and is dropped.

    ``l2``: weight of the penalty; a little of it keeps constant features harmless.
    """

    NAME: ClassVar[str] = "regression"

    l2: float = 1.0

    def fit(self, X: ArrayLike, y: ArrayLike, query: ArrayLike | None = None) -> Self:
        """Learn from judged documents, the rows of each query together."""
        X, grades, _ = self.training(X, y, query)
        centred = X - X.mean(axis=0, dtype=np.float64)
        normal = centred.T @ centred + self.l2 * np.eye(X.shape[1])
        self.coef_ = np.linalg.solve(normal, centred.T @ (grades - grades.mean()))
        return self

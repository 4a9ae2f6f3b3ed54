"""Linear learners without pairs: regression on the grades, and ListNet (Cao et al. 2007) with the top-one probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qdrank.layout import FloatArray, IntArray, query_index
from qdrank.learners.base import LinearLearner
from qdrank.learners.newton import newton_minimise


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


@dataclass(kw_only=True, eq=False)
class ListNet(LinearLearner):
    """Cross entropy between the softmax of the grades and the softmax of the scores, averaged over queries.

    Parameters
    ----------
    mapping : target scores, whose softmax is the truth: the "grade" itself, its "gain" ``2^y - 1``, or "relevant"
        ``1[y > 0]``
    scale : factor on the mapped grades; the larger it is, the more the best grade dominates the truth
    l2 : penalty ``l2 / 2 |w|^2`` on the weights
    tol : fitting ends when Newton's estimate of how much the loss could still fall is this
    max_iterations : maximum number of Newton steps
    """

    NAME: ClassVar[str] = "listnet"

    mapping: Literal["grade", "gain", "relevant"] = "grade"
    scale: float = 1.0
    l2: float = 1e-2
    tol: float = 1e-12
    max_iterations: int = 100

    def fit(self, X: ArrayLike, y: ArrayLike, query: ArrayLike | None = None) -> Self:
        """Learn from judged documents, the rows of each query together."""
        X, grades, offsets = self.training(X, y, query)
        loss = TopOneLoss(X, self.scale * map_grades(grades, self.mapping), offsets, self.l2)
        self.coef_ = newton_minimise(loss, np.zeros(X.shape[1]), tol=self.tol, max_iterations=self.max_iterations)
        return self


class TopOneLoss:
    """The objective of ListNet and its gradient, as a function of the weights."""

    def __init__(self, X: NDArray[Any], targets: FloatArray, offsets: IntArray, l2: float) -> None:
        self._X = np.ascontiguousarray(X, dtype=np.float64)
        self._starts, self._query, self._l2 = offsets[:-1], query_index(offsets), l2
        self._truth = np.exp(self._log_softmax(targets))

    def __call__(self, w: FloatArray) -> tuple[float, FloatArray]:
        """Loss and gradient at the weights ``w``, shape (n_features,)."""
        log_p = self._log_softmax(self._X @ w)
        n_queries = len(self._starts)
        loss = -float(self._truth @ log_p) / n_queries + 0.5 * self._l2 * float(w @ w)
        gradient: FloatArray = self._X.T @ (np.exp(log_p) - self._truth) / n_queries + self._l2 * w
        return loss, gradient

    def hessian(self, w: FloatArray) -> FloatArray:
        """Second derivatives at ``w``, shape (n_features, n_features): each query's covariance under its softmax."""
        p = np.exp(self._log_softmax(self._X @ w))
        weighted = self._X * p[:, None]
        means = np.add.reduceat(weighted, self._starts, axis=0)
        covariance = (self._X.T @ weighted - means.T @ means) / len(self._starts)
        curvature: FloatArray = covariance + self._l2 * np.eye(len(w))
        return curvature

    def _log_softmax(self, scores: FloatArray) -> FloatArray:
        shifted = scores - np.maximum.reduceat(scores, self._starts)[self._query]
        log_p: FloatArray = shifted - np.log(np.add.reduceat(np.exp(shifted), self._starts))[self._query]
        return log_p


def map_grades(y: IntArray, mapping: str) -> FloatArray:
    """Grades as the truth's scores: see ``ListNet``."""
    if mapping == "gain":
        return np.exp2(y) - 1.0
    return (y > 0).astype(np.float64) if mapping == "relevant" else y.astype(np.float64)

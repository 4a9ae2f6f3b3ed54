"""AdaRank (Xu and Li 2007): boosting of single features by a measure of the ranked list, with two updates.

The *paper's* update weights queries by how badly the ensemble ranks them, ``P(q) ∝ exp(-E(q, f_t))``: the learners
``adarank-map`` and ``adarank-ndcg``. These weights are so mild that on LETOR data every round chooses the same one or
two features.

The *boosting* update, ``adarank-map-boost`` and ``adarank-ndcg-boost``, is not in the paper. It is inferred from what Microsoft's
program printed in a public re-run (github.com/JasonWyse/letor40). Its rounds start with our first feature and its
training MAP to all digits, but the weight of a round shrinks while the ranking stays the same, features alternate, and the
first weight is far below ``1/2 ln((1 + E) / (1 - E))``. Weights multiplied as in AdaBoost, ``P(q) ∝ P(q) exp(-alpha_t E(q, h_t))``,
with E above some baseline, would look like this. The baseline is not known, the query's worst feature is our guess,
and the printed weights are not reproduced.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qdrank.layout import FloatArray, IntArray, shuffled_within
from qdrank.learners.base import LinearLearner
from qdrank.learners.inputs import JudgedArrays
from qdrank.learners.validation import RoundChoice
from qdrank.measures.compute import measure


@dataclass(kw_only=True, eq=False)
class AdaRank(LinearLearner):
    """A linear model grown one feature at a time, each chosen for the queries that are still ranked badly.

    Parameters
    ----------
    objective : measure that is boosted, for instance "ap" or "ndcg@10/letor4"
    update
        Weights of the queries after a round: "paper" takes them from the ensemble, "boost" (inferred) multiplies them.
    baseline : zero point of the objective in "boost": the query's "worst" feature, or "zero"
    rounds : number of rounds; with validation data, the largest number that may be kept
    measure : what chooses the round on validation data
    seed : decides the order of tied documents
    """

    NAME: ClassVar[str] = "adarank"

    objective: str = "ap"
    update: Literal["paper", "boost"] = "paper"
    baseline: Literal["worst", "zero"] = "worst"
    rounds: int = 500
    measure: str = "ap"
    seed: int = 1

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        query: ArrayLike | None = None,
        validation: JudgedArrays | None = None,
    ) -> Self:
        """Learn from judged documents, the rows of each query together."""
        X, grades, offsets = self.training(X, y, query)
        order = shuffled_within(offsets, self.seed)
        X, grades = X[order], grades[order]
        choice = RoundChoice(validation, self.measure, self.seed)
        gains = self._single_features(X, grades, offsets)
        weights = np.full(len(gains), 1.0 / len(gains))
        scores, chosen = np.zeros(len(X)), []
        for round_ in range(1, self.rounds + 1):
            feature = int(np.argmax(weights @ gains))
            alpha = adarank_weight(weights, gains[:, feature])
            if alpha == 0.0:
                break
            chosen.append((feature, alpha))
            choice.watch(round_, None if choice.X is None else alpha * choice.X[:, feature])
            if self.update == "paper":
                scores += alpha * X[:, feature]
                weights = np.exp(-measure([self.objective], grades, scores, offsets)[self.objective])
            else:
                weights = weights * np.exp(-alpha * gains[:, feature])
            weights /= weights.sum()
        self.coef_ = np.zeros(X.shape[1])
        for feature, alpha in chosen[: choice.best_round]:
            self.coef_[feature] += alpha
        return self

    def _single_features(self, X: NDArray[Any], y: IntArray, offsets: IntArray) -> FloatArray:
        """Objective of ranking by each feature alone, above the baseline, shape (n_queries, n_features)."""
        values = measure([self.objective], y, X, offsets)[self.objective]
        if self.update == "boost" and self.baseline == "worst":
            values = values - values.min(axis=1, keepdims=True)
        return values


@dataclass(kw_only=True, eq=False)
class AdaRankMAP(AdaRank):
    """AdaRank of the paper, for average precision."""

    NAME: ClassVar[str] = "adarank-map"

    objective: str = "ap"


@dataclass(kw_only=True, eq=False)
class AdaRankNDCG(AdaRank):
    """AdaRank of the paper, for NDCG."""

    NAME: ClassVar[str] = "adarank-ndcg"

    objective: str = "ndcg@10/geng"


@dataclass(kw_only=True, eq=False)
class AdaRankMAPBoost(AdaRankMAP):
    """AdaRank with the inferred boosting update, for average precision."""

    NAME: ClassVar[str] = "adarank-map-boost"

    update: Literal["paper", "boost"] = "boost"


@dataclass(kw_only=True, eq=False)
class AdaRankNDCGBoost(AdaRankNDCG):
    """AdaRank with the inferred boosting update, for NDCG."""

    NAME: ClassVar[str] = "adarank-ndcg-boost"

    update: Literal["paper", "boost"] = "boost"


def adarank_weight(weights: FloatArray, gains: FloatArray) -> float:
    """``alpha = 1/2 ln(sum P (1 + E) / sum P (1 - E))``, bounded where a feature ranks perfectly."""
    mean = min(float(weights @ gains), 1 - 1e-12)
    return 0.5 * float(np.log((1 + mean) / (1 - mean)))

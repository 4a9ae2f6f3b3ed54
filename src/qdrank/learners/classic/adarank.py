"""AdaRank (Xu and Li 2007): boosting of single features by a measure of the ranked list.

A round weights queries by how badly the ensemble ranks them, ``P(q) ∝ exp(-E(q, f_t))``. These weights are so mild that on
LETOR data every round chooses the same one or two features.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from qdrank.layout import FloatArray, shuffled_within
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
    rounds : number of rounds; with validation data, the largest number that may be kept
    measure : what chooses the round on validation data
    seed : decides the order of tied documents
    """

    NAME: ClassVar[str] = "adarank"

    objective: str = "ap"
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
        # The objective of ranking by each feature alone, (n_queries, n_features).
        gains = measure([self.objective], grades, X, offsets)[self.objective]
        weights = np.full(len(gains), 1.0 / len(gains))
        scores, chosen = np.zeros(len(X)), []
        for round_ in range(1, self.rounds + 1):
            feature = int(np.argmax(weights @ gains))
            alpha = adarank_weight(weights, gains[:, feature])
            if alpha == 0.0:
                break
            chosen.append((feature, alpha))
            choice.watch(round_, None if choice.X is None else alpha * choice.X[:, feature])
            scores += alpha * X[:, feature]
            weights = np.exp(-measure([self.objective], grades, scores, offsets)[self.objective])
            weights /= weights.sum()
        self.coef_ = np.zeros(X.shape[1])
        for feature, alpha in chosen[: choice.best_round]:
            self.coef_[feature] += alpha
        return self


@dataclass(kw_only=True, eq=False)
class AdaRankMAP(AdaRank):
    """AdaRank for average precision."""

    NAME: ClassVar[str] = "adarank-map"

    objective: str = "ap"


@dataclass(kw_only=True, eq=False)
class AdaRankNDCG(AdaRank):
    """AdaRank for NDCG."""

    NAME: ClassVar[str] = "adarank-ndcg"

    objective: str = "ndcg@10/geng"


def adarank_weight(weights: FloatArray, gains: FloatArray) -> float:
    """``alpha = 1/2 ln(sum P (1 + E) / sum P (1 - E))``, bounded where a feature ranks perfectly."""
    mean = min(float(weights @ gains), 1 - 1e-12)
    return 0.5 * float(np.log((1 + mean) / (1 - mean)))

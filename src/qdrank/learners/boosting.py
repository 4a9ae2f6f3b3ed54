"""Boosting of single features: RankBoost and AdaRank.

RankBoost (Freund, Iyer, Schapire and Singer 2003) has threshold weak rankers; pairs are never stored. AdaRank (Xu and Li
2007) boosts by a measure of the ranked list. A round weights queries by how badly the ensemble ranks them,
``P(q) ∝ exp(-E(q, f_t))``. These weights are so mild that on LETOR data every round chooses the same one or two features.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from qdrank.errors import InputError
from qdrank.layout import FloatArray, IntArray, query_index, shuffled_within
from qdrank.learners.base import Learner, LinearLearner
from qdrank.learners.choose import RoundChoice
from qdrank.learners.inputs import JudgedArrays
from qdrank.measures.compute import measure


@njit(cache=True)
def best_threshold(codes: NDArray[np.int32], sizes: NDArray[np.int32], potential: FloatArray) -> tuple[int, int, float]:
    """Weak ranker with the largest ``|r|``: feature, threshold and ``r``; the first among equals.

    Parameters
    ----------
    codes : number of thresholds below each value, shape (n_features, n_documents)
    sizes : number of thresholds of each feature, shape (n_features,)
    potential : weight of the pairs a document wins minus weight of those it loses, shape (n_documents,)
    """
    n_features, n_documents = codes.shape
    mass = np.empty(sizes.max() + 1)
    best = (0, 0, 0.0)
    for f in range(n_features):
        size = sizes[f]
        mass[: size + 1] = 0.0
        for i in range(n_documents):
            mass[codes[f, i]] += potential[i]
        r = 0.0
        # h(x) = 1 where the code exceeds the threshold's number, so r is a sum from the top.
        for t in range(size - 1, -1, -1):
            r += mass[t + 1]
            if abs(r) > abs(best[2]):
                best = (f, t, r)
    return best


@dataclass(kw_only=True, eq=False)
class RankBoost(Learner):
    """Sum of weighted threshold functions ``1[x_f > theta]``, one more in each round.

    Parameters
    ----------
    rounds : number of rounds; with validation data, the largest number that may be kept
    thresholds : thresholds per feature, evenly spaced from its smallest to its largest value; None: every value
    measure : what chooses the round on validation data: for instance "ap" or "ndcg@10/letor4"
    seed : decides the order of tied validation documents
    """

    NAME: ClassVar[str] = "rankboost"

    rounds: int = 500
    thresholds: int | None = 255
    measure: str = "ap"
    seed: int = 1
    features_: IntArray = field(init=False, repr=False)
    thresholds_: FloatArray = field(init=False, repr=False)
    alphas_: FloatArray = field(init=False, repr=False)

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        query: ArrayLike | None = None,
        validation: JudgedArrays | None = None,
    ) -> Self:
        """Learn from judged documents, the rows of each query together."""
        X, grades, offsets = self.training(X, y, query)
        choice = RoundChoice(validation, self.measure, self.seed)
        thetas = [threshold_values(column, self.thresholds) for column in X.T]
        codes = np.stack([np.searchsorted(t, x) for t, x in zip(thetas, X.T, strict=True)]).astype(np.int32)
        sizes = np.array([len(t) for t in thetas], dtype=np.int32)
        pairs = PairWeights(grades, offsets)
        self._n_features = X.shape[1]
        scores, chosen = np.zeros(len(X)), []
        for round_ in range(1, self.rounds + 1):
            feature, place, r = best_threshold(codes, sizes, pairs.potential(scores))
            if r == 0.0:
                break
            alpha = round_weight(r)
            theta = thetas[feature][place]
            scores += alpha * (codes[feature] > place)
            chosen.append((feature, theta, alpha))
            choice.watch(round_, None if choice.X is None else alpha * (choice.X[:, feature] > theta))
        return self._keep(chosen[: choice.best_round])

    @property
    def rounds_(self) -> int:
        """Number of rounds that were kept."""
        return len(self.alphas_)

    @property
    def n_features_in_(self) -> int:
        """Number of features of the documents that the learner was fitted to; a record does not store it."""
        return int(self._n_features)

    def _keep(self, chosen: list[tuple[int, float, float]]) -> Self:
        self.features_ = np.array([f for f, _, _ in chosen], dtype=np.int64)
        self.thresholds_ = np.array([t for _, t, _ in chosen], dtype=np.float64)
        self.alphas_ = np.array([a for _, _, a in chosen], dtype=np.float64)
        return self

    def predict(self, X: ArrayLike, query: ArrayLike | None = None) -> FloatArray:  # noqa: ARG002
        """Scores (n_documents,) of the rows of ``X`` (n_documents, n_features)."""
        X = self.documents(X)
        if X.shape[1] <= self.features_.max(initial=-1):  # a record does not store their number
            raise InputError(f"X has {X.shape[1]} features, but feature {self.features_.max() + 1} was learned from")
        scores = np.zeros(len(X))
        for feature in np.unique(self.features_):
            mine = np.flatnonzero(self.features_ == feature)
            mine = mine[np.argsort(self.thresholds_[mine], kind="stable")]
            # Together, all rounds on one feature form a step function of it.
            steps = np.concatenate([[0.0], np.cumsum(self.alphas_[mine])])
            scores += steps[np.searchsorted(self.thresholds_[mine], X[:, feature])]
        return scores


class PairWeights:
    """The distribution ``D`` over pairs (a, b), a judged above b, kept as sums per query and grade.

    After any number of rounds ``D(a, b)`` is proportional to ``exp(F(b) - F(a))``, a product of a factor of a
    and a factor of b; so the sums over all partners of a document need one number per query and grade.
    """

    def __init__(self, y: IntArray, offsets: IntArray) -> None:
        self._grade = np.unique(y, return_inverse=True)[1]
        self._n_grades = int(self._grade.max(initial=-1)) + 1
        self._query = query_index(offsets)
        self._sizes = np.maximum(np.diff(offsets), 1)

    def potential(self, scores: FloatArray) -> FloatArray:
        """``sum_b D(x, b) - sum_a D(a, x)`` for every document x, shape (n_documents,)."""
        n_queries = len(self._sizes)
        # A shift per query cancels in D; the bound matters only where weak rankers are perfect round after round.
        centre = np.bincount(self._query, scores, n_queries) / self._sizes
        up = np.exp(np.clip(scores - centre[self._query], -300.0, 300.0))
        wins = self._sums_apart(up, n_queries, below=True) / up
        losses = self._sums_apart(1.0 / up, n_queries, below=False) * up
        total = wins.sum()
        weights: FloatArray = (wins - losses) / total if total > 0 else np.zeros_like(scores)
        return weights

    def _sums_apart(self, values: FloatArray, n_queries: int, *, below: bool) -> FloatArray:
        """For each document, the sum of ``values`` over its query's documents of lower (or higher) grade."""
        cells = self._query * self._n_grades + self._grade
        sums = np.bincount(cells, values, n_queries * self._n_grades).reshape(n_queries, self._n_grades)
        upto = np.cumsum(sums, axis=1) if below else np.cumsum(sums[:, ::-1], axis=1)[:, ::-1]
        apart: FloatArray = np.zeros_like(sums)
        if below:
            apart[:, 1:] = upto[:, :-1]
        else:
            apart[:, :-1] = upto[:, 1:]
        return np.asarray(apart.ravel()[cells])


def round_weight(r: float) -> float:
    """``alpha = 1/2 ln((1 + r) / (1 - r))``, bounded where a weak ranker is perfect."""
    r = float(np.clip(r, -1 + 1e-12, 1 - 1e-12))
    return 0.5 * float(np.log((1 + r) / (1 - r)))


def threshold_values(values: NDArray[Any], number: int | None) -> FloatArray:
    """Thresholds of one feature, ascending: evenly spaced, or every distinct value but the greatest."""
    if number is None:
        return np.unique(values)[:-1].astype(np.float64)
    low, high = float(values.min()), float(values.max())
    if low == high:
        return np.empty(0)
    return low + np.arange(number) * (high - low) / number


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
    rounds_: int = field(init=False, repr=False)
    """Number of rounds that were kept."""

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
        kept = chosen[: choice.best_round]
        self.coef_, self.rounds_ = np.zeros(X.shape[1]), len(kept)
        for feature, alpha in kept:
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

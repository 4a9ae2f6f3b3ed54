"""SER, SSER, their controls and ensembles of methods as rankers for new queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from qdrank.datasets.judged import Judged
from qdrank.datasets.letor.features import minmax_per_query
from qdrank.errors import InputError
from qdrank.layout import FloatArray, IntArray
from qdrank.learners.classic.borda_points import borda_points
from qdrank.learners.ensemble.ser import rounded_scores
from qdrank.learners.ensemble.sser import SSER
from qdrank.rankers.base import QueryRanker, Validation


def query_rows(part: Judged, query: int) -> FloatArray:
    """Documents of one query, shape (n, n_rankers)."""
    return part.X[part.offsets[query] : part.offsets[query + 1]].astype(np.float64)


def scores_by(part: Judged, W: FloatArray) -> FloatArray:
    """Scores of documents, each query's by its own weights W (n_queries, n_rankers), rounded; shape (n_documents,)."""
    scores = np.empty(part.n_documents)
    for query, w in enumerate(W):
        rows = slice(part.offsets[query], part.offsets[query + 1])
        scores[rows] = rounded_scores(part.X[rows], w)
    return scores


def other_queries(n: int, seed: Sequence[int]) -> IntArray:
    """A random other query for each of ``n`` queries, shape (n,)."""
    rng = np.random.default_rng(list(seed))
    return (np.arange(n) + rng.integers(1, max(2, n), n)) % n


@dataclass(kw_only=True, eq=False)
class EnsembleRanker(QueryRanker):
    """SER (``gamma`` 0) or SSER, or a control of them.

    Parameters
    ----------
    learner : SSER
    gammas : ascending up to ``gamma``; each query's solution for one gamma starts from the one before
    gamma : weight of the query's documents
    printed : whether the weights are those of eq. 13 as printed
    mask : (n_rankers,) 0 for rankers to ignore, None to use all
    others : seed for a control that uses the documents of another query scored in the same call
    """

    NAME: ClassVar[str] = "ensemble"

    learner: SSER
    gammas: Sequence[float] = (0.0,)
    gamma: float = 0.0
    printed: bool = False
    mask: NDArray[np.float64] | None = None
    others: Sequence[int] | None = None

    def fit(self, train: Judged, vectors: FloatArray, validation: Validation | None = None) -> Self:  # noqa: ARG002
        """Learn from scores of rankers."""
        self.learner.fit(train.X, train.y, train.query)
        if self.mask is not None:
            self.learner.fit_coefficients(np.where(self.mask == 0, 0.0, self.learner.coefficients_))
        return self

    def predict(self, documents: Judged, vectors: FloatArray) -> FloatArray:  # noqa: ARG002
        """Scores (n_documents,), each query's by its own weights."""
        n = documents.n_queries
        if self.gamma == 0 and not self.printed:
            return scores_by(documents, np.tile(self.learner.solved()[1].weights, (n, 1)))
        shown = np.arange(n) if self.others is None else other_queries(n, self.others)
        return scores_by(documents, np.array([self._weights(query_rows(documents, int(i))) for i in shown]))

    def draw_with(self, seed: int) -> None:
        """Draw other queries anew, if the ranker uses their documents."""
        if self.others is not None:
            self.others = (seed, *self.others[1:])

    def _weights(self, X: FloatArray) -> FloatArray:
        """Weights (n_rankers,) from the documents (n, n_rankers) of a query."""
        K = self.learner.roughness_of(X if self.mask is None else X * self.mask)
        path = [gamma for gamma in self.gammas if gamma < self.gamma]
        solution = self.learner.path(K, [*path, self.gamma])[-1]
        if self.printed:
            solution = self.learner.as_printed(np.eye(len(K)) + self.gamma * K, solution)
        return solution.weights


@dataclass(kw_only=True, eq=False)
class StackedRanker(QueryRanker):
    """An ensemble whose rankers are methods: SER, SSER or BordaCount of their scores.

    Parameters
    ----------
    bases : the methods
    kind : how to combine their scores
    learner : SSER, learned from the validation queries; not needed for BordaCount
    """

    NAME: ClassVar[str] = "stacked"

    bases: Sequence[QueryRanker]
    kind: Literal["ser", "sser", "borda"]
    learner: SSER | None = None

    def fit(self, train: Judged, vectors: FloatArray, validation: Validation | None = None) -> Self:
        """Fit the methods on the training queries, and the ensemble on the validation queries."""
        for base in self.bases:
            base.fit(train, vectors, validation)
        if self.learner is not None:
            if validation is None or not validation[0].n_queries:
                raise InputError("an ensemble of methods is learned on validation queries, and there are none")
            vali = as_rankers(validation[0], [base.predict(*validation) for base in self.bases])
            self.learner.fit(vali.X, vali.y, vali.query)
        return self

    def predict(self, documents: Judged, vectors: FloatArray) -> FloatArray:
        """Scores (n_documents,)."""
        return self.combined(documents, [base.predict(documents, vectors) for base in self.bases])

    def combined(self, documents: Judged, scores: Sequence[FloatArray]) -> FloatArray:
        """The ensemble's scores from those of the methods, (n_documents,) each."""
        if self.learner is None:
            return np.asarray(sum(borda_points(one, documents.offsets) for one in scores), dtype=np.float64)
        rankers = as_rankers(documents, scores)
        if self.kind == "ser":
            return rounded_scores(rankers.X, self.learner.weights_)
        return self.learner.predict(rankers.X, rankers.query_index)


def as_rankers(documents: Judged, scores: Sequence[FloatArray]) -> Judged:
    """The documents with the methods' scores, on one scale per query, as features."""
    X = np.stack([np.asarray(one, dtype=np.float32) for one in scores], axis=1)
    return documents.with_features(minmax_per_query(X, documents.offsets))

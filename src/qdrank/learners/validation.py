"""Judged data as learners take it, and the choice of a round on the validation part."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qdrank.errors import InputError
from qdrank.groups import FloatArray, IntArray, query_index, query_offsets
from qdrank.measures.compute import measure

JudgedArrays = tuple[ArrayLike, ArrayLike, ArrayLike]
"""Features (n_documents, n_features), grades (n_documents,) and query ids (n_documents,), in this order."""


def as_judged(X: ArrayLike, y: ArrayLike, query: ArrayLike) -> tuple[NDArray[Any], IntArray, IntArray]:
    """Checked features (n_documents, n_features), grades (n_documents,) and offsets (n_queries + 1,)."""
    X, grades = np.asarray(X), np.asarray(y)
    offsets = query_offsets(np.asarray(query))
    if X.ndim != 2 or grades.shape != (len(X),) or offsets[-1] != len(X):
        raise InputError(
            f"features of shape {X.shape}, grades of shape {grades.shape} and {offsets[-1]} query ids do not match",
            fix="give one grade and one query id per row of features",
        )
    if not np.isfinite(X).all():
        raise InputError("the features hold missing or infinite values", fix="fill them before training")
    whole = grades.astype(np.float64)
    if not (np.isfinite(whole) & (whole == np.floor(whole))).all():
        raise InputError("the grades must be whole numbers", fix="give each document a grade such as 0, 1 or 2")
    return X, grades.astype(np.int64), offsets


def measure_values(name: str, y: IntArray, scores: FloatArray, offsets: IntArray) -> FloatArray:
    """Value of the measure called ``name`` (such as "ap" or "ndcg@10/letor4") for every query, (n_queries,)."""
    return measure([name], y, scores, offsets)[name]


def mean_measure(name: str, y: IntArray, scores: FloatArray, offsets: IntArray) -> float:
    """Mean of a measure over the queries; queries without a relevant document count as 0, as in LETOR."""
    return float(np.mean(measure_values(name, y, scores, offsets)))


def shuffled_within(offsets: IntArray, seed: int) -> IntArray:
    """Order of the rows, shape (n_documents,), that keeps the queries in place and shuffles the documents of each.

    Measures keep tied documents in row order. If the rows come sorted by grade, a ranker that ties all documents looks perfect:
    a constant feature in AdaRank, the first round of a booster on validation data. So learners shuffle the rows.
    """
    noise = np.random.default_rng(seed).random(int(offsets[-1]))
    return np.lexsort((noise, query_index(offsets))).astype(np.int64)


class RoundChoice:
    """Watches the rounds of a booster on validation data and remembers the best one, the first if several tie.

    Without validation data the last round watched is the best one.
    """

    def __init__(self, validation: JudgedArrays | None, measure: str, seed: int) -> None:
        self.measure = measure
        self.best_round, self.best_value = 0, -np.inf
        self.X: NDArray[Any] | None = None
        if validation is not None:
            X, y, self.offsets = as_judged(*validation)
            order = shuffled_within(self.offsets, seed)
            self.X, self.y = X[order], y[order]
            self.scores = np.zeros(len(self.X))

    def watch(self, round_: int, gain: FloatArray | None) -> None:
        """Add the scores of this round to those of the validation documents, and compare."""
        if gain is None:
            self.best_round = round_
            return
        self.scores += gain
        value = mean_measure(self.measure, self.y, self.scores, self.offsets)
        if value > self.best_value:
            self.best_round, self.best_value = round_, value

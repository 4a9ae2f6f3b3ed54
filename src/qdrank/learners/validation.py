"""Judged data as learners take it, and the choice of a round on the validation part."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qdrank.errors import InputError
from qdrank.groups import FloatArray, IntArray, query_offsets
from qdrank.learners.choose import Choice, Unranked, ValidationQueries

JudgedArrays = tuple[ArrayLike, ArrayLike, ArrayLike] | tuple[ArrayLike, ArrayLike, ArrayLike, Unranked | None]
"""Features (n_documents, n_features), grades (n_documents,) and query ids (n_documents,), in this order.

Validation data of which the candidates miss relevant documents have the grades and offsets of these as a fourth.
"""


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


def validation_queries(validation: JudgedArrays, measure: str, seed: int) -> ValidationQueries:
    """The queries of ``validation``, by which settings and rounds are compared."""
    y, offsets = np.asarray(validation[1]), query_offsets(np.asarray(validation[2]))
    return ValidationQueries(y, offsets, validation[3] if len(validation) > 3 else None, measure=measure, seed=seed)


class RoundChoice:
    """Watches the rounds of a booster on validation data and remembers the best one, the first if several tie.

    Without validation data the last round watched is the best one.
    """

    def __init__(self, validation: JudgedArrays | None, measure: str, seed: int) -> None:
        self.best_round = 0
        self.X: NDArray[Any] | None = None
        if validation is not None:
            self.X = as_judged(*validation[:3])[0]
            self.scores, self.choice = np.zeros(len(self.X)), Choice[int]()
            self._queries = validation_queries(validation, measure, seed)

    def watch(self, round_: int, gain: FloatArray | None) -> None:
        """Add the scores of this round, (n_documents,), to those of the validation documents, and compare."""
        if gain is None:
            self.best_round = round_
            return
        self.scores += gain
        self.choice.offer(round_, self._queries.values(self.scores))
        self.best_round = self.choice.chosen

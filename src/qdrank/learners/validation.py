"""The choice of a round on the validation part."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from qdrank.layout import FloatArray
from qdrank.learners.choose import Choice, ValidationQueries
from qdrank.learners.inputs import JudgedArrays, as_grades, as_judged, as_offsets


def validation_queries(validation: JudgedArrays, measure: str, seed: int) -> ValidationQueries:
    """The queries of ``validation``, used to compare settings and rounds."""
    y = as_grades(validation[1])
    offsets = as_offsets(validation[2], len(y))
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

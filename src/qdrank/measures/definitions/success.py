"""Success: whether there is a relevant document among the first k ranks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from qdrank.layout import FloatArray, IntArray
from qdrank.measures.definition import Tied, by_ties
from qdrank.measures.definitions.rr import ReciprocalRank
from qdrank.measures.ranking import Ranking


@dataclass(frozen=True, kw_only=True)
class Success(ReciprocalRank):
    """1 if the first relevant document is up to the cutoff, else 0."""

    def values(self, ranking: Ranking, cutoffs: IntArray) -> FloatArray:
        """Success at each cutoff, shape (n_queries, n_cutoffs)."""
        return (super().values(ranking, cutoffs) > 0).astype(np.float64)

    def expected(self, tied: Tied, cutoffs: IntArray) -> FloatArray:
        """Mean over the orders of ties."""
        return tied.sums_at(tied.first_relevant(self.rel), cutoffs)


ROW_ORDER, TREC, TREC_DOUBLE = by_ties(Success())

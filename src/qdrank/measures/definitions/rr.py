"""Reciprocal rank; its mean over queries is MRR."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from qdrank.layout import FloatArray, IntArray
from qdrank.measures.definition import Definition, Tied, by_ties
from qdrank.measures.ranking import Ranking


@dataclass(frozen=True, kw_only=True)
class ReciprocalRank(Definition):
    """One over the rank of the first relevant document; 0 if there is none up to the cutoff.

    ``rel``: lowest grade that is relevant.
    """

    rel: int = 1

    def values(self, ranking: Ranking, cutoffs: IntArray) -> FloatArray:
        """Reciprocal rank at each cutoff, shape (n_queries, n_cutoffs)."""
        relevant = (ranking.grades >= self.rel).astype(np.int64)
        values: FloatArray = ranking.kernels.reciprocal_ranks(relevant, ranking.judgements.offsets)[:, None]
        return np.where(values >= 1 / cutoffs, values, 0.0)

    def expected(self, tied: Tied, cutoffs: IntArray) -> FloatArray:
        """Mean over the orders of ties."""
        return tied.sums_at(tied.first_relevant(self.rel) / tied.rank, cutoffs)


ROW_ORDER, TREC, TREC_DOUBLE = by_ties(ReciprocalRank())

"""Reciprocal rank; its mean over queries is MRR."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from qdrank.layout import FloatArray, IntArray, query_index
from qdrank.measures.definition import Definition, Tied, by_ties
from qdrank.measures.padded import ranks
from qdrank.measures.ranking import Ranking


@dataclass(frozen=True, kw_only=True)
class ReciprocalRank(Definition):
    """One over the rank of the first relevant document; 0 if there is none up to the cutoff.

    ``rel``: lowest grade that is relevant.
    """

    rel: int = 1

    def values(self, ranking: Ranking, cutoffs: IntArray) -> FloatArray:
        """Reciprocal rank at each cutoff, shape (n_queries, n_cutoffs)."""
        offsets = ranking.judgements.offsets
        hits = np.flatnonzero(ranking.grades >= self.rel)
        queries, first = np.unique(query_index(offsets)[hits], return_index=True)
        values = np.zeros((len(offsets) - 1, 1))
        values[queries, 0] = 1.0 / ranks(offsets)[hits[first]]
        return np.where(values >= 1 / cutoffs, values, 0.0)

    def expected(self, tied: Tied, cutoffs: IntArray) -> FloatArray:
        """Mean over the orders of ties."""
        return tied.sums_at(tied.first_relevant(self.rel) / tied.rank, cutoffs)


ROW_ORDER, TREC, TREC_DOUBLE = by_ties(ReciprocalRank())

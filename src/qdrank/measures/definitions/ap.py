"""Average precision; its mean over queries is MAP."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from qdrank.layout import FloatArray, IntArray
from qdrank.measures.definition import Definition, Tied, by_ties
from qdrank.measures.padded import ranks, sums_at
from qdrank.measures.ranking import Judgements, Ranking


@dataclass(frozen=True, kw_only=True)
class AveragePrecision(Definition):
    """Mean of the precision at the rank of each relevant document, 0 beyond the cutoff; 0 if there is none.

    ``rel``: lowest grade that is relevant.
    """

    rel: int = 1

    def values(self, ranking: Ranking, cutoffs: IntArray) -> FloatArray:
        """Average precision at each cutoff, shape (n_queries, n_cutoffs)."""
        judgements = ranking.judgements
        relevant = ranking.grades >= self.rel
        hits = np.concatenate([[0], np.cumsum(relevant)])
        found = hits[1:] - np.repeat(hits[judgements.offsets[:-1]], judgements.n_documents)
        sums = sums_at(np.where(relevant, found / ranks(judgements.offsets), 0.0), judgements.offsets, cutoffs)
        return self._mean(sums, judgements)

    def expected(self, tied: Tied, cutoffs: IntArray) -> FloatArray:
        """Mean over the orders of ties: McSherry and Najork 2008, eq. 11.

        At place t of a group of n tied documents, r of them relevant, that begins after rank m with h relevant documents before
        it: a relevant one is there with probability r / n, and then (t - 1)(r - 1) / (n - 1) more are expected above it in the group.
        """
        relevant = (tied.ranking.grades >= self.rel).astype(np.float64)
        n, r, t = tied.size, tied.total(relevant), tied.place
        above = tied.before(relevant) + (t - 1) * (r - 1) / np.maximum(n - 1, 1)
        sums = tied.sums_at(r / n * (1 + above) / tied.rank, cutoffs)
        return self._mean(sums, tied.judgements)

    def _mean(self, sums: FloatArray, judgements: Judgements) -> FloatArray:
        below = judgements.n_relevant(self.rel)[:, None]
        values: FloatArray = np.divide(sums, below, out=np.zeros_like(sums), where=below > 0)
        return values


ROW_ORDER, TREC, TREC_DOUBLE = by_ties(AveragePrecision())

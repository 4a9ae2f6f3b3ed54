"""Precision: the share of relevant documents (grade 1 or more) among the first k ranks."""

from __future__ import annotations

from dataclasses import dataclass

from qdrank.groups import FloatArray, IntArray
from qdrank.measures.definitions import gains
from qdrank.measures.definitions.dcg import DCG
from qdrank.measures.ranking import Ranking


@dataclass(frozen=True, kw_only=True)
class Precision(DCG):
    """Relevant documents up to the cutoff over the cutoff; missing ranks count as not relevant.

    Parameters
    ----------
    short_is_zero : P@k is 0 for a query with fewer than k documents, as in the LETOR 3.0 script
    """

    gain: gains.Gain = gains.relevant
    discount: gains.Discount = gains.undiscounted
    short_is_zero: bool = False

    def values(self, ranking: Ranking, cutoffs: IntArray) -> FloatArray:
        """Precision at each cutoff, shape (n_queries, n_cutoffs)."""
        values = super().values(ranking, cutoffs) / cutoffs
        if self.short_is_zero:
            values[ranking.judgements.n_documents[:, None] < cutoffs] = 0.0
        return values


LETOR4 = Precision()
LETOR3 = Precision(short_is_zero=True)
TREC = Precision(ties="docno")

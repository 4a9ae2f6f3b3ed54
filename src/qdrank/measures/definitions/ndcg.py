"""Normalised discounted cumulative gain: DCG over the DCG of the best order of the judged documents."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from qdrank.layout import FloatArray, IntArray
from qdrank.measures.definition import by_ties
from qdrank.measures.definitions import gains
from qdrank.measures.definitions.dcg import DCG
from qdrank.measures.padded import sums_at
from qdrank.measures.ranking import Judgements


@dataclass(frozen=True, kw_only=True)
class NDCG(DCG):
    """DCG over ideal DCG.

    Parameters
    ----------
    empty : value of a query without relevant documents
    short_is_zero : NDCG@k is 0 for a query with fewer than k documents, instead of that of the short list
    """

    empty: float = 0.0
    short_is_zero: bool = False

    def scaled(self, sums: FloatArray, judgements: Judgements, cutoffs: IntArray) -> FloatArray:
        """NDCG at each cutoff, shape (n_queries, n_cutoffs)."""
        gain, discount = self.tables(judgements)
        best = sums_at(gain[judgements.ideal], judgements.ideal_offsets, cutoffs, discount)
        values: FloatArray = np.divide(sums, best, out=np.full_like(sums, self.empty), where=best > 0)
        if self.short_is_zero:
            values[judgements.n_documents[:, None] < cutoffs] = 0.0
        return values


LETOR = NDCG(gain=gains.exponential, discount=gains.letor, short_is_zero=True)
GENG = NDCG(gain=gains.exponential, discount=gains.letor)
EXP = NDCG(gain=gains.exponential, discount=gains.log2_next)
LIGHTGBM = NDCG(gain=gains.exponential, discount=gains.log2_next, empty=1.0)
LINEAR, TREC, TREC_DOUBLE = by_ties(NDCG(gain=gains.linear, discount=gains.log2_next))

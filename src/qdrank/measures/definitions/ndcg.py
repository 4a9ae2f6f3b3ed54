"""Normalised discounted cumulative gain: DCG over the DCG of the best order of the judged documents."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from qdrank.groups import FloatArray, IntArray
from qdrank.measures.definitions import gains
from qdrank.measures.definitions.dcg import DCG
from qdrank.measures.ranking import Ranking


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

    def values(self, ranking: Ranking, cutoffs: IntArray) -> FloatArray:
        """NDCG at each cutoff, shape (n_queries, n_cutoffs)."""
        judgements = ranking.judgements
        got = super().values(ranking, cutoffs)
        best = ranking.kernels.gain_at(judgements.ideal, judgements.ideal_offsets, *self.tables(judgements), cutoffs)
        values: FloatArray = np.divide(got, best, out=np.full_like(got, self.empty), where=best > 0)
        if self.short_is_zero:
            values[judgements.n_documents[:, None] < cutoffs] = 0.0
        return values


LETOR = NDCG(gain=gains.exponential, discount=gains.letor, short_is_zero=True)
GENG = NDCG(gain=gains.exponential, discount=gains.letor)
EXP = NDCG(gain=gains.exponential, discount=gains.log2_next)
LIGHTGBM = NDCG(gain=gains.exponential, discount=gains.log2_next, empty=1.0)
LINEAR = NDCG(gain=gains.linear, discount=gains.log2_next)
TREC = NDCG(gain=gains.linear, discount=gains.log2_next, ties="docno")

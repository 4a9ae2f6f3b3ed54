"""Mean of NDCG over positions: two measures that share a name in the literature and little else."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from qdrank.layout import FloatArray, IntArray
from qdrank.measures.definition import Definition, Tied
from qdrank.measures.definitions import ndcg
from qdrank.measures.padded import blocks
from qdrank.measures.ranking import Judgements, Ranking


@dataclass(frozen=True, kw_only=True)
class MeanOverAll(Definition):
    """``MeanNDCG`` of the LETOR 4.0 script: the mean of NDCG@1 ... NDCG@n over all n documents of the query."""

    def values(self, ranking: Ranking, cutoffs: IntArray) -> FloatArray:  # noqa: ARG002
        """Mean NDCG, shape (n_queries, 1)."""
        gain, discount = ndcg.LETOR.tables(ranking.judgements)
        return self._mean(gain[ranking.grades], ranking.judgements, gain, discount)

    def expected(self, tied: Tied, cutoffs: IntArray) -> FloatArray:  # noqa: ARG002
        """Mean over the orders of ties: every tied document has the mean gain of its group."""
        judgements = tied.judgements
        gain, discount = ndcg.LETOR.tables(judgements)
        return self._mean(tied.total(gain[tied.ranking.grades]) / tied.size, judgements, gain, discount)

    @staticmethod
    def _mean(gains: FloatArray, judgements: Judgements, gain: FloatArray, discount: FloatArray) -> FloatArray:
        """Mean over the ranks of the gain so far over the ideal gain so far; ``gains`` (n_documents,) are in ranked order."""
        means, ideal = np.zeros((len(judgements.n_documents), 1)), gain[judgements.ideal]
        ahead = judgements.ideal_offsets - judgements.offsets
        for queries, rows, exists in blocks(judgements.offsets):
            weight = exists * discount[: rows.shape[1]]
            got, best = (np.cumsum(weight * each, axis=1) for each in (gains[rows], ideal[rows + ahead[queries, None]]))
            ratio = np.divide(got, best, out=np.zeros_like(got), where=exists & (best > 0))
            means[queries, 0] = np.cumsum(ratio, axis=1)[:, -1] / judgements.n_documents[queries]
        return means


@dataclass(frozen=True, kw_only=True)
class MeanOverTen(Definition):
    """Geng et al. 2008's "mean NDCG": the mean of NDCG@1 ... NDCG@10 (eq. 4); a short list stays short."""

    def values(self, ranking: Ranking, cutoffs: IntArray) -> FloatArray:  # noqa: ARG002
        """Mean NDCG, shape (n_queries, 1)."""
        mean: FloatArray = ndcg.GENG.values(ranking, np.arange(1, 11)).mean(axis=1, keepdims=True)
        return mean

    def expected(self, tied: Tied, cutoffs: IntArray) -> FloatArray:  # noqa: ARG002
        """Mean over the orders of ties."""
        mean: FloatArray = ndcg.GENG.expected(tied, np.arange(1, 11)).mean(axis=1, keepdims=True)
        return mean


LETOR4 = MeanOverAll()
GENG = MeanOverTen()

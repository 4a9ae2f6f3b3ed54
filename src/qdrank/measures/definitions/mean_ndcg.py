"""Mean of NDCG over positions: two measures that share a name in the literature and little else."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from qdrank.layout import FloatArray, IntArray
from qdrank.measures.definition import Definition, Tied
from qdrank.measures.definitions import ndcg
from qdrank.measures.ranking import Ranking


@dataclass(frozen=True, kw_only=True)
class MeanOverAll(Definition):
    """``MeanNDCG`` of the LETOR 4.0 script: the mean of NDCG@1 ... NDCG@n over all n documents of the query."""

    def values(self, ranking: Ranking, cutoffs: IntArray) -> FloatArray:  # noqa: ARG002
        """Mean NDCG, shape (n_queries, 1)."""
        judgements = ranking.judgements
        lists = (ranking.grades, judgements.offsets, judgements.ideal, judgements.ideal_offsets)
        values: FloatArray = ranking.kernels.mean_ratio(*lists, *ndcg.LETOR.tables(judgements))
        return values[:, None]

    def expected(self, tied: Tied, cutoffs: IntArray) -> FloatArray:  # noqa: ARG002
        """Mean over the orders of ties: every tied document has the mean gain of its group."""
        judgements = tied.judgements
        gain, discount = ndcg.LETOR.tables(judgements)
        means = tied.total(gain[tied.ranking.grades]) / tied.size
        # The gains of the documents follow those of the grades, and are looked up by place in the ranking.
        places = len(gain) + np.arange(len(means))
        lists = (places, judgements.offsets, judgements.ideal, judgements.ideal_offsets)
        values: FloatArray = judgements.kernels.mean_ratio(*lists, np.concatenate([gain, means]), discount)
        return values[:, None]


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

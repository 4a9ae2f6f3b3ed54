"""Reciprocal rank; its mean over queries is MRR."""

from __future__ import annotations

from dataclasses import dataclass

from qdrank.groups import FloatArray, IntArray
from qdrank.measures.ranking import Definition, Ranking


@dataclass(frozen=True, kw_only=True)
class ReciprocalRank(Definition):
    """One over the rank of the first relevant document; 0 if there is none."""

    def values(self, ranking: Ranking, cutoffs: IntArray) -> FloatArray:  # noqa: ARG002
        """Reciprocal rank, shape (n_queries, 1)."""
        values: FloatArray = ranking.kernels.reciprocal_ranks(ranking.grades, ranking.judgements.offsets)
        return values[:, None]


ROW_ORDER = ReciprocalRank()
TREC = ReciprocalRank(ties="docno")

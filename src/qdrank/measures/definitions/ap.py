"""Average precision; its mean over queries is MAP."""

from __future__ import annotations

from dataclasses import dataclass

from qdrank.groups import FloatArray, IntArray
from qdrank.measures.ranking import Definition, Ranking


@dataclass(frozen=True, kw_only=True)
class AveragePrecision(Definition):
    """Mean of the precision at the rank of each relevant document; 0 if there is none."""

    def values(self, ranking: Ranking, cutoffs: IntArray) -> FloatArray:  # noqa: ARG002
        """Average precision, shape (n_queries, 1)."""
        judgements = ranking.judgements
        values: FloatArray = ranking.kernels.average_precisions(ranking.grades, judgements.offsets, judgements.n_missed)
        return values[:, None]


ROW_ORDER = AveragePrecision()
TREC = AveragePrecision(ties="docno")

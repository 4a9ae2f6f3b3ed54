"""Judged: the share of the first k documents that have a judgment; how far the other measures can be trusted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from qdrank.layout import FloatArray, IntArray
from qdrank.measures.definition import by_ties
from qdrank.measures.definitions import gains
from qdrank.measures.definitions.dcg import DCG
from qdrank.measures.ranking import Judgements, Ranking


@dataclass(frozen=True, kw_only=True)
class JudgedShare(DCG):
    """Judged documents up to the cutoff over the documents up to the cutoff, as in ir_measures; 0 for an empty list."""

    gain: gains.Gain = gains.linear
    discount: gains.Discount = gains.undiscounted

    def tables(self, judgements: Judgements) -> tuple[FloatArray, FloatArray]:
        """1 for a judged document, and the discount of every rank there is."""
        return np.array([0.0, 1.0]), super().tables(judgements)[1]

    def grades(self, ranking: Ranking) -> IntArray:
        """1 where a document is judged."""
        return ranking.judged.astype(np.int64)

    def scaled(self, sums: FloatArray, judgements: Judgements, cutoffs: IntArray) -> FloatArray:
        """Share at each cutoff, shape (n_queries, n_cutoffs)."""
        values: FloatArray = sums / np.maximum(np.minimum(judgements.n_documents[:, None], cutoffs), 1)
        return values


ROW_ORDER, TREC, TREC_DOUBLE = by_ties(JudgedShare())

"""Recall: the share of the relevant documents that are among the first k ranks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from qdrank.layout import FloatArray, IntArray
from qdrank.measures.definition import by_ties
from qdrank.measures.definitions.precision import Hits
from qdrank.measures.ranking import Judgements


@dataclass(frozen=True, kw_only=True)
class Recall(Hits):
    """Relevant documents up to the cutoff over all relevant ones, ranked or not; 0 if there are none."""

    def scaled(self, sums: FloatArray, judgements: Judgements, cutoffs: IntArray) -> FloatArray:  # noqa: ARG002
        """Recall at each cutoff, shape (n_queries, n_cutoffs)."""
        relevant = judgements.n_relevant(self.rel)[:, None]
        values: FloatArray = np.divide(sums, relevant, out=np.zeros_like(sums), where=relevant > 0)
        return values


ROW_ORDER, TREC, TREC_DOUBLE = by_ties(Recall())

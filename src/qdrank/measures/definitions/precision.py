"""Precision: the share of relevant documents (grade 1 or more, or ``rel``) among the first k ranks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from qdrank.layout import FloatArray, IntArray
from qdrank.measures.definitions import gains
from qdrank.measures.definitions.dcg import DCG
from qdrank.measures.ranking import Judgements


@dataclass(frozen=True, kw_only=True)
class Hits(DCG):
    """Number of relevant documents up to the cutoff.

    ``rel``: lowest grade that is relevant.
    """

    gain: gains.Gain = gains.relevant
    discount: gains.Discount = gains.undiscounted
    rel: int = 1

    def tables(self, judgements: Judgements) -> tuple[FloatArray, FloatArray]:
        """1 for every grade that is relevant, and the discount of every rank there is."""
        gain, discount = super().tables(judgements)
        return (np.arange(len(gain)) >= self.rel).astype(np.float64), discount


@dataclass(frozen=True, kw_only=True)
class Precision(Hits):
    """Relevant documents up to the cutoff over the cutoff; missing ranks count as not relevant.

    ``short_is_zero``: P@k is 0 for a query with fewer than k documents, as in the LETOR 3.0 script.
    """

    short_is_zero: bool = False

    def scaled(self, sums: FloatArray, judgements: Judgements, cutoffs: IntArray) -> FloatArray:
        """Precision at each cutoff, shape (n_queries, n_cutoffs)."""
        values: FloatArray = sums / cutoffs
        if self.short_is_zero:
            values[judgements.n_documents[:, None] < cutoffs] = 0.0
        return values


LETOR4 = Precision()
LETOR3 = Precision(short_is_zero=True)
TREC = Precision(ties="docno")
TREC_DOUBLE = Precision(ties="docno, double precision")

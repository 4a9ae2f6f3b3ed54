"""Rank-biased precision, Moffat and Zobel 2008."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from qdrank.layout import FloatArray
from qdrank.measures.definition import by_ties
from qdrank.measures.definitions.precision import Hits
from qdrank.measures.ranking import Judgements


@dataclass(frozen=True, kw_only=True)
class RankBiasedPrecision(Hits):
    """(1 - p) times the sum of p^(rank - 1) over the relevant documents up to the cutoff (eq. 3).

    ``p``: probability that a user goes on from one document to the next.
    """

    p: float = 0.8

    def tables(self, judgements: Judgements) -> tuple[FloatArray, FloatArray]:
        """1 for every grade that is relevant, and the weight of every rank there is."""
        gain, discount = super().tables(judgements)
        return gain, (1 - self.p) * np.power(self.p, np.arange(len(discount), dtype=np.float64))


ROW_ORDER, TREC, TREC_DOUBLE = by_ties(RankBiasedPrecision())

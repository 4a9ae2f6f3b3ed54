"""Discounted cumulative gain."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from qdrank.groups import FloatArray, IntArray
from qdrank.measures.definitions import gains
from qdrank.measures.ranking import Definition, Judgements, Ranking


@dataclass(frozen=True, kw_only=True)
class DCG(Definition):
    """Sum of gain times discount over the ranks up to the cutoff."""

    gain: gains.Gain
    discount: gains.Discount

    def tables(self, judgements: Judgements) -> tuple[FloatArray, FloatArray]:
        """Gain of every grade, discount of every rank there is."""
        longest = int(np.diff(judgements.ideal_offsets).max(initial=0))
        return self.gain(judgements.n_grades), self.discount(longest)

    def values(self, ranking: Ranking, cutoffs: IntArray) -> FloatArray:
        """DCG at each cutoff, shape (n_queries, n_cutoffs)."""
        judgements = ranking.judgements
        sums: FloatArray = ranking.kernels.gain_at(
            ranking.grades, judgements.offsets, *self.tables(judgements), cutoffs
        )
        return sums


LETOR = DCG(gain=gains.exponential, discount=gains.letor)
EXP = DCG(gain=gains.exponential, discount=gains.log2_next)
LINEAR = DCG(gain=gains.linear, discount=gains.log2_next)
ZHA = DCG(gain=gains.zha, discount=gains.log2_next)

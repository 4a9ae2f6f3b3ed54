"""Discounted cumulative gain."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from qdrank.layout import FloatArray, IntArray
from qdrank.measures.definition import Definition, Tied
from qdrank.measures.definitions import gains
from qdrank.measures.padded import sums_at
from qdrank.measures.ranking import Judgements, Ranking


@dataclass(frozen=True, kw_only=True)
class DCG(Definition):
    """Sum of gain times discount over the ranks up to the cutoff; other measures are this sum, `scaled`."""

    gain: gains.Gain
    discount: gains.Discount

    def tables(self, judgements: Judgements) -> tuple[FloatArray, FloatArray]:
        """Gain of every grade, discount of every rank there is."""
        longest = int(np.diff(judgements.ideal_offsets).max(initial=0))
        return self.gain(judgements.n_grades), self.discount(longest)

    def grades(self, ranking: Ranking) -> IntArray:
        """What the gain is looked up by, in ranked order, shape (n_documents,)."""
        return ranking.grades

    def scaled(self, sums: FloatArray, judgements: Judgements, cutoffs: IntArray) -> FloatArray:  # noqa: ARG002
        """The measure from its sums, shape (n_queries, n_cutoffs); linear, so that it is the same for expected sums."""
        return sums

    def values(self, ranking: Ranking, cutoffs: IntArray) -> FloatArray:
        """The measure at each cutoff, shape (n_queries, n_cutoffs)."""
        judgements = ranking.judgements
        gain, discount = self.tables(judgements)
        sums = sums_at(gain[self.grades(ranking)], judgements.offsets, cutoffs, discount)
        return self.scaled(sums, judgements, cutoffs)

    def expected(self, tied: Tied, cutoffs: IntArray) -> FloatArray:
        """Mean over the orders of ties: every tied document has the mean gain of its group (McSherry and Najork 2008)."""
        gain, discount = self.tables(tied.judgements)
        means = tied.total(gain[self.grades(tied.ranking)]) / tied.size
        return self.scaled(tied.sums_at(means, cutoffs, discount), tied.judgements, cutoffs)


LETOR = DCG(gain=gains.exponential, discount=gains.letor)
EXP = DCG(gain=gains.exponential, discount=gains.log2_next)
LINEAR = DCG(gain=gains.linear, discount=gains.log2_next)
ZHA = DCG(gain=gains.zha, discount=gains.log2_next)

"""Bpref: how often a relevant document comes before one that is judged not relevant; documents without a judgment do not count."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from qdrank.layout import FloatArray, IntArray, query_index
from qdrank.measures.definition import Definition, Tied, by_ties
from qdrank.measures.ranking import Judgements, Ranking


@dataclass(frozen=True, kw_only=True)
class BinaryPreference(Definition):
    """Buckley and Voorhees 2004 as trec_eval computes it, with R relevant and N judged not relevant documents.

    1/R times the sum over the ranked relevant documents of 1 - min(n, R) / min(N, R), n being the number of documents judged
    not relevant above it. 0 without relevant documents.

    ``rel``: lowest grade that is relevant.
    """

    rel: int = 1

    def values(self, ranking: Ranking, cutoffs: IntArray) -> FloatArray:
        """Bpref, the same for each cutoff, shape (n_queries, n_cutoffs)."""
        judgements = ranking.judgements
        hits, others = self._kinds(ranking)
        of_query, above = query_index(judgements.offsets), np.cumsum(others) - others
        first = np.concatenate([above, [0]])[np.minimum(judgements.offsets[:-1], len(above))]
        lost = np.minimum(above - first[of_query], judgements.n_relevant(self.rel)[of_query])
        return self._mean(hits * (1 - lost / self._most(judgements)[of_query]), judgements, cutoffs)

    def expected(self, tied: Tied, cutoffs: IntArray) -> FloatArray:
        """Mean over the orders of ties: above a relevant document there are 0 to w of its group's w others, each equally likely."""
        judgements = tied.judgements
        hits, others = self._kinds(tied.ranking)
        of_query = query_index(judgements.offsets)
        R, w, before = judgements.n_relevant(self.rel)[of_query], tied.total(others), tied.before(others)
        below = np.clip(R - before, 0, w + 1)  # how many of the numbers before, ..., before + w are below R
        lost = (below * before + below * (below - 1) / 2 + (w + 1 - below) * R) / (w + 1)
        return self._mean(hits * (1 - lost / self._most(judgements)[of_query]), judgements, cutoffs)

    def _kinds(self, ranking: Ranking) -> tuple[FloatArray, FloatArray]:
        """1 for the relevant documents, and 1 for those judged not relevant."""
        hits = ranking.grades >= self.rel
        return hits.astype(np.float64), (ranking.judged & ~hits).astype(np.float64)

    def _most(self, judgements: Judgements) -> FloatArray:
        """min(N, R) of each query, at least 1."""
        relevant = judgements.n_relevant(self.rel)
        fewer: IntArray = np.minimum(relevant, judgements.n_judged() - relevant)
        return np.maximum(fewer, 1).astype(np.float64)

    def _mean(self, kept: FloatArray, judgements: Judgements, cutoffs: IntArray) -> FloatArray:
        n = len(judgements.offsets) - 1
        sums = np.bincount(query_index(judgements.offsets), weights=kept, minlength=n)
        values = sums / np.maximum(judgements.n_relevant(self.rel), 1)
        return np.repeat(values[:, None], len(cutoffs), axis=1)


ROW_ORDER, TREC, TREC_DOUBLE = by_ties(BinaryPreference())

"""The measures: one class for each kind, and below it its conventions, which `qdrank.measures.MEASURES` names."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from qdrank.layout import FloatArray, IntArray, query_index
from qdrank.measures import gains
from qdrank.measures.definition import Definition, Tied, by_ties
from qdrank.measures.ranking import Judgements, Ranking, blocks, ranks, sums_at


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


DCG_LETOR = DCG(gain=gains.exponential, discount=gains.letor)
DCG_EXP = DCG(gain=gains.exponential, discount=gains.log2_next)
DCG_LINEAR = DCG(gain=gains.linear, discount=gains.log2_next)
DCG_ZHA = DCG(gain=gains.zha, discount=gains.log2_next)


@dataclass(frozen=True, kw_only=True)
class NDCG(DCG):
    """DCG over ideal DCG.

    Parameters
    ----------
    empty : value of a query without relevant documents
    short_is_zero : NDCG@k is 0 for a query with fewer than k documents, instead of that of the short list
    """

    empty: float = 0.0
    short_is_zero: bool = False

    def scaled(self, sums: FloatArray, judgements: Judgements, cutoffs: IntArray) -> FloatArray:
        """NDCG at each cutoff, shape (n_queries, n_cutoffs)."""
        gain, discount = self.tables(judgements)
        best = sums_at(gain[judgements.ideal], judgements.ideal_offsets, cutoffs, discount)
        values: FloatArray = np.divide(sums, best, out=np.full_like(sums, self.empty), where=best > 0)
        if self.short_is_zero:
            values[judgements.n_documents[:, None] < cutoffs] = 0.0
        return values


NDCG_LETOR = NDCG(gain=gains.exponential, discount=gains.letor, short_is_zero=True)
NDCG_GENG = NDCG(gain=gains.exponential, discount=gains.letor)
NDCG_EXP = NDCG(gain=gains.exponential, discount=gains.log2_next)
NDCG_LIGHTGBM = NDCG(gain=gains.exponential, discount=gains.log2_next, empty=1.0)
NDCG_LINEAR, NDCG_TREC, NDCG_TREC_DOUBLE = by_ties(NDCG(gain=gains.linear, discount=gains.log2_next))


@dataclass(frozen=True, kw_only=True)
class MeanOverAll(Definition):
    """``MeanNDCG`` of the LETOR 4.0 script: the mean of NDCG@1 ... NDCG@n over all n documents of the query."""

    def values(self, ranking: Ranking, cutoffs: IntArray) -> FloatArray:  # noqa: ARG002
        """Mean NDCG, shape (n_queries, 1)."""
        gain, discount = NDCG_LETOR.tables(ranking.judgements)
        return self._mean(gain[ranking.grades], ranking.judgements, gain, discount)

    def expected(self, tied: Tied, cutoffs: IntArray) -> FloatArray:  # noqa: ARG002
        """Mean over the orders of ties: every tied document has the mean gain of its group."""
        judgements = tied.judgements
        gain, discount = NDCG_LETOR.tables(judgements)
        return self._mean(tied.total(gain[tied.ranking.grades]) / tied.size, judgements, gain, discount)

    @staticmethod
    def _mean(gains: FloatArray, judgements: Judgements, gain: FloatArray, discount: FloatArray) -> FloatArray:
        """Mean over the ranks of the gain so far over the ideal gain so far; ``gains`` (n_documents,) are in ranked order."""
        means, ideal = np.zeros((len(judgements.n_documents), 1)), gain[judgements.ideal]
        ahead = judgements.ideal_offsets - judgements.offsets
        for queries, rows, exists in blocks(judgements.offsets):
            weight = exists * discount[: rows.shape[1]]
            got, best = (np.cumsum(weight * each, axis=1) for each in (gains[rows], ideal[rows + ahead[queries, None]]))
            ratio = np.divide(got, best, out=np.zeros_like(got), where=exists & (best > 0))
            means[queries, 0] = np.cumsum(ratio, axis=1)[:, -1] / judgements.n_documents[queries]
        return means


@dataclass(frozen=True, kw_only=True)
class MeanOverTen(Definition):
    """Geng et al. 2008's "mean NDCG": the mean of NDCG@1 ... NDCG@10 (eq. 4); a short list stays short."""

    def values(self, ranking: Ranking, cutoffs: IntArray) -> FloatArray:  # noqa: ARG002
        """Mean NDCG, shape (n_queries, 1)."""
        mean: FloatArray = NDCG_GENG.values(ranking, np.arange(1, 11)).mean(axis=1, keepdims=True)
        return mean

    def expected(self, tied: Tied, cutoffs: IntArray) -> FloatArray:  # noqa: ARG002
        """Mean over the orders of ties."""
        mean: FloatArray = NDCG_GENG.expected(tied, np.arange(1, 11)).mean(axis=1, keepdims=True)
        return mean


MEAN_NDCG_LETOR4 = MeanOverAll()
MEAN_NDCG_GENG = MeanOverTen()


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


P_LETOR4 = Precision()
P_LETOR3 = Precision(short_is_zero=True)
P_TREC = Precision(ties="docno")
P_TREC_DOUBLE = Precision(ties="docno, double precision")


@dataclass(frozen=True, kw_only=True)
class Recall(Hits):
    """Relevant documents up to the cutoff over all relevant ones, ranked or not; 0 if there are none."""

    def scaled(self, sums: FloatArray, judgements: Judgements, cutoffs: IntArray) -> FloatArray:  # noqa: ARG002
        """Recall at each cutoff, shape (n_queries, n_cutoffs)."""
        relevant = judgements.n_relevant(self.rel)[:, None]
        values: FloatArray = np.divide(sums, relevant, out=np.zeros_like(sums), where=relevant > 0)
        return values


R, R_TREC, R_TREC_DOUBLE = by_ties(Recall())


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


RBP, RBP_TREC, RBP_TREC_DOUBLE = by_ties(RankBiasedPrecision())


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


JUDGED, JUDGED_TREC, JUDGED_TREC_DOUBLE = by_ties(JudgedShare())


@dataclass(frozen=True, kw_only=True)
class AveragePrecision(Definition):
    """Mean of the precision at the rank of each relevant document, 0 beyond the cutoff; 0 if there is none.

    ``rel``: lowest grade that is relevant.
    """

    rel: int = 1

    def values(self, ranking: Ranking, cutoffs: IntArray) -> FloatArray:
        """Average precision at each cutoff, shape (n_queries, n_cutoffs)."""
        judgements = ranking.judgements
        relevant = ranking.grades >= self.rel
        hits = np.concatenate([[0], np.cumsum(relevant)])
        found = hits[1:] - np.repeat(hits[judgements.offsets[:-1]], judgements.n_documents)
        sums = sums_at(np.where(relevant, found / ranks(judgements.offsets), 0.0), judgements.offsets, cutoffs)
        return self._mean(sums, judgements)

    def expected(self, tied: Tied, cutoffs: IntArray) -> FloatArray:
        """Mean over the orders of ties: McSherry and Najork 2008, eq. 11.

        At place t of a group of n tied documents, r of them relevant, that begins after rank m with h relevant documents before
        it: a relevant one is there with probability r / n, and then (t - 1)(r - 1) / (n - 1) more are expected above it in the group.
        """
        relevant = (tied.ranking.grades >= self.rel).astype(np.float64)
        n, r, t = tied.size, tied.total(relevant), tied.place
        above = tied.before(relevant) + (t - 1) * (r - 1) / np.maximum(n - 1, 1)
        sums = tied.sums_at(r / n * (1 + above) / tied.rank, cutoffs)
        return self._mean(sums, tied.judgements)

    def _mean(self, sums: FloatArray, judgements: Judgements) -> FloatArray:
        below = judgements.n_relevant(self.rel)[:, None]
        values: FloatArray = np.divide(sums, below, out=np.zeros_like(sums), where=below > 0)
        return values


AP, AP_TREC, AP_TREC_DOUBLE = by_ties(AveragePrecision())


@dataclass(frozen=True, kw_only=True)
class ReciprocalRank(Definition):
    """One over the rank of the first relevant document; 0 if there is none up to the cutoff.

    ``rel``: lowest grade that is relevant.
    """

    rel: int = 1

    def values(self, ranking: Ranking, cutoffs: IntArray) -> FloatArray:
        """Reciprocal rank at each cutoff, shape (n_queries, n_cutoffs)."""
        offsets = ranking.judgements.offsets
        hits = np.flatnonzero(ranking.grades >= self.rel)
        queries, first = np.unique(query_index(offsets)[hits], return_index=True)
        values = np.zeros((len(offsets) - 1, 1))
        values[queries, 0] = 1.0 / ranks(offsets)[hits[first]]
        return np.where(values >= 1 / cutoffs, values, 0.0)

    def expected(self, tied: Tied, cutoffs: IntArray) -> FloatArray:
        """Mean over the orders of ties."""
        return tied.sums_at(tied.first_relevant(self.rel) / tied.rank, cutoffs)


RR, RR_TREC, RR_TREC_DOUBLE = by_ties(ReciprocalRank())


@dataclass(frozen=True, kw_only=True)
class Success(ReciprocalRank):
    """1 if the first relevant document is up to the cutoff, else 0."""

    def values(self, ranking: Ranking, cutoffs: IntArray) -> FloatArray:
        """Success at each cutoff, shape (n_queries, n_cutoffs)."""
        return (super().values(ranking, cutoffs) > 0).astype(np.float64)

    def expected(self, tied: Tied, cutoffs: IntArray) -> FloatArray:
        """Mean over the orders of ties."""
        return tied.sums_at(tied.first_relevant(self.rel), cutoffs)


SUCCESS, SUCCESS_TREC, SUCCESS_TREC_DOUBLE = by_ties(Success())


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


BPREF, BPREF_TREC, BPREF_TREC_DOUBLE = by_ties(BinaryPreference())

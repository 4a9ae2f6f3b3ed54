"""What a measure is, and how it sees a ranking with ties; `qdrank.measures.definitions` has one class per kind."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

import numpy as np

from qdrank.errors import InputError
from qdrank.layout import FloatArray, IntArray
from qdrank.measures.ranking import Judgements, Ranking, TieOrder, ranks, sums_at


@dataclass(frozen=True, eq=False)
class Tied:
    """A ranking with its runs of tied documents; the attributes have one entry per rank, query by query.

    Attributes
    ----------
    ranking : the documents in one of the possible orders
    tie : (n_documents,) number of the run of ties, ascending
    """

    ranking: Ranking
    tie: IntArray

    @property
    def judgements(self) -> Judgements:
        """What is ranked."""
        return self.ranking.judgements

    @cached_property
    def rank(self) -> FloatArray:
        """Rank within the query, from 1."""
        return ranks(self.judgements.offsets).astype(np.float64)

    @cached_property
    def _sizes(self) -> IntArray:
        return np.bincount(self.tie)

    @cached_property
    def size(self) -> FloatArray:
        """Number of documents in the run."""
        return self._sizes[self.tie].astype(np.float64)

    @cached_property
    def place(self) -> FloatArray:
        """Place within the run, from 1."""
        starts = np.cumsum(self._sizes) - self._sizes
        return np.arange(1.0, len(self.tie) + 1) - starts[self.tie]

    def total(self, values: FloatArray) -> FloatArray:
        """Sum of values over the run."""
        return np.bincount(self.tie, weights=values).astype(np.float64)[self.tie]

    def before(self, values: FloatArray) -> FloatArray:
        """Sum of whole numbers over the ranks above the run, within the query."""
        above = np.concatenate([[0.0], np.cumsum(values)])
        starts = np.cumsum(self._sizes) - self._sizes
        first = np.repeat(self.judgements.offsets[:-1], np.diff(self.judgements.offsets))
        sums: FloatArray = above[starts[self.tie]] - above[first]
        return sums

    def first_relevant(self, rel: int) -> FloatArray:
        """Probability that the first document with grade ``rel`` or more has this rank, all orders of ties being equally likely."""
        relevant = (self.ranking.grades >= rel).astype(np.float64)
        n, r = self.size, self.total(relevant)
        probability = np.zeros(len(n))
        here = np.flatnonzero((self.before(relevant) == 0) & (r > 0) & (self.place == 1))
        for i in here.tolist():
            size, hits = int(n[i]), int(r[i])
            left = np.arange(size, 0, -1)  # documents from this place of the run on
            none = np.concatenate([[1.0], np.cumprod(np.maximum(left - hits, 0) / left)[:-1]])
            probability[i : i + size] = none * np.minimum(hits / left, 1.0)
        return probability

    def sums_at(self, values: FloatArray, cutoffs: IntArray, discount: FloatArray | None = None) -> FloatArray:
        """Sums of values, times the discounts of their ranks, up to each cutoff, shape (n_queries, n_cutoffs)."""
        return sums_at(values, self.judgements.offsets, cutoffs, discount)


_Kind = TypeVar("_Kind", bound="Definition")


@dataclass(frozen=True, kw_only=True)
class Definition(ABC):
    """What a measure is: a function from a ranking to one value per query."""

    ties: TieOrder = "row"

    @abstractmethod
    def values(self, ranking: Ranking, cutoffs: IntArray) -> FloatArray:
        """Values of the measure, shape (n_queries, n_cutoffs).

        Parameters
        ----------
        ranking : the judged documents in ranked order
        cutoffs : (n_cutoffs,) ascending; the largest integer stands for no cutoff
        """

    def expected(self, tied: Tied, cutoffs: IntArray) -> FloatArray:  # noqa: ARG002
        """Mean of the values over all orders of tied documents, exactly; the parameters are those of `values`."""
        raise InputError(f"the expected value over ties is not known for {type(self).__name__}")


def by_ties(definition: _Kind) -> tuple[_Kind, _Kind, _Kind]:
    """A definition with ties in row order, as in trec_eval up to version 9.0.8, and as in later versions."""
    return definition, replace(definition, ties="docno"), replace(definition, ties="docno, double precision")

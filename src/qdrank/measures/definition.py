"""What a measure is; `qdrank.measures.definitions` has one small file per kind."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import TypeVar

from qdrank.errors import InputError
from qdrank.layout import FloatArray, IntArray
from qdrank.measures.ranking import Ranking, TieOrder
from qdrank.measures.tied import Tied

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

"""What a measure is; `qdrank.measures.definitions` has one small file per kind."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

from qdrank.errors import InputError
from qdrank.layout import FloatArray, IntArray
from qdrank.measures.ranking import Ranking, TieOrder
from qdrank.measures.tied import Tied


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

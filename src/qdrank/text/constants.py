"""Constants of the rank models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from qdrank.errors import InputError


@dataclass(frozen=True)
class Constants:
    """Constants of the rank models; the default is LETOR's for the .GOV collections.

    Attributes
    ----------
    k1, b, k3 : BM25 (Robertson's); with k3 = 0 a term counts once however often the query has it
    mu, jm, delta : Dirichlet prior, Jelinek-Mercer's share of the collection, absolute discount
    idf_over : {"match", "query"}
        Whether L5, L6, L7 are summed over the terms that the document contains, as the papers print them, or over all
        terms of the query, as LETOR's files have them (then the same for all documents of a query).
    """

    k1: float = 2.5
    b: float = 0.8
    k3: float = 0.0
    mu: float = 2000.0
    jm: float = 0.1
    delta: float = 0.7
    idf_over: Literal["match", "query"] = "match"

    def __post_init__(self) -> None:
        positive = (
            self.k1 >= 0
            and self.k3 >= 0
            and 0 <= self.b <= 1
            and self.mu > 0
            and 0 < self.jm <= 1
            and 0 < self.delta <= 1
        )
        if not positive or self.idf_over not in ("match", "query"):
            raise InputError(f"bad constants of the rank models: {self}")


# Found by recomputing LETOR 3.0's OHSUMED files from the publisher's term counts.
OHSUMED = Constants(k1=1.2, b=0.75, k3=7.0, mu=50.0, jm=0.5, delta=0.5, idf_over="query")

"""BM25 in two variants, each named after its source (a comparison: Kamphuis et al., ECIR 2020).

A variant is an inverse document frequency and a saturation of the term frequency; the score of a document is their
product summed over the query's terms that it contains. ``norm`` is ``1 - b + b * length / mean length``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from qdrank.errors import InputError
from qdrank.layout import FloatArray
from qdrank.registry import refuse_unknown
from qdrank.text.index import FieldIndex


@dataclass(frozen=True)
class BM25:
    """Parameters of BM25; the default is Lucene's variant at the constants of BEIR's baseline.

    Attributes
    ----------
    variant : {"lucene", "robertson"}
    k1, b : saturation of the term frequency, and strength of the normalisation by length
    """

    variant: str = "lucene"
    k1: float = 0.9
    b: float = 0.4

    def __post_init__(self) -> None:
        refuse_unknown("variant of BM25", self.variant, VARIANTS)
        if not (self.k1 >= 0 and 0 <= self.b <= 1):
            raise InputError(f"bad parameters of BM25: {self}", fix="k1 is at least 0, b is in [0, 1]")

    def norm(self, field: FieldIndex) -> FloatArray:
        """Normalisation by length, (n_documents,)."""
        return 1 - self.b + self.b * field.length / field.mean_length

    def idf(self, field: FieldIndex) -> FloatArray:
        """Inverse document frequency of every term, (n_terms,)."""
        return VARIANTS[self.variant].idf(field.df, field.n_documents)

    def saturation(self, tf: FloatArray, norm: FloatArray) -> FloatArray:
        """Weight of the term frequencies ``tf``, 0 where ``tf`` is 0."""
        return np.where(tf > 0, VARIANTS[self.variant].saturation(tf, norm, self), 0.0)


def robertson_idf(df: FloatArray, n: int) -> FloatArray:
    """Robertson & Spärck Jones' weight; a term in over half of the documents counts for nothing, not against."""
    return np.maximum(np.log((n - df + 0.5) / (df + 0.5)), 0.0)


def robertson_tf(tf: FloatArray, norm: FloatArray, p: BM25) -> FloatArray:
    """Robertson et al., TREC-3 (1994); LETOR's BM25."""
    return (p.k1 + 1) * tf / (tf + p.k1 * norm)


def lucene_idf(df: FloatArray, n: int) -> FloatArray:
    """Lucene's weight, never negative."""
    return np.log1p((n - df + 0.5) / (df + 0.5))


def lucene_tf(tf: FloatArray, norm: FloatArray, p: BM25) -> FloatArray:
    """Lucene 8 and later (with the exact length, as in "Lucene (accurate)" of Kamphuis et al. 2020)."""
    return tf / (tf + p.k1 * norm)


class _Variant(NamedTuple):
    """The two factors of a term's weight."""

    idf: Callable[[FloatArray, int], FloatArray]
    saturation: Callable[[FloatArray, FloatArray, BM25], FloatArray]


VARIANTS = {
    "robertson": _Variant(robertson_idf, robertson_tf),
    "lucene": _Variant(lucene_idf, lucene_tf),
}

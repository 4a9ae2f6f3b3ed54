"""BM25 and its variants, each named after its paper (a comparison: Kamphuis et al., ECIR 2020).

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
from qdrank.registry import did_you_mean
from qdrank.text.index import FieldIndex


@dataclass(frozen=True)
class BM25:
    """Parameters of BM25; the default is Lucene's variant at the constants of BEIR's baseline.

    Attributes
    ----------
    variant : {"robertson", "lucene", "atire", "bm25+", "bm25l"}
    k1, b : saturation of the term frequency, and strength of the normalisation by length
    delta : lower bound of Lv & Zhai; used by ``"bm25+"`` and ``"bm25l"`` alone
    """

    variant: str = "lucene"
    k1: float = 0.9
    b: float = 0.4
    delta: float = 1.0

    def __post_init__(self) -> None:
        if self.variant not in VARIANTS:
            raise InputError(
                f"unknown variant of BM25 {self.variant!r}", fix=did_you_mean(self.variant, list(VARIANTS))
            )
        if not (self.k1 >= 0 and 0 <= self.b <= 1 and self.delta >= 0):
            raise InputError(f"bad parameters of BM25: {self}", fix="k1 and delta are at least 0, b is in [0, 1]")

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


def atire_idf(df: FloatArray, n: int) -> FloatArray:
    """Trotman, Jia & Crane, ATIRE (2012); 0 for a term that is in no document."""
    return np.where(df > 0, np.log(n / np.maximum(df, 1)), 0.0)


def plus_idf(df: FloatArray, n: int) -> FloatArray:
    """Lv & Zhai, CIKM 2011 (BM25+)."""
    return np.where(df > 0, np.log((n + 1) / np.maximum(df, 1)), 0.0)


def plus_tf(tf: FloatArray, norm: FloatArray, p: BM25) -> FloatArray:
    """Lv & Zhai, CIKM 2011 (BM25+): a matched term is worth at least ``delta``."""
    return robertson_tf(tf, norm, p) + p.delta


def l_idf(df: FloatArray, n: int) -> FloatArray:
    """Lv & Zhai, SIGIR 2011 (BM25L)."""
    return np.log((n + 1) / (df + 0.5))


def l_tf(tf: FloatArray, norm: FloatArray, p: BM25) -> FloatArray:
    """Lv & Zhai, SIGIR 2011 (BM25L): the normalised frequency is shifted by ``delta``."""
    shifted = tf / np.where(norm > 0, norm, 1.0) + p.delta
    return (p.k1 + 1) * shifted / (p.k1 + shifted)


class _Variant(NamedTuple):
    """The two factors of a term's weight."""

    idf: Callable[[FloatArray, int], FloatArray]
    saturation: Callable[[FloatArray, FloatArray, BM25], FloatArray]


VARIANTS = {
    "robertson": _Variant(robertson_idf, robertson_tf),
    "lucene": _Variant(lucene_idf, lucene_tf),
    "atire": _Variant(atire_idf, robertson_tf),
    "bm25+": _Variant(plus_idf, plus_tf),
    "bm25l": _Variant(l_idf, l_tf),
}

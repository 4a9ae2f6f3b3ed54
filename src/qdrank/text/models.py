"""The rank models of Hoi & Jin 2008 (L1 to L10, H1 to H5; methods of Cao et al., SIGIR 2006) and LETOR's further ones.

A model takes the matches of a block of pairs in one field and returns one value per pair. With the constants `OHSUMED`
they give the values of LETOR 3.0's OHSUMED to all printed digits. Those files settle what the papers leave open: |C| is
the number of *documents* in L7 and L10 too; all logarithms are natural; a word that the query repeats is summed as often.

Guards, where a formula has no value: the logarithm in L6 is taken of log(|C|/df) but at least 1/|C| (a term that every
document contains counts like one that a single document lacks); H2 is log(BM25) but at least 0 (LETOR has 0 where no
term matches, but goes below 0 where BM25 is under 1, which would put a weak match behind none); in an empty field c/|d|
is 0 and distinct/length is 1; a term that is nowhere in the field is left out of the language models.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from qdrank.errors import InputError
from qdrank.layout import FloatArray, IntArray
from qdrank.text.index import AnalysedQueries, FieldIndex


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


class Matches(NamedTuple):
    """One entry per candidate pair and distinct term of its query, in one field.

    ``pair`` (n_entries,) numbers the pair, sorted; ``term`` is the column of the term; ``tf`` counts in the document (0 where it lacks the term), ``qtf`` in
    the query, ``df`` and ``cf`` in the collection. ``length`` and ``distinct`` (n_pairs,) are those of the document.
    """

    pair: IntArray
    term: IntArray
    tf: FloatArray
    qtf: FloatArray
    df: FloatArray
    cf: FloatArray
    length: FloatArray
    distinct: FloatArray
    n_documents: int
    n_tokens: float
    mean_length: float
    constants: Constants = Constants()

    @property
    def share(self) -> FloatArray:
        """c(t,d)/|d| of each entry; 0 in an empty field."""
        return self.tf / np.maximum(self.length, 1.0)[self.pair]

    @property
    def idf(self) -> FloatArray:
        """log(|C|/df) of each entry; 0 for a term that is not in the field."""
        return np.where(self.df > 0, np.log(self.n_documents / np.maximum(self.df, 1.0)), 0.0)

    def total(self, values: FloatArray) -> FloatArray:
        """Sum of the entries' ``values`` for each pair, (n_pairs,)."""
        return np.bincount(self.pair, weights=values, minlength=len(self.length)).astype(np.float64)

    def over_words(self, values: FloatArray) -> FloatArray:
        """The same, with each term counted as often as it occurs in the query."""
        return self.total(self.qtf * values)


def match(
    field: FieldIndex, queries: AnalysedQueries, query: IntArray, document: IntArray, constants: Constants | None = None
) -> Matches:
    """Look up the terms of ``query`` (n_pairs,) in ``document`` (n_pairs,), both row numbers."""
    starts = queries.counts.indptr.astype(np.int64)
    n_terms = np.diff(starts)[query]
    pair = np.repeat(np.arange(len(query), dtype=np.int64), n_terms)
    # Place of each entry in the queries' matrix: the start of its query's row plus its place within the run.
    place = np.arange(len(pair)) - np.repeat(np.cumsum(n_terms) - n_terms - starts[query], n_terms)
    term = queries.counts.indices[place].astype(np.int64)
    return Matches(
        pair=pair,
        term=term,
        tf=lookup(field, document[pair], term),
        qtf=queries.counts.data[place].astype(np.float64),
        df=field.df[term],
        cf=field.cf[term],
        length=field.length[document],
        distinct=field.distinct[document],
        n_documents=field.n_documents,
        n_tokens=field.n_tokens,
        mean_length=field.mean_length,
        constants=constants or Constants(),
    )


def lookup(field: FieldIndex, document: IntArray, term: IntArray) -> FloatArray:
    """Counts of the pairs (document, term); SciPy searches each sorted row in compiled code."""
    if len(document) == 0:
        return np.zeros(0)
    return np.asarray(field.counts[document, term], dtype=np.float64).ravel()


def counted(m: Matches) -> FloatArray:
    """1 for the entries over which L5, L6, L7 are summed, else 0."""
    return ((m.tf if m.constants.idf_over == "match" else m.df) > 0).astype(np.float64)


def l1(m: Matches) -> FloatArray:
    """Σ c(t,d)."""
    return m.over_words(m.tf)


def l2(m: Matches) -> FloatArray:
    """Σ log(c(t,d) + 1)."""
    return m.over_words(np.log1p(m.tf))


def l3(m: Matches) -> FloatArray:
    """Σ c(t,d)/|d|."""
    return m.over_words(m.share)


def l4(m: Matches) -> FloatArray:
    """Σ log(c(t,d)/|d| + 1)."""
    return m.over_words(np.log1p(m.share))


def l5(m: Matches) -> FloatArray:
    """Σ log(|C|/df)."""
    return m.over_words(counted(m) * m.idf)


def l6(m: Matches) -> FloatArray:
    """Σ log(log(|C|/df))."""
    return m.over_words(counted(m) * np.log(np.maximum(m.idf, 1.0 / m.n_documents)))


def l7(m: Matches) -> FloatArray:
    """Σ log(|C|/c(t,C) + 1)."""
    return m.over_words(counted(m) * np.log1p(m.n_documents / np.maximum(m.cf, 1.0)))


def l8(m: Matches) -> FloatArray:
    """Σ log((c(t,d)/|d|) log(|C|/df) + 1)."""
    return m.over_words(np.log1p(m.share * m.idf))


def l9(m: Matches) -> FloatArray:
    """Σ c(t,d) log(|C|/df)."""
    return m.over_words(m.tf * m.idf)


def l10(m: Matches) -> FloatArray:
    """Σ log((c(t,d)/|d|) (|C|/c(t,C)) + 1)."""
    return m.over_words(np.log1p(m.share * m.n_documents / np.maximum(m.cf, 1.0)))


def robertson_idf(df: FloatArray, n: int) -> FloatArray:
    """Robertson & Spärck Jones' weight; a term in over half of the documents counts for nothing, not against."""
    return np.maximum(np.log((n - df + 0.5) / (df + 0.5)), 0.0)


def bm25(m: Matches) -> FloatArray:
    """H1: BM25 of Robertson et al., TREC-3."""
    k1, b = m.constants.k1, m.constants.b
    norm = k1 * (1 - b + b * m.length / m.mean_length)
    # max(): an entry without the term has 0/0 where k1 or the norm is 0.
    saturation = (k1 + 1) * m.tf / np.maximum(m.tf + norm[m.pair], np.finfo(float).tiny)
    asked = (m.constants.k3 + 1) * m.qtf / (m.constants.k3 + m.qtf)
    return m.total(robertson_idf(m.df, m.n_documents) * saturation * asked)


def log_bm25(m: Matches) -> FloatArray:
    """H2: log BM25, at least 0."""
    return np.log(np.maximum(bm25(m), 1.0))


def background(m: Matches) -> FloatArray:
    """p(t|C) of each entry; 1 for a term that is not in the field, so that only 0 is added for it."""
    return np.where(m.cf > 0, m.cf / max(m.n_tokens, 1.0), 1.0)


def likelihood(m: Matches, probability: FloatArray) -> FloatArray:
    """Σ c(t,q) log p(t|d), over the terms that occur in the field."""
    return m.over_words(np.log(np.where(m.cf > 0, probability, 1.0)))


def lmir_dir(m: Matches) -> FloatArray:
    """H3: language model with a Dirichlet prior (Zhai & Lafferty 2001)."""
    length = m.length[m.pair]
    return likelihood(m, (m.tf + m.constants.mu * background(m)) / (length + m.constants.mu))


def lmir_jm(m: Matches) -> FloatArray:
    """H4: language model with Jelinek-Mercer smoothing."""
    return likelihood(m, (1 - m.constants.jm) * m.share + m.constants.jm * background(m))


def lmir_abs(m: Matches) -> FloatArray:
    """H5: language model with absolute discounting."""
    length = np.maximum(m.length, 1.0)
    freed = m.constants.delta * np.where(m.length > 0, m.distinct / length, 1.0)
    kept = np.maximum(m.tf - m.constants.delta, 0.0) / length[m.pair]
    return likelihood(m, kept + freed[m.pair] * background(m))


def idf_sum(m: Matches) -> FloatArray:
    """LETOR's IDF: Σ log(|C|/df) over all words of the query, whatever the document."""
    return m.over_words(m.idf)


def length(m: Matches) -> FloatArray:
    """|d|."""
    return m.length


def coverage(m: Matches) -> FloatArray:
    """Share of the query's known distinct terms that the document contains; 0 for a query without any."""
    return m.total((m.tf > 0).astype(np.float64)) / np.maximum(m.total(np.ones_like(m.tf)), 1.0)


RankModel = Callable[[Matches], FloatArray]

MODELS: dict[str, RankModel] = {
    **{f"L{i}": model for i, model in enumerate((l1, l2, l3, l4, l5, l6, l7, l8, l9, l10), start=1)},
    **{f"H{i}": model for i, model in enumerate((bm25, log_bm25, lmir_dir, lmir_jm, lmir_abs), start=1)},
    "TF": l1,
    "IDF": idf_sum,
    "TFIDF": l9,
    "length": length,
    "coverage": coverage,
    "BM25": bm25,
    "LMIR.ABS": lmir_abs,
    "LMIR.DIR": lmir_dir,
    "LMIR.JM": lmir_jm,
}

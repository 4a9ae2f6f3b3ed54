"""Query terms met in candidate documents: the flat table from which every rank model is summed."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from qdrank.layout import FloatArray, IntArray
from qdrank.text.constants import Constants
from qdrank.text.index import AnalysedQueries, FieldIndex


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

"""Pseudo-relevance feedback: RM3 (Abdul-Jaleel et al., TREC 2004) on the relevance model RM1 of Lavrenko & Croft (SIGIR 2001).

p(t | q') = weight * c(t, q) / |q| + (1 - weight) * rm1(t)
rm1(t)    = sum over the first documents d of  score(d) / sum of scores * c(t, d) / |d|,   the best terms only, summing to 1
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from qdrank.errors import InputError
from qdrank.layout import FloatArray
from qdrank.text.index import AnalysedQueries, Counts, FieldIndex
from qdrank.text.retrieve import RankedDocuments


@dataclass(frozen=True)
class Feedback:
    """How a query is expanded; the default is Anserini's.

    Attributes
    ----------
    documents, terms : how many of the first documents are used, and how many of their terms
    weight : share of the original query, 1 for no feedback
    """

    documents: int = 10
    terms: int = 10
    weight: float = 0.5

    def __post_init__(self) -> None:
        if self.documents < 1 or self.terms < 1 or not 0 <= self.weight <= 1:
            raise InputError(
                f"bad settings of feedback: {self}", fix="documents and terms are at least 1, weight is in [0, 1]"
            )


def relevance_models(field: FieldIndex, ranking: RankedDocuments, feedback: Feedback) -> sparse.csr_array:
    """RM1 of every query, (n_queries, n_terms), rows summing to 1; an empty row where nothing was retrieved.

    Of terms with equal weight the one that comes first in the vocabulary is kept.
    """
    documents, scores = ranking.document[:, : feedback.documents], ranking.score[:, : feedback.documents]
    row, place = np.nonzero(documents >= 0)
    share = scores[row, place] / np.maximum(field.length[documents[row, place]], 1.0)
    chosen = sparse.csr_array((share, (row, documents[row, place])), shape=(len(documents), field.n_documents))
    mixed = sparse.csr_array(chosen @ field.counts)
    mixed.sort_indices()
    return best_terms(mixed, feedback.terms)


def best_terms(mixed: sparse.csr_array, n_terms: int) -> sparse.csr_array:
    """The ``n_terms`` largest entries of each row, scaled to sum to 1."""
    row = np.repeat(np.arange(mixed.shape[0]), np.diff(mixed.indptr))
    order = np.lexsort((mixed.indices, -mixed.data, row))
    rank = np.arange(len(order)) - mixed.indptr[row[order]]
    keep = np.sort(order[rank < n_terms])
    values, rows = mixed.data[keep], row[keep]
    total = np.bincount(rows, weights=values, minlength=mixed.shape[0])
    values = values / np.where(total > 0, total, 1.0)[rows]
    return sparse.csr_array((values, (rows, mixed.indices[keep])), shape=mixed.shape)


def expanded_queries(
    field: FieldIndex, queries: AnalysedQueries, ranking: RankedDocuments, feedback: Feedback
) -> AnalysedQueries:
    """Queries expanded by RM3; their counts are shares that sum to 1. A query that found nothing stays as it is."""
    model = relevance_models(field, ranking, feedback)
    return replace(queries, counts=mixed_queries(queries.counts, model, feedback.weight))


def mixed_queries(words: Counts, model: sparse.csr_array, weight: float) -> Counts:
    """Shares of the terms, (n_queries, n_terms): of the query with ``weight``, of its relevance model with the rest."""
    counts = words.astype(np.float64)
    length: FloatArray = np.asarray(counts.sum(axis=1), dtype=np.float64)
    asked = sparse.diags_array(1.0 / np.maximum(length, 1.0)) @ counts
    has_model = np.diff(model.indptr) > 0
    share = np.where(has_model, weight, 1.0)
    mixed = sparse.csr_array(sparse.diags_array(share) @ asked + sparse.diags_array(1.0 - share) @ model)
    mixed.eliminate_zeros()
    mixed.sort_indices()
    return mixed

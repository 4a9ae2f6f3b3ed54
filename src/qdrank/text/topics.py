"""Columns that describe a query: its length, how rare its words are, what its best documents are about."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from qdrank.layout import FloatArray
from qdrank.text.index import AnalysedQueries, FieldIndex
from qdrank.text.retrieve import RankedDocuments

QUERY_COLUMNS = ("length", "known", "unknown", "idf.sum", "idf.mean", "idf.max", "idf.min", "log.matches")


def query_columns(field: FieldIndex, queries: AnalysedQueries, ranking: RankedDocuments) -> FloatArray:
    """Columns `QUERY_COLUMNS` of every query, (n_queries, 8); 0 where a query has no known term."""
    idf = np.log(field.n_documents / np.maximum(field.df, 1.0))
    counts = queries.counts
    known = np.diff(counts.indptr)
    query = np.repeat(np.arange(len(queries)), known)
    values = idf[counts.indices]
    total = np.bincount(query, weights=values, minlength=len(queries))
    most, least = np.zeros(len(queries)), np.full(len(queries), np.inf)
    np.maximum.at(most, query, values)
    np.minimum.at(least, query, values)
    least[known == 0] = 0.0
    mean = total / np.maximum(known, 1)
    matched = np.log1p(ranking.matches)
    return np.column_stack([queries.length, known, queries.unknown, total, mean, most, least, matched]).astype(
        np.float64
    )


class LatentSpace(NamedTuple):
    """Latent semantic space (Deerwester et al. 1990): unit rows ``documents`` (n_documents, n_dimensions), and ``axes`` (n_dimensions, n_terms)."""

    documents: FloatArray
    axes: FloatArray

    def cosines(self, field: FieldIndex, words: sparse.csr_array) -> FloatArray:
        """Cosine of each query, counts (n_queries, n_terms), with each document, (n_queries, n_documents)."""
        return np.asarray(self.places(field, words) @ self.documents.T)

    def places(self, field: FieldIndex, words: sparse.csr_array) -> FloatArray:
        """Queries folded into the space, (n_queries, n_dimensions), unit rows."""
        return _unit_rows(np.asarray(_tfidf(field, words) @ self.axes.T))


def latent_space(field: FieldIndex, n_dimensions: int) -> LatentSpace:
    """The space of the largest singular values of the documents.

    The decomposition starts from a fixed vector and each axis points to where its largest term weight is positive, so
    that the same index gives the same coordinates.
    """
    weights = _tfidf(field, field.counts)
    n_dimensions = min(n_dimensions, min(weights.shape) - 1)
    if n_dimensions < 1:
        return LatentSpace(np.zeros((field.n_documents, 0)), np.zeros((0, field.n_terms)))
    start = np.full(min(weights.shape), 1.0)
    left, size, right = sparse.linalg.svds(weights, k=n_dimensions, v0=start, solver="arpack")
    order = np.argsort(-size, kind="stable")
    left, size, right = left[:, order], size[order], right[order]
    peak = np.abs(right).argmax(axis=1)
    sign = np.where(right[np.arange(len(right)), peak] < 0, -1.0, 1.0)
    return LatentSpace(_unit_rows(left * (size * sign)), right * sign[:, None])


def lsa_coordinates(field: FieldIndex, n_dimensions: int) -> FloatArray:
    """Coordinates of the documents in `latent_space`, (n_documents, n_dimensions), unit rows."""
    return latent_space(field, n_dimensions).documents


def lsa_columns(coordinates: FloatArray, ranking: RankedDocuments, n_best: int = 10) -> FloatArray:
    """Mean coordinates of each query's ``n_best`` documents by BM25, (n_queries, n_dimensions)."""
    best = ranking.document[:, :n_best]
    ranked = best >= 0
    rows, places = np.nonzero(ranked)
    chosen = sparse.csr_array(
        (1.0 / ranked.sum(axis=1)[rows], (rows, best[rows, places])), shape=(len(best), len(coordinates))
    )
    return np.asarray(chosen @ coordinates, dtype=np.float64)


def _tfidf(field: FieldIndex, counts: sparse.csr_array) -> sparse.csr_array:
    """(1 + log tf) idf of the counts of texts, rows of unit length; ``field`` says how rare a term is."""
    idf = np.log(field.n_documents / np.maximum(field.df, 1.0))
    values = (1 + np.log(counts.data)) * idf[counts.indices]
    row = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    norm = np.sqrt(np.bincount(row, weights=values**2, minlength=counts.shape[0]))
    values = values / np.where(norm > 0, norm, 1.0)[row]
    return sparse.csr_array((values, counts.indices, counts.indptr), shape=counts.shape)


def _unit_rows(X: FloatArray) -> FloatArray:
    norm = np.linalg.norm(X, axis=1, keepdims=True)
    # A document without a known word has no direction.
    return np.asarray(np.divide(X, norm, out=np.zeros_like(X), where=norm > 1e-12), dtype=np.float64)

"""Expansion of queries with their first documents, and of documents with the past queries that they answered.

Queries: RM3 (Abdul-Jaleel et al., TREC 2004) on the relevance model RM1 of Lavrenko & Croft (SIGIR 2001):

p(t | q') = weight * c(t, q) / |q| + (1 - weight) * rm1(t)
rm1(t)    = sum over the first documents d of  score(d) / sum of scores * c(t, d) / |d|,   the best terms only, summing to 1

Documents: query association (Scholer & Williams, CIKM 2002):

tf'(t, d) = tf(t, d) + copies * sum of c(t, p) over the past queries p that d is relevant to                          (1)

How many documents have a term, and the mean length, stay those of the text alone. So a query that must not see some past
queries, such as itself, finds every document unchanged except those that these are relevant to, and equation 1 without
them is exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from qdrank.datasets.collections.model import Collection
from qdrank.errors import InputError
from qdrank.layout import FloatArray, IntArray
from qdrank.text.index import AnalysedQueries, Counts, FieldIndex, Index, analyse_queries, with_words
from qdrank.text.retrieve import BM25, RankedDocuments, best_documents


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


def relevance_models(
    query: IntArray, score: FloatArray, counts: Counts, n_queries: int, n_terms: int
) -> sparse.csr_array:
    """RM1 of every query, (n_queries, all terms), the ``n_terms`` best only, rows summing to 1; an empty row where nothing was retrieved.

    Of terms with equal weight the one that comes first in the vocabulary is kept.

    Parameters
    ----------
    query, score : (n_pairs,) row numbers of the queries, and scores of their first documents
    counts : (n_pairs, all terms) of these documents
    """
    share = score / np.maximum(np.asarray(counts.sum(axis=1), dtype=np.float64), 1.0)
    chosen = sparse.csr_array((share, (query, np.arange(len(query)))), shape=(n_queries, len(query)))
    mixed = sparse.csr_array(chosen @ counts)
    mixed.sort_indices()
    row = np.repeat(np.arange(n_queries), np.diff(mixed.indptr))
    order = np.lexsort((mixed.indices, -mixed.data, row))
    rank = np.arange(len(order)) - mixed.indptr[row[order]]
    keep = np.sort(order[rank < n_terms])
    values, rows = mixed.data[keep], row[keep]
    total = np.bincount(rows, weights=values, minlength=n_queries)
    values = values / np.where(total > 0, total, 1.0)[rows]
    return sparse.csr_array((values, (rows, mixed.indices[keep])), shape=mixed.shape)


def expanded_queries(
    field: FieldIndex, queries: AnalysedQueries, ranking: RankedDocuments, feedback: Feedback
) -> AnalysedQueries:
    """Queries expanded by RM3; their counts are shares that sum to 1. A query that found nothing stays as it is."""
    documents = ranking.document[:, : feedback.documents]
    query, place = np.nonzero(documents >= 0)
    order = np.lexsort((documents[query, place], query))
    query, place = query[order], place[order]
    counts = sparse.csr_array(field.counts[documents[query, place]])
    model = relevance_models(query, ranking.score[query, place], counts, len(documents), feedback.terms)
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


# Pairs of query and document that are scored again at a time.
_PAIRS = 4096


@dataclass(frozen=True, eq=False)
class PastQueries:
    """Queries that have been judged.

    Attributes
    ----------
    words : csr_array (n_past, n_terms), counts of their terms
    judgments : csr_array (n_past, n_documents), grades above 0 of their relevant documents
    vectors : (n_past, n_dimensions) by an encoder; None where there is none
    source : (n_past,) number of the source of each; None where each is one of its own
    """

    words: Counts
    judgments: sparse.csr_array
    vectors: FloatArray | None = None
    source: IntArray | None = None

    def __len__(self) -> int:
        return int(self.words.shape[0])

    @cached_property
    def related(self) -> sparse.csr_array:
        """(n_past, n_past), 1 where two past queries have one source, and on the diagonal."""
        source = np.arange(len(self)) if self.source is None else self.source
        member = sparse.csr_array((np.ones(len(self), dtype=np.int32), (np.arange(len(self)), source)))
        return sparse.csr_array(member @ member.T)

    @cached_property
    def answered(self) -> sparse.csr_array:
        """(n_documents, n_past), 1 where the document is relevant to the past query."""
        relevant = self.judgments.T.tocsr()
        return sparse.csr_array(
            (np.ones(relevant.nnz, dtype=np.int32), relevant.indices, relevant.indptr), relevant.shape
        )


def judged_queries(collection: Collection, index: Index) -> PastQueries:
    """All queries of a collection with their judgments, in the terms of an index (`qdrank.text.index.with_words`)."""
    qrels = collection.qrels
    relevant = qrels.grade > 0
    pairs = qrels.query[relevant], qrels.document[relevant]
    shape = len(collection.queries), len(index.doc_id)
    words = analyse_queries(index, [query.text for query in collection.queries]).counts
    known = [query.query_id if query.source is None else query.source for query in collection.queries]
    source = (
        None if all(query.source is None for query in collection.queries) else np.unique(known, return_inverse=True)[1]
    )
    return PastQueries(words, sparse.csr_array((qrels.grade[relevant], pairs), shape=shape), source=source)


@dataclass(frozen=True, eq=False)
class AskedQueries:
    """Queries to be answered.

    Attributes
    ----------
    words : csr_array (n_asked, n_terms), counts of their terms
    hidden : csr_array (n_asked, n_past), 1 where a query must not see a past query: itself, its source, a near-duplicate
    vectors : (n_asked, n_dimensions) by an encoder; None where there is none
    """

    words: Counts
    hidden: sparse.csr_array
    vectors: FloatArray | None = None

    def __len__(self) -> int:
        return int(self.words.shape[0])

    def take(self, rows: IntArray | slice) -> AskedQueries:
        """Some of the queries."""
        vectors = None if self.vectors is None else self.vectors[rows]
        return AskedQueries(self.words[rows], self.hidden[rows], vectors)


def none_hidden(n_asked: int, n_past: int) -> sparse.csr_array:
    """What hides nothing, (n_asked, n_past)."""
    nothing: Any = sparse.csr_array((n_asked, n_past), dtype=np.int32)  # its stub takes a shape for data
    typed: sparse.csr_array = nothing
    return typed


@dataclass(frozen=True, eq=False)
class ExpandedField:
    """A field with the words of past queries appended; with ``copies`` 0 it is the field itself."""

    text: FieldIndex
    past: PastQueries
    copies: int = 1
    _weights: dict[BM25, sparse.csr_array] = field(default_factory=dict, repr=False)

    @cached_property
    def counts(self) -> Counts:
        """Equation 1, (n_documents, n_terms)."""
        if not self.copies:
            return self.text.counts
        added = self.past.answered @ self.past.words
        return sparse.csr_array(self.text.counts + self.copies * added)

    def seen(self, query: IntArray, document: IntArray, hidden: sparse.csr_array) -> Counts:
        """Counts of documents as queries see them, (n_pairs, n_terms), from row numbers (n_pairs,) of both."""
        rows = self.counts[document]
        if not self.copies or not hidden.nnz:
            return rows
        return sparse.csr_array(rows - self.copies * self._unseen(query, document, hidden))

    @cached_property
    def length(self) -> FloatArray:
        """Words of each document, those of past queries included, (n_documents,)."""
        return np.asarray(self.counts.sum(axis=1), dtype=np.float64)

    def term_weights(self, counts: Counts, length: FloatArray, model: BM25) -> sparse.csr_array:
        """What each term adds to the score of a document, from counts (n_rows, n_terms) and lengths (n_rows,)."""
        row = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
        norm = 1 - model.b + model.b * length / self.text.mean_length
        values = model.saturation(counts.data.astype(np.float64), norm[row]) * model.idf(self.text)[counts.indices]
        return sparse.csr_array((values, counts.indices, counts.indptr), shape=counts.shape)

    def scores(self, words: Counts, hidden: sparse.csr_array, model: BM25) -> FloatArray:
        """BM25 of every document for every query, (n_asked, n_documents)."""
        if model not in self._weights:
            self._weights.clear()
            self._weights[model] = self.term_weights(self.counts, self.length, model).T.tocsr()
        scores: FloatArray = (words @ self._weights[model]).toarray()
        if not self.copies or not hidden.nnz:
            return scores
        query, document = (hidden @ self.past.answered.T).nonzero()
        changed = scores[query, document] > 0
        query, document = query[changed], document[changed]
        for start in range(0, len(query), _PAIRS):
            q, d = query[start : start + _PAIRS], document[start : start + _PAIRS]
            scores[q, d] = self._scores_of(words[q], q, d, hidden, model)
        return scores

    def _scores_of(
        self, words: Counts, query: IntArray, document: IntArray, hidden: sparse.csr_array, model: BM25
    ) -> FloatArray:
        """Scores of pairs, (n_pairs,), by ``words`` (n_pairs, n_terms); only these words are looked at."""
        unseen = self.copies * self._unseen(query, document, hidden)
        length = self.length[document] - np.asarray(unseen.sum(axis=1)).ravel()
        asked = words.astype(bool).astype(np.int32)
        counts = sparse.csr_array(self.counts[document].multiply(asked) - unseen.multiply(asked))
        return np.asarray(words.multiply(self.term_weights(counts, length, model)).sum(axis=1)).ravel()

    def _unseen(self, query: IntArray, document: IntArray, hidden: sparse.csr_array) -> Counts:
        """Words of the past queries that a document answered and a query must not see, (n_pairs, n_terms)."""
        return sparse.csr_array(hidden[query].multiply(self.past.answered[document]).tocsr() @ self.past.words)

    def fed_back(self, asked: AskedQueries, scores: FloatArray, feedback: Feedback) -> Counts:
        """Words of the queries expanded by RM3 from their best documents by ``scores`` (n_asked, n_documents)."""
        best = best_documents(scores, feedback.documents)
        query, place = np.nonzero(best.document >= 0)
        counts = self.seen(query, best.document[query, place], asked.hidden)
        model = relevance_models(query, best.score[query, place], counts, len(asked), feedback.terms)
        return mixed_queries(asked.words, model, feedback.weight)


def answered_before(
    collection: Collection, index: Index, searched: str, texts: Sequence[str], n_top: int, model: BM25
) -> RankedDocuments:
    """Best documents of new queries by BM25 over the field ``searched``, expanded with the collection's own queries."""
    wide = with_words(index, [*(query.text for query in collection.queries), *texts])
    past = judged_queries(collection, wide)
    asked = analyse_queries(wide, texts).counts
    documents = ExpandedField(wide.field(searched), past)
    return best_documents(documents.scores(asked, none_hidden(len(texts), len(past)), model), n_top)

"""The first stage: the best documents of each query by BM25, and the score of any document."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from qdrank.errors import InputError
from qdrank.layout import FloatArray, IntArray
from qdrank.text.bm25 import BM25
from qdrank.text.index import AnalysedQueries, FieldIndex
from qdrank.text.models import match

# Weights are made a block of postings at a time, which bounds the memory of the float64 intermediates (32 MiB each).
_BLOCK = 1 << 22
# Pairs that are scored at a time.
_PAIRS = 1 << 16


class RankedDocuments(NamedTuple):
    """Best documents per query.

    ``document`` and ``score`` (n_queries, n_top), best first, ties by document number, -1 and 0 beyond ``size``
    (n_queries,); ``matches`` (n_queries,) counts the documents that contain any term of the query.
    """

    document: IntArray
    score: FloatArray
    size: IntArray
    matches: IntArray


def bm25_weights(field: FieldIndex, model: BM25) -> NDArray[np.float32]:
    """Weight of every posting, in the order of ``field.postings``: what a term adds to a document's score."""
    postings, norm, idf = field.postings, model.norm(field), model.idf(field)
    weights = np.empty(postings.nnz, dtype=np.float32)
    for start in range(0, postings.nnz, _BLOCK):
        block = slice(start, min(start + _BLOCK, postings.nnz))
        tf = postings.data[block].astype(np.float64)
        weights[block] = model.saturation(tf, norm[postings.indices[block]])
    weights *= np.repeat(idf.astype(np.float32), np.diff(postings.indptr))
    return weights


def retrieve(
    field: FieldIndex,
    queries: AnalysedQueries,
    model: BM25 | None = None,
    *,
    n_top: int = 100,
    weights: NDArray[np.float32] | None = None,
) -> RankedDocuments:
    """Best ``n_top`` documents of each query; a document without any term of the query is never found.

    ``weights`` may be `bm25_weights` of the same field and model, to avoid computing them again. A repeated term of the
    query counts as often as it occurs (as in Lucene). Memory: one number per posting, a few per document, and the answer.
    """
    if n_top < 1:
        raise InputError(f"the number of candidates is {n_top}", fix="ask for at least 1")
    from qdrank.text.kernels import top_by_score

    weights = bm25_weights(field, model or BM25()) if weights is None else weights
    postings, asked = field.postings, queries.counts
    n_top = min(n_top, field.n_documents)
    answer = top_by_score(
        asked.indptr,
        asked.indices,
        asked.data,
        postings.indptr,
        postings.indices,
        weights,
        field.n_documents,
        n_top,
    )
    return RankedDocuments(*answer)


def bm25_scores(
    field: FieldIndex, queries: AnalysedQueries, query: IntArray, document: IntArray, model: BM25 | None = None
) -> FloatArray:
    """Score of pairs of query and document, (n_pairs,) row numbers each, as `retrieve` gives it; 0 where no term matches."""
    model = model or BM25()
    scores = np.zeros(len(query))
    norm, idf = model.norm(field), model.idf(field)
    for start in range(0, len(query), _PAIRS):
        block = slice(start, start + _PAIRS)
        met = match(field, queries, query[block], document[block])
        saturation = model.saturation(met.tf, norm[document[block]][met.pair])
        scores[block] = met.over_words(idf[met.term] * saturation)
    return scores


def best_documents(scores: FloatArray, n_top: int) -> RankedDocuments:
    """Best ``n_top`` documents of each query by scores of all documents, (n_queries, n_documents); ties by number.

    Documents that share the lowest score of a query have nothing that tells them apart, and are never found.
    """
    n_queries, n_documents = scores.shape
    n_top = min(n_top, n_documents)
    lowest = scores.min(axis=1, keepdims=True, initial=np.inf)
    worth = scores > lowest
    alone = n_documents - worth.sum(axis=1) == 1
    worth |= alone[:, None]
    last = np.partition(scores, n_documents - n_top, axis=1)[:, n_documents - n_top, None]
    above = scores > last
    tied = scores == last
    room = n_top - above.sum(axis=1, keepdims=True)
    kept = above | (tied & (np.cumsum(tied, axis=1) <= room))
    document = np.nonzero(kept)[1].reshape(n_queries, n_top)
    order = np.argsort(-np.take_along_axis(scores, document, axis=1), axis=1, kind="stable")
    document = np.take_along_axis(document, order, axis=1)
    found = np.take_along_axis(worth, document, axis=1)
    score = np.where(found, np.take_along_axis(scores, document, axis=1), 0.0)
    return RankedDocuments(np.where(found, document, -1), score, found.sum(axis=1), worth.sum(axis=1))

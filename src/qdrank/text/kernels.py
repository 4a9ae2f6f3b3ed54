"""The one loop that NumPy cannot do well: adding up postings and keeping the best."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from qdrank.layout import FloatArray, IntArray

_Numbers = NDArray[np.int32] | IntArray
Weights = NDArray[np.float32]


@njit(cache=True)
def before(score: float, document: int, other_score: float, other: int) -> bool:
    """Whether one document ranks before another: higher score, then lower number."""
    return score > other_score or (score == other_score and document < other)


@njit(cache=True)
def sift_down(scores: FloatArray, documents: IntArray, size: int) -> None:
    """Let the root of a heap sink; the root is the document that ranks last."""
    at = 0
    while True:
        child = 2 * at + 1
        if child >= size:
            return
        if child + 1 < size and before(scores[child], documents[child], scores[child + 1], documents[child + 1]):
            child += 1
        if not before(scores[at], documents[at], scores[child], documents[child]):
            return
        scores[at], scores[child] = scores[child], scores[at]
        documents[at], documents[child] = documents[child], documents[at]
        at = child


@njit(cache=True)
def sift_up(scores: FloatArray, documents: IntArray, at: int) -> None:
    """Let the last entry of a heap rise."""
    while at > 0:
        parent = (at - 1) // 2
        if not before(scores[parent], documents[parent], scores[at], documents[at]):
            return
        scores[at], scores[parent] = scores[parent], scores[at]
        documents[at], documents[parent] = documents[parent], documents[at]
        at = parent


@njit(cache=True)
def add_postings(
    terms: _Numbers,
    times: _Numbers,
    starts: _Numbers,
    documents: _Numbers,
    weights: Weights,
    total: FloatArray,
    seen: IntArray,
) -> int:
    """Add the weights of a query's terms to ``total``; list the documents met in ``seen``, and return their number.

    ``total`` is NaN where a document has not been met.
    """
    n_seen = 0
    for i in range(len(terms)):
        for at in range(starts[terms[i]], starts[terms[i] + 1]):
            document = documents[at]
            if np.isnan(total[document]):
                total[document] = 0.0
                seen[n_seen] = document
                n_seen += 1
            total[document] += times[i] * weights[at]
    return n_seen


@njit(cache=True)
def keep_best(total: FloatArray, seen: IntArray, n_seen: int, scores: FloatArray, documents: IntArray) -> int:
    """Fill the rows ``scores`` and ``documents`` with the best documents met, best first; reset ``total``."""
    size, n_top = 0, len(scores)
    for i in range(n_seen):
        document = seen[i]
        score, total[document] = total[document], np.nan
        if size < n_top:
            scores[size], documents[size] = score, document
            sift_up(scores, documents, size)
            size += 1
        elif before(score, document, scores[0], documents[0]):
            scores[0], documents[0] = score, document
            sift_down(scores, documents, size)
    for last in range(size - 1, 0, -1):
        scores[0], scores[last] = scores[last], scores[0]
        documents[0], documents[last] = documents[last], documents[0]
        sift_down(scores, documents, last)
    return size


@njit(cache=True)
def top_by_score(
    query_starts: _Numbers,
    query_terms: _Numbers,
    query_times: _Numbers,
    starts: _Numbers,
    documents: _Numbers,
    weights: Weights,
    n_documents: int,
    n_top: int,
) -> tuple[IntArray, FloatArray, IntArray, IntArray]:
    """Best ``n_top`` documents of each query by the sum of their postings' weights.

    Returns
    -------
    best : (n_queries, n_top) document numbers, best first, -1 where there are no more
    scores : (n_queries, n_top), 0 where there are no more
    sizes, matches : (n_queries,) how many were found, and how many documents contain any term of the query
    """
    n_queries = len(query_starts) - 1
    best = np.full((n_queries, n_top), -1, dtype=np.int64)
    scores = np.zeros((n_queries, n_top))
    sizes = np.zeros(n_queries, dtype=np.int64)
    matches = np.zeros(n_queries, dtype=np.int64)
    total = np.full(n_documents, np.nan)
    seen = np.empty(n_documents, dtype=np.int64)
    for query in range(n_queries):
        row = slice(query_starts[query], query_starts[query + 1])
        matches[query] = add_postings(query_terms[row], query_times[row], starts, documents, weights, total, seen)
        sizes[query] = keep_best(total, seen, matches[query], scores[query], best[query])
    return best, scores, sizes, matches

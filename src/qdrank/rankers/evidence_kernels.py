"""Sums of other queries' judgments, weighted by the similarity of the queries.

Training judgments above 0 are stored by document: document ``d`` was judged relevant for the queries
``doc_query[doc_first[d]]`` to ``doc_query[doc_first[d + 1] - 1]``. Similarities are computed only as needed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from qdrank.layout import IntArray

_Floats = NDArray[np.float64]


@njit(cache=True)
def _add(
    row: IntArray, place: int, sim: _Floats, itself: int, near: float, gammas: _Floats, equal: bool, out: Any,
    doc_first: IntArray, doc_query: IntArray, doc_grade: _Floats,
) -> None:  # fmt: skip
    """Add to ``out`` (n_columns,) the judgments of one document, ``row[place]``, by all queries but ``itself``."""
    document = row[place]
    if document < 0:
        return
    for i in range(doc_first[document], doc_first[document + 1]):
        query = doc_query[i]
        if query == itself or sim[query] >= near:
            continue
        if equal:
            out[0] += doc_grade[i]
        elif sim[query] > 0:
            for column in range(len(gammas)):
                out[column] += sim[query] ** gammas[column] * doc_grade[i]


@njit(cache=True)
def add_by_terms(
    offsets: IntArray, document: IntArray, itself: IntArray, near: float, gammas: _Floats, equal: bool,
    first: IntArray, term: IntArray, weight: _Floats,
    term_first: IntArray, term_query: IntArray, term_weight: _Floats,
    doc_first: IntArray, doc_query: IntArray, doc_grade: _Floats, n_train: int, out: _Floats,
) -> None:  # fmt: skip
    """Evidence with sparse profiles: ``first``, ``term``, ``weight`` of the queries, inverted lists of the training queries."""
    sim = np.zeros(n_train)
    for q in range(len(offsets) - 1):
        for i in range(first[q], first[q + 1]):
            for j in range(term_first[term[i]], term_first[term[i] + 1]):
                sim[term_query[j]] += weight[i] * term_weight[j]
        for r in range(offsets[q], offsets[q + 1]):
            _add(document, r, sim, itself[q], near, gammas, equal, out[r], doc_first, doc_query, doc_grade)
        for i in range(first[q], first[q + 1]):
            for j in range(term_first[term[i]], term_first[term[i] + 1]):
                sim[term_query[j]] = 0.0


@njit(cache=True)
def add_by_vectors(
    offsets: IntArray, document: IntArray, itself: IntArray, near: float, gammas: _Floats, equal: bool,
    vectors: _Floats, train: _Floats, doc_first: IntArray, doc_query: IntArray, doc_grade: _Floats, out: _Floats,
) -> None:  # fmt: skip
    """Evidence with dense profiles ``vectors`` (n_queries, d) and ``train`` (n_train, d)."""
    sim, known = np.zeros(len(train)), np.full(len(train), -1)
    for q in range(len(offsets) - 1):
        for r in range(offsets[q], offsets[q + 1]):
            if document[r] < 0:
                continue
            for i in range(doc_first[document[r]], doc_first[document[r] + 1]):
                other = doc_query[i]
                if known[other] != q:
                    total = 0.0
                    for c in range(train.shape[1]):
                        total += vectors[q, c] * train[other, c]
                    sim[other], known[other] = max(total, 0.0), q
            _add(document, r, sim, itself[q], near, gammas, equal, out[r], doc_first, doc_query, doc_grade)

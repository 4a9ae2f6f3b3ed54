"""Compiled leaf functions over documents grouped by query.

``offsets`` are the bounds of the queries, ``grades`` the documents' grades in ranked order, query by query. A list
that is shorter than a cutoff is used whole. `qdrank.measures.uncompiled` has the same functions without a compiler.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from qdrank.layout import FloatArray, IntArray


@njit(cache=True)
def ranked_rows(scores: FloatArray, offsets: IntArray) -> IntArray:
    """Row numbers by descending score within each query, ties in row order, shape (n_documents,)."""
    rows = np.empty(len(scores), np.int64)
    for q in range(len(offsets) - 1):
        start, end = offsets[q], offsets[q + 1]
        rows[start:end] = start + np.argsort(-scores[start:end], kind="mergesort")
    return rows


@njit(cache=True)
def first_rows(scores: FloatArray, offsets: IntArray, depth: int) -> IntArray:
    """Row numbers, shape (n_documents,): the first ``depth`` of each query as in `ranked_rows`, the others in row order."""
    rows = np.empty(len(scores), np.int64)
    taken = np.zeros(len(scores), np.bool_)
    for q in range(len(offsets) - 1):
        start, end = offsets[q], offsets[q + 1]
        size = 0
        for i in range(start, end):
            if size == depth and not scores[i] > scores[rows[start + size - 1]]:
                continue
            j = start + min(size, depth - 1)
            if size == depth:
                taken[rows[j]] = False
            while j > start and scores[i] > scores[rows[j - 1]]:
                rows[j] = rows[j - 1]
                j -= 1
            rows[j], taken[i] = i, True
            size = min(size + 1, depth)
        j = start + size
        for i in range(start, end):
            if not taken[i]:
                rows[j] = i
                j += 1
    return rows


@njit(cache=True)
def ideal_grades(grades: IntArray, offsets: IntArray, n_grades: int) -> IntArray:
    """Grades in descending order within each query (counting sort), shape (n_documents,)."""
    ideal = np.empty_like(grades)
    count = np.empty(n_grades, np.int64)
    for q in range(len(offsets) - 1):
        count[:] = 0
        for i in range(offsets[q], offsets[q + 1]):
            count[grades[i]] += 1
        i = offsets[q]
        for grade in range(n_grades - 1, -1, -1):
            ideal[i : i + count[grade]] = grade
            i += count[grade]
    return ideal


@njit(cache=True)
def gain_at(
    grades: IntArray, offsets: IntArray, gain: FloatArray, discount: FloatArray, cutoffs: IntArray
) -> FloatArray:
    """Sum of ``gain[grade] * discount[rank - 1]`` up to each of the ascending ``cutoffs``, (n_queries, n_cutoffs)."""
    sums = np.empty((len(offsets) - 1, len(cutoffs)))
    for q in range(len(offsets) - 1):
        start, n = offsets[q], offsets[q + 1] - offsets[q]
        total, j = 0.0, 0
        for c in range(len(cutoffs)):
            while j < min(n, cutoffs[c]):
                total += gain[grades[start + j]] * discount[j]
                j += 1
            sums[q, c] = total
    return sums


@njit(cache=True)
def mean_ratio(
    grades: IntArray,
    offsets: IntArray,
    ideal: IntArray,
    ideal_offsets: IntArray,
    gain: FloatArray,
    discount: FloatArray,
) -> FloatArray:
    """Mean over all positions of the gain so far over the ideal gain so far (0 where that is 0), (n_queries,)."""
    means = np.zeros(len(offsets) - 1)
    for q in range(len(offsets) - 1):
        start, n = offsets[q], offsets[q + 1] - offsets[q]
        got, best, total = 0.0, 0.0, 0.0
        for j in range(n):
            got += gain[grades[start + j]] * discount[j]
            best += gain[ideal[ideal_offsets[q] + j]] * discount[j]
            if best > 0:
                total += got / best
        if n > 0:
            means[q] = total / n
    return means


@njit(cache=True)
def average_precisions(grades: IntArray, offsets: IntArray, missed: IntArray, cutoffs: IntArray) -> FloatArray:
    """Mean of the precision at each relevant document up to each of the ascending ``cutoffs``, (n_queries, n_cutoffs).

    It is 0 at the ``missed`` documents and at those beyond the cutoff. Grades of 1 and more are relevant.
    """
    values = np.zeros((len(offsets) - 1, len(cutoffs)))
    for q in range(len(offsets) - 1):
        start, n = offsets[q], offsets[q + 1] - offsets[q]
        hits, total, c = 0, 0.0, 0
        for j in range(n):
            while c < len(cutoffs) and cutoffs[c] <= j:
                values[q, c] = total
                c += 1
            if grades[start + j] >= 1:
                hits += 1
                total += hits / (j + 1)
        values[q, c:] = total
        if hits > 0:
            values[q] /= hits + missed[q]
    return values


@njit(cache=True)
def reciprocal_ranks(grades: IntArray, offsets: IntArray) -> FloatArray:
    """One over the rank of the first relevant document, 0 where there is none, shape (n_queries,)."""
    values = np.zeros(len(offsets) - 1)
    for q in range(len(offsets) - 1):
        start = offsets[q]
        for i in range(start, offsets[q + 1]):
            if grades[i] >= 1:
                values[q] = 1.0 / (i - start + 1)
                break
    return values

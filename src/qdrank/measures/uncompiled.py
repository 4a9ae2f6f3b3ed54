"""The functions of `qdrank.measures.kernels` in NumPy, equal to the last bit: loading the compiled ones takes longer than measuring one file.

Sums run over the ranks, all queries at once, so that each query's terms are added in the order of its ranks, as the kernels add them.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from qdrank.layout import FloatArray, IntArray, query_index


def ranked_rows(scores: FloatArray, offsets: IntArray) -> IntArray:
    """Row numbers by descending score within each query, ties in row order, shape (n_documents,)."""
    sizes, ranked = np.diff(offsets), np.empty(len(scores), dtype=np.int64)
    for size in set(sizes.tolist()):  # queries of the same size are sorted at once
        rows = offsets[:-1][sizes == size][:, None] + np.arange(size)
        ranked[rows] = np.take_along_axis(rows, np.argsort(-scores[rows], axis=1, kind="stable"), axis=1)
    return ranked


def first_rows(scores: FloatArray, offsets: IntArray, depth: int) -> IntArray:  # noqa: ARG001
    """Row numbers of which at least the first ``depth`` of each query are as in `ranked_rows`; here all are."""
    return ranked_rows(scores, offsets)


def ideal_grades(grades: IntArray, offsets: IntArray, n_grades: int) -> IntArray:
    """Grades, all below ``n_grades``, in descending order within each query, shape (n_documents,)."""
    highest = n_grades - 1
    ordered: IntArray = highest - np.sort(query_index(offsets) * n_grades + highest - grades) % n_grades
    return ordered


def gain_at(
    grades: IntArray, offsets: IntArray, gain: FloatArray, discount: FloatArray, cutoffs: IntArray
) -> FloatArray:
    """Sum of ``gain[grade] * discount[rank - 1]`` up to each of the ascending ``cutoffs``, (n_queries, n_cutoffs)."""
    sums, total, filled = np.empty((len(offsets) - 1, len(cutoffs))), np.zeros(len(offsets) - 1), 0
    for j, queries, rows in _ranks(offsets):
        while filled < len(cutoffs) and cutoffs[filled] <= j:
            sums[:, filled] = total
            filled += 1
        if filled == len(cutoffs):
            break
        total[queries] += gain[grades[rows]] * discount[j]
    sums[:, filled:] = total[:, None]
    return sums


def mean_ratio(
    grades: IntArray,
    offsets: IntArray,
    ideal: IntArray,
    ideal_offsets: IntArray,
    gain: FloatArray,
    discount: FloatArray,
) -> FloatArray:
    """Mean over all positions of the gain so far over the ideal gain so far (0 where that is 0), (n_queries,)."""
    got, best, total = np.zeros((3, len(offsets) - 1))
    for j, queries, rows in _ranks(offsets):
        got[queries] += gain[grades[rows]] * discount[j]
        best[queries] += gain[ideal[ideal_offsets[queries] + j]] * discount[j]
        below = best[queries]
        total[queries] += np.divide(got[queries], below, out=np.zeros(len(queries)), where=below > 0)
    return total / np.maximum(np.diff(offsets), 1)


def average_precisions(grades: IntArray, offsets: IntArray, missed: IntArray, cutoffs: IntArray) -> FloatArray:
    """Mean of the precision at each relevant document up to each of the ascending ``cutoffs``, (n_queries, n_cutoffs)."""
    hits, total = np.zeros(len(offsets) - 1, dtype=np.int64), np.zeros(len(offsets) - 1)
    values, filled = np.empty((len(offsets) - 1, len(cutoffs))), 0
    for j, queries, rows in _ranks(offsets):
        while filled < len(cutoffs) and cutoffs[filled] <= j:
            values[:, filled] = total
            filled += 1
        hit = queries[grades[rows] >= 1]
        hits[hit] += 1
        total[hit] += hits[hit] / (j + 1)
    values[:, filled:] = total[:, None]
    below = (hits + missed)[:, None]
    means: FloatArray = np.divide(values, below, out=np.zeros_like(values), where=hits[:, None] > 0)
    return means


def reciprocal_ranks(grades: IntArray, offsets: IntArray) -> FloatArray:
    """One over the rank of the first relevant document, 0 where there is none, shape (n_queries,)."""
    values, hits = np.zeros(len(offsets) - 1), np.flatnonzero(grades >= 1)
    queries, first = np.unique(query_index(offsets)[hits], return_index=True)
    values[queries] = 1.0 / (hits[first] - offsets[queries] + 1)
    return values


def _ranks(offsets: IntArray) -> Iterator[tuple[int, IntArray, IntArray]]:
    """Each rank, counted from 0, with the queries that are long enough to have it and their rows."""
    sizes = np.diff(offsets)
    longest_first = np.argsort(-sizes, kind="stable")
    for j, n in enumerate(
        np.searchsorted(-sizes[longest_first], -np.arange(sizes.max(initial=0)), side="left").tolist()
    ):
        queries = longest_first[:n]
        yield j, queries, offsets[queries] + j

"""How well each ranker agrees with the grades of each training query: the coefficients b of Hoi and Jin 2008.

``b = tr(A^T R)`` (eq. 6), where A holds the preferences between the documents of a query (eq. 5) and R the ranker's
ranking as a transition matrix. Only the counts of documents before each place are needed, not the matrices:

    b = sum over l of g_l / (r_l - 1 + delta),   r_l the place of document l in the ranking, ties sharing their mean place
    g_l =   (+1 before l)                            if l has level -1
            theta (+1 before l)                      if l has level 0
          - (-1 before l) - theta (0 before l)       if l has level +1
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from qdrank.errors import InputError
from qdrank.layout import FloatArray, IntArray
from qdrank.registry import refuse_unknown


@njit(cache=True)
def trace_sums(
    falling: Any, order: Any, levels: Any, theta: float, delta: float, by_row: bool, b: Any, square: Any
) -> None:
    """Traces ``tr(A^T R)`` and squared Frobenius norms of ``R`` for one query and every ranker.

    Parameters
    ----------
    falling : (n_rankers, n_documents) scores, negative
    order : (n_rankers, n_documents) stable order of ``falling``
    levels : (n_documents,) 1, 0 or -1
    theta, delta : constants of eq. 5 and of the smoothing
    by_row : whether the row order breaks ties; else each tied pair counts 1/2 in both directions
    b, square : (n_rankers,), filled by this function
    """
    for j in range(len(order)):
        b[j], square[j] = _one_ranking(falling[j], order[j], levels, theta, delta, by_row)


@njit(cache=True)
def _one_ranking(falling: Any, order: Any, levels: Any, theta: float, delta: float, by_row: bool) -> Any:
    """Trace and squared norm of one ranking.

    Documents with the same score form a group; they have the same column sum c = (documents before) + (group - 1)/2 +
    delta. Within a group the halves cancel, since A is antisymmetric, so that only whole counts remain: the result does
    not depend on the order of the rows, to the last bit.
    """
    n, at = len(order), 0
    positive, zero, negative = 0, 0, 0  # documents in groups before
    trace, square = 0.0, 0.0
    while at < n:
        size, p, z, m = 0, 0, 0, 0
        while at + size < n and (size == 0 or (not by_row and falling[order[at + size]] == falling[order[at]])):
            level = levels[order[at + size]]
            p += level == 1
            z += level == 0
            m += level == -1
            size += 1
        column = at + (size - 1) / 2 + delta
        trace += ((m * positive - p * negative) + theta * (z * positive - p * zero)) / column
        square += size * (at + (size - 1) / 4 + delta * delta) / (column * column)
        positive, zero, negative, at = positive + p, zero + z, negative + m, at + size
    return trace, square


Ties = Literal["half", "file"]
EnsembleSimilarity = Literal["trace", "bregman", "induced"]


def relevance_levels(y: ArrayLike, max_grade: int | None = None) -> IntArray:
    """Levels +1, 0 and -1 of grades (n_documents,).

    Grades 2, 1, 0 are +1, 0, -1. For any other scale, with ``max_grade`` its highest grade (default: the highest in
    ``y``): 0 is -1, grades above ``max_grade / 2`` are +1, those between are 0. So 1, 0 are +1, -1, and 4, 3, 2, 1, 0
    are +1, +1, 0, 0, -1. If any grade is negative, the grades are taken as levels.
    """
    grades = np.asarray(y)
    if len(grades) and grades.min() < 0:
        if not np.isin(grades, (-1, 0, 1)).all():
            raise InputError("levels must be -1, 0 or 1", found=str(grades.min()), fix="give grades from 0 upwards")
        return grades.astype(np.int64)
    highest = int(grades.max(initial=0)) if max_grade is None else max_grade
    return np.where(grades == 0, -1, np.where(2 * grades > highest, 1, 0)).astype(np.int64)


def coefficients(
    X: NDArray[Any],
    levels: IntArray,
    offsets: IntArray,
    *,
    theta: float = 0.5,
    delta: float = 1.0,
    ties: Ties = "half",
    similarity: EnsembleSimilarity = "trace",
    width: float | None = None,
    normalise: bool = False,
) -> FloatArray:
    """Similarity of the rankings to the preferences, shape (n_queries, n_rankers), O(n log n) a query and ranker.

    Parameters
    ----------
    X : (n_documents, n_rankers) scores, the higher the better
    levels : (n_documents,) +1, 0 or -1
    offsets : (n_queries + 1,) bounds of the queries
    theta : preference of +1 over 0, between 0 and 1
    delta : weight of the diagonal that smooths a ranking, positive
    ties : "half": of two documents with equal scores each counts 1/2 before the other; "file": the first row is before
    similarity : "trace" is eq. 6; the others are eq. 7, ``exp(-d(A, R) / width)``. "bregman" takes the squared
        Frobenius norm of A - R, which is the Bregman divergence of that norm; "induced" the norm that the sum norm
        induces, the largest column sum, which needs the matrices
    width : lambda of eq. 7; None is the median of the distances
    normalise : whether to divide the trace by the weight of the query's preferences, sum |A| / 2
    """
    _check(theta, delta, ties, similarity, width)
    b, square = np.empty((2, len(offsets) - 1, X.shape[1]))
    for q, (start, end) in enumerate(pairwise(offsets.tolist())):
        falling = -np.ascontiguousarray(X[start:end].T, dtype=np.float64)
        order = np.argsort(falling, axis=1, kind="stable")
        trace_sums(falling, order, levels[start:end], theta, delta, ties == "file", b[q], square[q])
    if similarity == "trace":
        return b / np.maximum(preference_weights(levels, offsets, theta), 1e-300)[:, None] if normalise else b
    if similarity == "bregman":
        distance = 2 * preference_weights(levels, offsets, theta, power=2)[:, None] - 2 * b + square
    else:
        distance = _induced_distances(X, levels, offsets, theta, delta, ties)
    return np.exp(-distance / (float(np.median(distance)) if width is None else width))


def preference_weights(levels: IntArray, offsets: IntArray, theta: float, power: int = 1) -> FloatArray:
    """``sum |A|^power / 2`` of every query, shape (n_queries,)."""
    counts = [
        np.add.reduceat(np.append(levels == level, 0), offsets[:-1]) * (np.diff(offsets) > 0) for level in (1, 0, -1)
    ]
    weights: FloatArray = counts[0] * (counts[2] + theta**power * counts[1])
    return weights


def preference_matrix(levels: IntArray, theta: float) -> FloatArray:
    """A of eq. 5 for the documents of one query, shape (n, n)."""
    column, row = levels[:, None], levels[None, :]
    A = np.zeros((len(levels), len(levels)))
    A[(column == 1) & (row == -1)], A[(column == 1) & (row == 0)] = 1.0, theta
    return A - A.T


def transition_matrix(scores: NDArray[Any], delta: float, ties: Ties) -> FloatArray:
    """R of one query and ranker, shape (n, n): who is before whom, smoothed, columns summing to 1."""
    before = (scores[:, None] > scores[None, :]).astype(np.float64)
    tied = scores[:, None] == scores[None, :]
    before += np.triu(tied, 1) if ties == "file" else tied / 2 - np.eye(len(scores)) / 2
    before += delta * np.eye(len(scores))
    matrix: FloatArray = before / before.sum(axis=0)
    return matrix


def _induced_distances(
    X: NDArray[Any], levels: IntArray, offsets: IntArray, theta: float, delta: float, ties: Ties
) -> FloatArray:
    distance = np.empty((len(offsets) - 1, X.shape[1]))
    for q, (start, end) in enumerate(pairwise(offsets.tolist())):
        A = preference_matrix(levels[start:end], theta)
        for j in range(X.shape[1]):
            R = transition_matrix(X[start:end, j], delta, ties)
            distance[q, j] = np.abs(A - R).sum(axis=0).max()
    return distance


def _check(theta: float, delta: float, ties: str, similarity: str, width: float | None) -> None:
    if not 0 <= theta <= 1:
        raise InputError(f"theta must lie between 0 and 1, not {theta}")
    if not (delta > 0 and np.isfinite(delta)):
        raise InputError(f"delta must be positive, not {delta}", fix="the first document's column would be empty")
    refuse_unknown("rule for ties", ties, ("half", "file"))
    refuse_unknown("similarity", similarity, ("trace", "bregman", "induced"))
    if width is not None and not width > 0:
        raise InputError(f"width must be positive, not {width}")

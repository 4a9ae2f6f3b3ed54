"""Agreement of rankings with grades, Hoi and Jin 2008, eq. 5 and 6, without forming a matrix (numba)."""

from __future__ import annotations

from typing import Any

from numba import njit


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

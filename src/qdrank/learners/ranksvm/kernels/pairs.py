"""Documents sorted and centred, and slacks of one query for sixteen models at a time (numba).

LLVM vectorises only the innermost loop, so that loop runs over the models, which do not wait for each other. It takes
sixteen pairs at once, of four better and four worse documents, whose scores and sums lie in adjacent rows: each is read
once for four pairs, and LLVM sees that the rows do not overlap. All sums have a fixed order.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

MODELS = 16  # side by side
_ROW = 2 * MODELS  # a document: its scores by the models, then its sums of slacks
_FOUR = 4 * _ROW
_BELOW = -1e38  # below any score; not infinite, because the difference of two infinities is no number


@njit(cache=True)
def _load(S: Any, first: int, rows: Any) -> None:
    """Scores of the documents by the models from ``first`` on, and sums of 0; rows beyond them have no slack."""
    for i in range(len(S)):
        scores, row = S[i, first : first + MODELS], rows[i * _ROW : (i + 1) * _ROW]
        for m in range(MODELS):
            row[m] = scores[m]
            row[MODELS + m] = 0
    rows[len(S) * _ROW :] = _BELOW


@njit(cache=True)
def _store(rows: Any, first: int, C: Any) -> None:
    for i in range(len(C)):
        sums, row = C[i, first : first + MODELS], rows[i * _ROW : (i + 1) * _ROW]
        for m in range(MODELS):
            sums[m] = row[MODELS + m]


@njit(cache=True)
def _enter(rows: Any, lower: Any, i: int, j: int, better: Any) -> None:
    """Scores less 1 of four documents from ``i`` on: of those that are better than ``j``, infinity for the others."""
    four, low = rows[i * _ROW : i * _ROW + _FOUR], lower[i : i + 4]
    one, never = rows.dtype.type(1), rows.dtype.type(-np.inf)
    t0, t1 = one if low[0] <= j else never, one if low[1] <= j else never
    t2, t3 = one if low[2] <= j else never, one if low[3] <= j else never
    for m in range(MODELS):
        better[m] = four[m] - t0
        better[_ROW + m] = four[_ROW + m] - t1
        better[2 * _ROW + m] = four[2 * _ROW + m] - t2
        better[3 * _ROW + m] = four[3 * _ROW + m] - t3


@njit(cache=True)
def _pass_by_one(rows: Any, first: int, last: int, better: Any) -> None:
    """Slacks of four better documents with the worse ones from ``first`` to ``last``, one after the other."""
    none = rows.dtype.type(0)
    for j in range(first * _ROW, last * _ROW, _ROW):
        row = rows[j : j + _ROW]
        for m in range(MODELS):
            s = row[m]
            v0, v1 = max(s - better[m], none), max(s - better[_ROW + m], none)
            v2, v3 = max(s - better[2 * _ROW + m], none), max(s - better[3 * _ROW + m], none)
            better[MODELS + m] += v0
            better[_ROW + MODELS + m] += v1
            better[2 * _ROW + MODELS + m] += v2
            better[3 * _ROW + MODELS + m] += v3
            row[MODELS + m] += (v0 + v1) + (v2 + v3)


@njit(cache=True)
def _pass_by_four(rows: Any, first: int, last: int, better: Any) -> None:
    """The same with four worse documents at once; up to three rows after ``last`` are read."""
    none = rows.dtype.type(0)
    for j in range(first * _ROW, last * _ROW, _FOUR):
        worse = rows[j : j + _FOUR]
        for m in range(MODELS):
            u0, u1, u2, u3 = better[m], better[_ROW + m], better[2 * _ROW + m], better[3 * _ROW + m]
            s0, s1, s2, s3 = worse[m], worse[_ROW + m], worse[2 * _ROW + m], worse[3 * _ROW + m]
            v00, v01, v02, v03 = max(s0 - u0, none), max(s1 - u0, none), max(s2 - u0, none), max(s3 - u0, none)
            v10, v11, v12, v13 = max(s0 - u1, none), max(s1 - u1, none), max(s2 - u1, none), max(s3 - u1, none)
            v20, v21, v22, v23 = max(s0 - u2, none), max(s1 - u2, none), max(s2 - u2, none), max(s3 - u2, none)
            v30, v31, v32, v33 = max(s0 - u3, none), max(s1 - u3, none), max(s2 - u3, none), max(s3 - u3, none)
            better[MODELS + m] += (v00 + v01) + (v02 + v03)
            better[_ROW + MODELS + m] += (v10 + v11) + (v12 + v13)
            better[2 * _ROW + MODELS + m] += (v20 + v21) + (v22 + v23)
            better[3 * _ROW + MODELS + m] += (v30 + v31) + (v32 + v33)
            worse[MODELS + m] += (v00 + v10) + (v20 + v30)
            worse[_ROW + MODELS + m] += (v01 + v11) + (v21 + v31)
            worse[2 * _ROW + MODELS + m] += (v02 + v12) + (v22 + v32)
            worse[3 * _ROW + MODELS + m] += (v03 + v13) + (v23 + v33)


@njit(cache=True)
def _leave(rows: Any, i: int, better: Any, slack: Any) -> None:
    """Take the sums of four better documents from ``i`` on into their rows and into ``slack``, and start again at 0."""
    four, none = rows[i * _ROW : i * _ROW + _FOUR], rows.dtype.type(0)
    for m in range(MODELS):
        v0, v1 = better[MODELS + m], better[_ROW + MODELS + m]
        v2, v3 = better[2 * _ROW + MODELS + m], better[3 * _ROW + MODELS + m]
        four[MODELS + m] -= v0
        four[_ROW + MODELS + m] -= v1
        four[2 * _ROW + MODELS + m] -= v2
        four[3 * _ROW + MODELS + m] -= v3
        slack[m] += (v0 + v1) + (v2 + v3)
        better[MODELS + m] = none
        better[_ROW + MODELS + m] = none
        better[2 * _ROW + MODELS + m] = none
        better[3 * _ROW + MODELS + m] = none


@njit(cache=True)
def scratch(n: int, like: Any) -> Any:
    """Arrays for `pair_loop` with queries of up to ``n`` documents: rows of documents, four better ones, ``lower``."""
    return np.empty((n + 3) * _ROW, like.dtype), np.empty(_FOUR, like.dtype), np.empty(n + 4, np.int64)


@njit(cache=True)
def pair_loop(S: Any, lower: Any, slack: Any, arrays: Any) -> None:
    """Slacks of one query with scores ``S`` (n, models); the number of models is a multiple of `MODELS`.

    ``S`` is overwritten by minus the sum of slacks for the better and plus the sum for the worse document of each pair;
    ``slack`` (models,) gets the sum of all. ``arrays`` as from `scratch`.
    """
    n, models = S.shape
    rows, better, low = arrays[0][: (n + 3) * _ROW], arrays[1], arrays[2]
    low[:n], low[n : n + 4] = lower, n
    slack[:], better[:] = 0, 0
    for first in range(0, models, MODELS):
        _load(S, first, rows)
        i, sums = 0, slack[first : first + MODELS]
        while low[i] < n:  # four better documents, perhaps of several grades, perhaps fewer than four
            j = low[i]
            _enter(rows, low, i, j, better)
            for a in range(i + 1, i + 4):
                if j < low[a] < n:
                    _pass_by_one(rows, j, low[a], better)
                    j = low[a]
                    _enter(rows, low, i, j, better)
            _pass_by_four(rows, j, n, better)
            _leave(rows, i, better, sums)
            i += 4
        _store(rows, first, S)


@njit(cache=True)
def ascending(s: Any) -> Any:
    """Stable order of rising scores by merging runs; compiles several times faster than numba's ``argsort``."""
    n = len(s)
    order, other = np.arange(n), np.empty(n, dtype=np.int64)
    width = 1
    while width < n:
        for start in range(0, n, 2 * width):
            a, middle, end = start, min(start + width, n), min(start + 2 * width, n)
            b = middle
            for at in range(start, end):
                if a < middle and (b >= end or s[order[a]] <= s[order[b]]):
                    other[at] = order[a]
                    a += 1
                else:
                    other[at] = order[b]
                    b += 1
        order, other = other, order
        width *= 2
    return order


@njit(cache=True)
def arrange(
    X: NDArray[Any],
    y: NDArray[Any],
    offsets: NDArray[Any],
    ready: NDArray[Any],
    lower: NDArray[Any],
    pairs: NDArray[Any],
) -> bool:
    """Fill ``ready``, ``lower`` and ``pairs`` as in `qdrank.learners.ranksvm.preferences.Preferences`.

    ``y`` (n_documents,) is float64; ``ready`` may be ``X`` itself. Returns whether all features are finite.
    """
    d = X.shape[1]
    mean, longest, finite = np.empty(d), 0, True
    for q in range(len(offsets) - 1):
        longest = max(longest, offsets[q + 1] - offsets[q])
    sorted_rows = np.empty((longest, d), X.dtype)
    for q in range(len(offsets) - 1):
        start, end = offsets[q], offsets[q + 1]
        order = ascending(-y[start:end])
        mean[:] = 0
        for i in range(end - start):
            for f in range(d):
                sorted_rows[i, f] = X[start + order[i], f]
                mean[f] += sorted_rows[i, f]
        for f in range(d):
            finite = finite and np.isfinite(mean[f])
            mean[f] /= max(end - start, 1)
        for i in range(end - start):
            for f in range(d):
                ready[start + i, f] = sorted_rows[i, f] - mean[f]
        last = end
        for i in range(end - 1, start - 1, -1):
            if i + 1 < end and y[start + order[i - start]] != y[start + order[i + 1 - start]]:
                last = i + 1
            lower[i] = last - start
            pairs[q] += end - last
    return finite

"""Squared hinge of one model and one query, with the documents in the lanes of the vector unit (numba).

The sums are those of `qdrank.learners.kernels.block`: with ``u_i = s_i - 1`` the slack of a pair is ``max(s_j, u_i) - u_i``. Four
better documents at once pass over the worse ones, and their sums stay in registers.
"""

from __future__ import annotations

from typing import Any

from numba import njit

_FREE = {"reassoc", "nsz", "contract"}  # sums in whatever order is fast
_MAXIMUM = _FREE | {"nnan"}  # one instruction for a maximum; a score that is not a number still shows in `_sum`


@njit(cache=True, fastmath=_MAXIMUM)
def _four(s: Any, c: Any, u_a: Any, u_b: Any, u_c: Any, u_d: Any) -> Any:
    a = b = e = f = s.dtype.type(0)
    for j in range(len(s)):
        x = s[j]
        v_a, v_b, v_c, v_d = max(x, u_a), max(x, u_b), max(x, u_c), max(x, u_d)
        a += v_a
        b += v_b
        e += v_c
        f += v_d
        c[j] += (v_a + v_b) + (v_c + v_d)
    return a, b, e, f


@njit(cache=True, fastmath=_MAXIMUM)
def _two(s: Any, c: Any, u_a: Any, u_b: Any) -> Any:
    a = b = s.dtype.type(0)
    for j in range(len(s)):
        x = s[j]
        v_a, v_b = max(x, u_a), max(x, u_b)
        a += v_a
        b += v_b
        c[j] += v_a + v_b
    return a, b


@njit(cache=True, fastmath=_MAXIMUM)
def _one(s: Any, c: Any, u: Any) -> Any:
    a = s.dtype.type(0)
    for j in range(len(s)):
        v = max(s[j], u)
        a += v
        c[j] += v
    return a


@njit(cache=True, fastmath=_FREE)
def _sum(s: Any) -> Any:
    total = s.dtype.type(0)
    for j in range(len(s)):
        total += s[j]
    return total


@njit(cache=True)
def _start(s: Any, lower: Any, c: Any) -> None:
    """``c_j = -(sum of u_i over the documents preferred to j)``: the correction of all pairs that end in j."""
    n, start, before = len(s), 0, s.dtype.type(0)
    while start < n:
        end = lower[start]
        for j in range(start, end):
            c[j] = before
        if end < n:
            before += s.dtype.type(end - start) - _sum(s[start:end])
        start = end


@njit(cache=True)
def _grade(s: Any, c: Any, start: int, end: int) -> Any:
    """All pairs of the better documents ``start`` to ``end`` with all below; returns the sum of their slacks."""
    below, c_below, one, count = s[end:], c[end:], s.dtype.type(1), s.dtype.type(len(s) - end)
    slack, i = s.dtype.type(0), start
    while i + 4 <= end:
        u_a, u_b, u_c, u_d = s[i] - one, s[i + 1] - one, s[i + 2] - one, s[i + 3] - one
        a, b, e, f = _four(below, c_below, u_a, u_b, u_c, u_d)
        a, b, e, f = a - count * u_a, b - count * u_b, e - count * u_c, f - count * u_d
        c[i] -= a
        c[i + 1] -= b
        c[i + 2] -= e
        c[i + 3] -= f
        slack += (a + b) + (e + f)
        i += 4
    if i + 2 <= end:
        u_a, u_b = s[i] - one, s[i + 1] - one
        a, b = _two(below, c_below, u_a, u_b)
        a, b = a - count * u_a, b - count * u_b
        c[i] -= a
        c[i + 1] -= b
        slack += a + b
        i += 2
    if i < end:
        u = s[i] - one
        a = _one(below, c_below, u) - count * u
        c[i] -= a
        slack += a
    return slack


@njit(cache=True)
def row_sums(s: Any, lower: Any, c: Any) -> Any:
    """Sum of slacks of one query and one model.

    ``c`` (n,) gets minus the sum of slacks for the better and plus the sum for the worse document of each pair; scores ``s`` (n,).
    """
    _start(s, lower, c)
    n, start, slack = len(s), 0, s.dtype.type(0)
    while start < n and lower[start] < n:
        slack += _grade(s, c, start, lower[start])
        start = lower[start]
    return slack

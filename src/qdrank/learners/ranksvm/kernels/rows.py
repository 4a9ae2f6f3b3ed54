"""Squared hinge of one model and one query, with the documents in the lanes of the vector unit (numba).

The sums are those of `qdrank.learners.ranksvm.kernels.block`: with ``u_i = s_i - 1`` the slack of a pair is
``max(s_j, u_i) - u_i``. Four better documents at once pass over the worse ones, and their sums stay in registers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

from qdrank.learners.ranksvm.kernels.vectors import (
    Matrix,
    cgutils,
    constant,
    function,
    lane_sum,
    pieces,
    row_of,
    splat,
    total,
)

_tuple_of: Any = types.UniTuple  # it has no types


def _passing(size: int) -> Callable[..., Any]:
    """The function for ``size`` better documents."""

    @intrinsic
    def passing(_: Any, s: Any, c: Any, u: Any) -> Any:
        def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            (scores, n), (slacks, _) = (
                row_of(context, builder, *each) for each in zip(signature.args[:2], args[:2], strict=True)
            )
            zero, found = ir.Constant(n.type, 0), []
            for vector, begin, end in pieces(context, builder, s.dtype, n):
                maximum = function(builder, "maxnum", vector, 2)
                least = [splat(builder, builder.extract_value(args[2], a), vector) for a in range(size)]
                sums = [cgutils.alloca_once_value(builder, constant(vector, 0.0)) for _ in least]
                step = ir.Constant(n.type, vector.count)
                with cgutils.for_range_slice(builder, begin, end, step, intp=n.type) as (j, _):
                    own = Matrix(builder, slacks, zero, j, vector)
                    score = Matrix(builder, scores, zero, j, vector).load(zero)
                    # one instruction for a maximum; a score that is NaN still shows up in `_sum`
                    larger = [builder.call(maximum, [score, each], fastmath=("nnan", "nsz")) for each in least]
                    for one, each in zip(sums, larger, strict=True):
                        builder.store(builder.fadd(builder.load(one), each), one)
                    own.store(zero, builder.fadd(own.load(zero), total(builder, larger)))
                found.append([lane_sum(builder, builder.load(one)) for one in sums])
            both = [builder.fadd(many, few) for many, few in zip(*found, strict=True)]
            return context.make_tuple(builder, signature.return_type, both)

        return _tuple_of(s.dtype, size)(s, c, u), build

    made: Callable[..., Any] = passing
    return made


# For the better documents with scores u + 1: the sums of max(s_j, u) over the worse ones, which are also added to c_j.
_one, _two, _four = _passing(1), _passing(2), _passing(4)


@intrinsic
def _summed(_: Any, s: Any) -> Any:
    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        scores, n = row_of(context, builder, signature.args[0], args[0])
        zero, found = ir.Constant(n.type, 0), []
        for vector, begin, end in pieces(context, builder, s.dtype, n):
            own = cgutils.alloca_once_value(builder, constant(vector, 0.0))
            step = ir.Constant(n.type, vector.count)
            with cgutils.for_range_slice(builder, begin, end, step, intp=n.type) as (j, _):
                each = Matrix(builder, scores, zero, j, vector).load(zero)
                builder.store(builder.fadd(builder.load(own), each), own)
            found.append(lane_sum(builder, builder.load(own)))
        return builder.fadd(*found)

    return s.dtype(s), build


_sum: Any = _summed


@njit(cache=True)
def _start(s: Any, lower: Any, c: Any) -> None:
    """``c_j = -(sum of u_i over the documents preferred to j)``: the correction for all pairs with j as the worse."""
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
        a, b, e, f = _four(below, c_below, (u_a, u_b, u_c, u_d))
        a, b, e, f = a - count * u_a, b - count * u_b, e - count * u_c, f - count * u_d
        c[i] -= a
        c[i + 1] -= b
        c[i + 2] -= e
        c[i + 3] -= f
        slack += (a + b) + (e + f)
        i += 4
    if i + 2 <= end:
        u_a, u_b = s[i] - one, s[i + 1] - one
        a, b = _two(below, c_below, (u_a, u_b))
        a, b = a - count * u_a, b - count * u_b
        c[i] -= a
        c[i + 1] -= b
        slack += a + b
        i += 2
    if i < end:
        u = s[i] - one
        a = _one(below, c_below, (u,))[0] - count * u
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

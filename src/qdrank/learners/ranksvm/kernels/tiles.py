"""Slacks of one query for a tile of models: scores and sums of a few better documents stay in registers (numba).

LLVM vectorises only the innermost loop, and then every pair loads and stores its sums. So the loop is written directly
in LLVM: it holds the scores and sums of up to six better documents, for as many models as a vector has lanes, while the
worse documents pass by. With ``u_i = s_i - 1`` the slack of a pair is ``max(s_j, u_i) - u_i``: one maximum and two
additions, corrected once per tile.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

from qdrank.learners.ranksvm.kernels.vectors import Matrix, cgutils, constant, function, in_all_lanes, total, vector_of


def _pass(builder: Any, S: Matrix, C: Matrix, ends: Sequence[Any], u: Sequence[Any], sums: Any, first: bool) -> None:
    """Loop over the worse documents between ``ends``; ``first`` means that their rows of C are still empty."""
    maximum, below = function(builder, "maxnum", S.vector, 2), total(builder, u)
    with cgutils.for_range_slice(builder, *ends, ir.Constant(ends[0].type, 1), intp=ends[0].type) as (j, _):
        s = S.load(j)
        larger = [builder.call(maximum, [s, each], fastmath=("nnan", "nsz")) for each in u]
        for own, each in zip(sums, larger, strict=True):
            builder.store(builder.fadd(builder.load(own), each), own)
        slack = builder.fsub(total(builder, larger), below)
        C.store(j, slack if first else builder.fadd(C.load(j), slack))


def _tile(size: int) -> Callable[..., None]:
    """The function for ``size`` better documents."""

    @intrinsic
    def tile(_: Any, S: Any, C: Any, slack: Any, top: Any, low: Any, first: Any) -> Any:  # noqa: ARG001  numba reads the names
        def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            given = zip(signature.args[:3], args[:3], strict=True)
            arrays = [context.make_array(kind)(context, builder, value=value) for kind, value in given]
            n, lanes = cgutils.unpack_tuple(builder, arrays[0].shape, 2)
            i, worse, is_first = args[3:]
            vector, zero = vector_of(context, S.dtype), ir.Constant(i.type, 0)
            s, c, slacks = (Matrix(builder, each.data, lanes, zero, vector) for each in arrays)
            rows = [builder.add(i, ir.Constant(i.type, a)) for a in range(size)]
            u = [builder.fsub(s.load(row), constant(vector, 1.0)) for row in rows]
            sums = [cgutils.alloca_once_value(builder, constant(vector, 0.0)) for _ in rows]
            with builder.if_else(is_first) as (then, otherwise):
                with then:
                    _pass(builder, s, c, (worse, n), u, sums, first=True)
                with otherwise:
                    _pass(builder, s, c, (worse, n), u, sums, first=False)
            count = builder.sitofp(builder.sub(n, worse), vector.element)
            counts = builder.insert_element(constant(vector, 0.0), count, ir.Constant(ir.IntType(32), 0))
            counts = in_all_lanes(builder, counts, 0, vector)
            pairs = zip(sums, u, strict=True)
            found = [builder.fsub(builder.load(own), builder.fmul(counts, each)) for own, each in pairs]
            for row, v in zip(rows, found, strict=True):
                c.store(row, builder.fsub(c.load(row), v))
            slacks.store(zero, builder.fadd(slacks.load(zero), total(builder, found)))
            return context.get_dummy_value()

        return types.void(S, C, slack, types.intp, types.intp, types.boolean), build

    made: Callable[..., None] = tile
    return made


_one, _two, _three, _four, _five, _six = (_tile(size) for size in range(1, 7))


@njit(cache=True)
def _take(size: int, S: Any, C: Any, slack: Any, top: int, low: int) -> None:
    if size == 6:
        _six(S, C, slack, top, low, top == 0)
    elif size == 5:
        _five(S, C, slack, top, low, top == 0)
    elif size == 4:
        _four(S, C, slack, top, low, top == 0)
    elif size == 3:
        _three(S, C, slack, top, low, top == 0)
    elif size == 2:
        _two(S, C, slack, top, low, top == 0)
    else:
        _one(S, C, slack, top, low, top == 0)


@njit(cache=True)
def pair_loop(S: Any, lower: Any, C: Any, slack: Any) -> None:
    """Slacks of one query with scores ``S`` (n, lanes), a vector of models.

    ``C`` (n, lanes) gets minus the sum of slacks for the better and plus the sum for the worse document of each pair; ``slack``
    (lanes,) the sum of all.
    """
    n, i = len(S), 0
    C[: lower[0]] = 0
    slack[:] = 0
    while i < n and lower[i] < n:
        low = lower[i]
        while i < low:
            left = low - i
            size = 6 if left == 6 or left > 8 else 4 if left > 6 else left
            _take(size, S, C, slack, i, low)
            i += size

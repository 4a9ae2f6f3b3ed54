"""Slacks of one query for many models: a tile of a few better documents and eight models stays in registers (numba).

LLVM vectorises no more than the innermost loop, and then every pair loads and stores its sums. So the loop is written for LLVM
directly: scores and sums of up to six better documents are held for eight models (four in float64) while the worse documents
pass by. With ``u_i = s_i - 1`` the slack of a pair is ``max(s_j, u_i) - u_i``: one maximum and two additions, corrected once a tile.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import ir
from numba import njit, types
from numba.core import cgutils as _untyped
from numba.extending import intrinsic

LANES = 8  # the number of models must be a multiple of this
_cgutils: Any = _untyped
_BYTES = 32  # of a vector; LLVM splits it where the processor's are shorter


class _Matrix:
    """Vectors of a row-major matrix, from one column on."""

    def __init__(self, builder: Any, data: Any, stride: Any, column: Any, vector: Any) -> None:
        self.builder, self.data, self.stride, self.column, self.vector = builder, data, stride, column, vector

    def at(self, row: Any) -> Any:
        """Address of the vector in a row."""
        place = self.builder.add(self.builder.mul(row, self.stride), self.column)
        return self.builder.bitcast(self.builder.gep(self.data, [place]), self.vector.as_pointer())

    def load(self, row: Any) -> Any:
        """The vector in a row."""
        return self.builder.load(self.at(row), align=_BYTES // self.vector.count)

    def store(self, row: Any, value: Any) -> None:
        """Write the vector in a row."""
        self.builder.store(value, self.at(row), align=_BYTES // self.vector.count)


def _sum(builder: Any, values: Sequence[Any]) -> Any:
    """Sum of vectors, by halves."""
    if len(values) == 1:
        return values[0]
    middle = len(values) // 2
    return builder.fadd(_sum(builder, values[:middle]), _sum(builder, values[middle:]))


def _pass(builder: Any, S: _Matrix, C: _Matrix, ends: Sequence[Any], u: Sequence[Any], sums: Any, first: bool) -> None:
    """The worse documents between ``ends``, one after the other; ``first`` says that nothing is in their rows of C yet."""
    vector = S.vector
    name = f"llvm.maxnum.v{vector.count}f{8 * _BYTES // vector.count}"
    maximum = _cgutils.get_or_insert_function(builder.module, ir.FunctionType(vector, [vector, vector]), name)
    total, one = _sum(builder, u), ir.Constant(ends[0].type, 1)
    with _cgutils.for_range_slice(builder, *ends, one, intp=ends[0].type) as (j, _):
        s = S.load(j)
        larger = [builder.call(maximum, [s, each], fastmath=("nnan", "nsz")) for each in u]
        for own, each in zip(sums, larger, strict=True):
            builder.store(builder.fadd(builder.load(own), each), own)
        slack = builder.fsub(_sum(builder, larger), total)
        C.store(j, slack if first else builder.fadd(C.load(j), slack))


def _tile(size: int) -> Callable[..., None]:
    """The function for ``size`` better documents."""

    @intrinsic
    def tile(_: Any, S: Any, C: Any, slack: Any, top: Any, low: Any, model: Any, first: Any) -> Any:  # noqa: ARG001  numba reads the names
        def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            given = zip(signature.args[:3], args[:3], strict=True)
            scores, images, slacks = (context.make_array(kind)(context, builder, value=value) for kind, value in given)
            n, stride = _cgutils.unpack_tuple(builder, scores.shape, 2)
            i, worse, column, is_first = args[3:]
            number = context.get_data_type(S.dtype)
            vector = ir.VectorType(number, _BYTES // (S.dtype.bitwidth // 8))
            s, c, total = (_Matrix(builder, each.data, stride, column, vector) for each in (scores, images, slacks))
            rows = [builder.add(i, ir.Constant(i.type, a)) for a in range(size)]
            one, none = (ir.Constant(vector, [value] * vector.count) for value in (1.0, 0.0))
            u = [builder.fsub(s.load(row), one) for row in rows]
            sums = [_cgutils.alloca_once_value(builder, none) for _ in rows]
            with builder.if_else(is_first) as (then, otherwise):
                with then:
                    _pass(builder, s, c, (worse, n), u, sums, first=True)
                with otherwise:
                    _pass(builder, s, c, (worse, n), u, sums, first=False)
            count = builder.sitofp(builder.sub(n, worse), number)
            counts = ir.Constant(vector, ir.Undefined)
            for lane in range(vector.count):
                counts = builder.insert_element(counts, count, ir.Constant(ir.IntType(32), lane))
            found = [
                builder.fsub(builder.load(own), builder.fmul(counts, each)) for own, each in zip(sums, u, strict=True)
            ]
            for row, v in zip(rows, found, strict=True):
                c.store(row, builder.fsub(c.load(row), v))
            zero = ir.Constant(i.type, 0)
            total.store(zero, builder.fadd(total.load(zero), _sum(builder, found)))
            return context.get_dummy_value()

        return types.void(S, C, slack, types.intp, types.intp, types.intp, types.boolean), build

    made: Callable[..., None] = tile
    return made


_one, _two, _three, _four, _five, _six = (_tile(size) for size in range(1, 7))


@njit(cache=True)
def _take(size: int, S: Any, C: Any, slack: Any, top: int, low: int, model: int, first: bool) -> None:
    if size == 6:
        _six(S, C, slack, top, low, model, first)
    elif size == 5:
        _five(S, C, slack, top, low, model, first)
    elif size == 4:
        _four(S, C, slack, top, low, model, first)
    elif size == 3:
        _three(S, C, slack, top, low, model, first)
    elif size == 2:
        _two(S, C, slack, top, low, model, first)
    else:
        _one(S, C, slack, top, low, model, first)


@njit(cache=True)
def pair_loop(S: Any, lower: Any, C: Any, slack: Any) -> None:
    """Slacks of one query with scores ``S`` (n, models); the number of models is a multiple of `LANES`.

    ``C`` (n, models) gets minus the sum of slacks for the better and plus the sum for the worse document of each pair; ``slack``
    (models,) the sum of all.
    """
    n, models = S.shape
    C[: lower[0]] = 0
    slack[:] = 0
    for model in range(0, models, _BYTES // S.itemsize):
        i = 0
        while i < n and lower[i] < n:
            low = lower[i]
            while i < low:
                left = low - i
                size = 6 if left == 6 or left > 8 else 4 if left > 6 else left
                _take(size, S, C, slack, i, low, model, i == 0)
                i += size

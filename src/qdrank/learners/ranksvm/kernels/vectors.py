"""Vectors of a matrix as LLVM values, for loops written directly in LLVM (numba).

LLVM may not choose the order of any sum (``fastmath`` with ``reassoc``). It optimises a function once by itself and
again in each function that calls it, and which version a process runs depends on whether it compiled the function or
loaded it from the cache. All versions must round alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llvmlite import ir
from numba.core import cgutils as _untyped

BYTES = 32  # of a vector; LLVM splits it if the processor's are shorter
cgutils: Any = _untyped  # it has no types


class Matrix:
    """Vectors of a row-major matrix, ``columns`` wide, starting at one column."""

    def __init__(self, builder: Any, data: Any, columns: Any, start: Any, vector: Any) -> None:
        self.builder, self.data, self.columns, self.start, self.vector = builder, data, columns, start, vector
        self.align = 4 if isinstance(vector.element, ir.FloatType) else 8

    def _at(self, row: Any) -> Any:
        place = self.builder.add(self.builder.mul(row, self.columns), self.start)
        place = self.builder.gep(self.data, [place], source_etype=self.vector.element)
        return self.builder.bitcast(place, self.vector.as_pointer())

    def load(self, row: Any) -> Any:
        """The vector in a row."""
        return self.builder.load(self._at(row), align=self.align, typ=self.vector)

    def store(self, row: Any, value: Any) -> None:
        """Write the vector in a row."""
        self.builder.store(value, self._at(row), align=self.align)


def vector_of(context: Any, dtype: Any, size: int = BYTES) -> Any:
    """Type of a vector of ``size`` bytes."""
    return ir.VectorType(context.get_data_type(dtype), size // (dtype.bitwidth // 8))


def constant(vector: Any, value: float) -> Any:
    """The same value in all lanes."""
    return ir.Constant(vector, [value] * vector.count)


def in_all_lanes(builder: Any, value: Any, lane: int, vector: Any) -> Any:
    """One lane of a vector in all lanes of another."""
    lanes = ir.Constant(ir.VectorType(ir.IntType(32), vector.count), [lane] * vector.count)
    return builder.shuffle_vector(value, ir.Constant(value.type, ir.Undefined), lanes)


def zipped(builder: Any, values: Sequence[Any]) -> Any:
    """One vector with the first lanes of all ``values`` (a power of two in number), then their second lanes, etc."""
    width = 1
    while len(values) > 1:
        count, lanes = values[0].type.count, ir.IntType(32)
        order = [at + side * count + a for at in range(0, count, width) for side in (0, 1) for a in range(width)]
        mask = ir.Constant(ir.VectorType(lanes, len(order)), order)
        values = [builder.shuffle_vector(a, b, mask) for a, b in zip(values[::2], values[1::2], strict=True)]
        width *= 2
    return values[0]


def total(builder: Any, values: Sequence[Any]) -> Any:
    """Sum of vectors, by halves."""
    if len(values) == 1:
        return values[0]
    middle = len(values) // 2
    return builder.fadd(total(builder, values[:middle]), total(builder, values[middle:]))


def function(builder: Any, name: str, vector: Any, arguments: int) -> Any:
    """An LLVM function on vectors."""
    bits = 8 * (4 if isinstance(vector.element, ir.FloatType) else 8)
    kind = ir.FunctionType(vector, [vector] * arguments)
    return cgutils.get_or_insert_function(builder.module, kind, f"llvm.{name}.v{vector.count}f{bits}")

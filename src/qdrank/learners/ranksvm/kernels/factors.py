"""Cholesky factors of many small matrices, and systems solved with them (numba)."""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit
from numba.extending import intrinsic
from numpy.typing import NDArray

from qdrank.learners.ranksvm.kernels.vectors import Matrix, cgutils, constant, function, lane_sum, pieces, row_of, total

_CHAINS = 2  # sums computed in parallel; a single one would wait for each addition


@intrinsic
def _product(_: Any, a: Any, b: Any) -> Any:
    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        (first, n), (second, _) = (row_of(context, builder, *each) for each in zip(signature.args, args, strict=True))
        (wide, zero, whole), (single, _, _) = pieces(context, builder, a.dtype, n)
        far = builder.sub(n, builder.srem(n, ir.Constant(n.type, _CHAINS * wide.count)))
        sums = [cgutils.alloca_once_value(builder, constant(wide, 0.0)) for _ in range(_CHAINS)]
        rest = cgutils.alloca_once_value(builder, constant(single, 0.0))
        for own, begin, end in ((sums, zero, far), (sums[:1], far, whole), ([rest], whole, n)):
            vector = own[0].type.pointee
            multiply, step = function(builder, "fmuladd", vector, 3), ir.Constant(n.type, len(own) * vector.count)
            with cgutils.for_range_slice(builder, begin, end, step, intp=n.type) as (j, _):
                for place, each in enumerate(own):
                    at = builder.add(j, ir.Constant(n.type, place * vector.count))
                    x, y = (Matrix(builder, data, zero, at, vector).load(zero) for data in (first, second))
                    builder.store(builder.call(multiply, [x, y, builder.load(each)]), each)
        many = lane_sum(builder, total(builder, [builder.load(each) for each in sums]))
        return builder.fadd(many, lane_sum(builder, builder.load(rest)))

    return a.dtype(a, b), build


_dot: Any = _product


@njit(cache=True)
def factorise(packed: NDArray[Any], lam: float, L: NDArray[Any]) -> None:
    """Cholesky factors of ``lam I + 2 A`` for each row of ``packed``, the lower triangle of A row by row.

    Parameters
    ----------
    packed : (n, d (d + 1) / 2) float32 or float64
    lam : float
        No pivot is smaller than this, as in exact arithmetic.
    L : (n, d (d + 1) / 2) float64
        Filled with the factors, the inverse pivots on the diagonal.
    """
    n, size = packed.shape
    d = int((np.sqrt(8 * size + 1) - 1) / 2)
    for m in range(n):
        row, A = L[m], packed[m]
        for i in range(d):
            at = i * (i + 1) // 2
            for j in range(i):
                other = j * (j + 1) // 2
                row[at + j] = (2 * A[at + j] - _dot(row[at : at + j], row[other : other + j])) * row[other + j]
            pivot = lam + 2 * A[at + i] - _dot(row[at : at + i], row[at : at + i])
            row[at + i] = 1 / np.sqrt(max(pivot, lam))


@njit(cache=True)
def solve_factors(L: NDArray[Any], rows: NDArray[Any], G: NDArray[Any]) -> Any:
    """Solutions (n, d) of the systems of the factors ``L[rows]`` with right sides ``G`` (n, d)."""
    n, d = G.shape
    S = np.empty((n, d))
    for r in range(n):
        factor, x = L[rows[r]], S[r]
        for i in range(d):
            at = i * (i + 1) // 2
            x[i] = (G[r, i] - _dot(factor[at : at + i], x[:i])) * factor[at + i]
        for i in range(d - 1, -1, -1):
            at = i * (i + 1) // 2
            x[i] *= factor[at + i]
            for j in range(i):
                x[j] -= factor[at + j] * x[i]
    return S

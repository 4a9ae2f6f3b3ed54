"""Products of a query's documents with a tile of models: scores and gradients (numba).

A tile has as many models as a vector has lanes. Everything a product reads fits in the first-level cache, nothing is
packed or copied, and the sums stay in registers. So small products run as fast as BLAS multiplies large ones.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

from qdrank.learners.ranksvm.kernels.vectors import (
    BYTES,
    Matrix,
    cgutils,
    constant,
    function,
    in_all_lanes,
    vector_of,
    zipped,
)

STEP = 4  # the number of features must be a multiple of this


def _arrays(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    """Data of the first three arguments, and the number of columns of each."""
    given = zip(signature.args[:3], args[:3], strict=True)
    arrays = [context.make_array(kind)(context, builder, value=value) for kind, value in given]
    return [(each.data, cgutils.unpack_tuple(builder, each.shape, 2)) for each in arrays]


@intrinsic
def _side_by_side(_: Any, W: Any, rows: Any, tile: Any) -> Any:
    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        (w, (_, d)), (at, _), (t, (_, lanes)) = _arrays(context, builder, signature, args)
        piece, models = vector_of(context, W.dtype, 16), vector_of(context, W.dtype).count
        zero, step = (ir.Constant(d.type, value) for value in (0, piece.count))
        lane = [builder.gep(at, [ir.Constant(d.type, a)], source_etype=d.type) for a in range(models)]
        places = [builder.load(each, typ=d.type) for each in lane]
        with cgutils.for_range_slice(builder, zero, d, step, intp=d.type) as (f, _):
            found = zipped(builder, [Matrix(builder, w, d, f, piece).load(row) for row in places])
            Matrix(builder, t, lanes, zero, found.type).store(f, found)
        return context.get_dummy_value()

    return types.void(W, rows, tile), build


_untyped_side_by_side: Any = _side_by_side


@njit(cache=True)
def gather(W: Any, where: Any, rows: Any, tile: Any) -> None:
    """Weights of the models in rows ``where[:, 0]`` of ``W`` (n, d), side by side in ``tile`` (d, lanes).

    d is a multiple of `STEP`; ``rows`` (1, lanes) int64 is scratch. With fewer models than lanes, the last is repeated.
    """
    for lane in range(rows.shape[1]):
        rows[0, lane] = where[min(lane, len(where) - 1), 0]
    _untyped_side_by_side(W, rows, tile)


def _scores_of(documents: int) -> Callable[..., None]:
    """The function for this number of documents."""

    @intrinsic
    def scores_of(_: Any, X: Any, W: Any, S: Any, start: Any) -> Any:  # noqa: ARG001  numba reads the names
        def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            (x, (_, d)), (w, (_, lanes)), (s, _) = _arrays(context, builder, signature, args)
            vector, piece = vector_of(context, X.dtype), vector_of(context, X.dtype, 16)
            zero, step = (ir.Constant(d.type, value) for value in (0, piece.count))
            rows = [builder.add(args[3], ir.Constant(d.type, a)) for a in range(documents)]
            sums = [cgutils.alloca_once_value(builder, constant(vector, 0.0)) for _ in rows]
            models, multiply = Matrix(builder, w, lanes, zero, vector), function(builder, "fmuladd", vector, 3)
            with cgutils.for_range_slice(builder, zero, d, step, intp=d.type) as (f, _):
                pieces = [Matrix(builder, x, d, f, piece).load(row) for row in rows]
                for lane in range(piece.count):
                    weights = models.load(builder.add(f, ir.Constant(d.type, lane)))
                    for own, each in zip(sums, pieces, strict=True):
                        value = in_all_lanes(builder, each, lane, vector)
                        builder.store(builder.call(multiply, [value, weights, builder.load(own)]), own)
            found = Matrix(builder, s, lanes, zero, vector)
            for row, own in zip(rows, sums, strict=True):
                found.store(row, builder.load(own))
            return context.get_dummy_value()

        return types.void(X, W, S, types.intp), build

    made: Callable[..., None] = scores_of
    return made


_eight, _four, _one = _scores_of(8), _scores_of(4), _scores_of(1)


@njit(cache=True)
def scores(X: Any, W: Any, S: Any) -> None:
    """Scores ``S`` (n, lanes) of documents ``X`` (n, d) by models ``W`` (d, lanes); d is a multiple of `STEP`."""
    n, i = len(X), 0
    while i + 8 <= n:
        _eight(X, W, S, i)
        i += 8
    if n >= 8 and n - i > 4:  # the last ones, some of them twice with the same result
        _eight(X, W, S, n - 8)
    elif n >= 4 and i < n:
        if i == 0:
            _four(X, W, S, 0)
        _four(X, W, S, n - 4)
    else:
        while i < n:
            _one(X, W, S, i)
            i += 1


@intrinsic
def _some_sums(_: Any, C: Any, X: Any, G: Any, start: Any) -> Any:  # noqa: ARG001  numba reads the names
    """One vector of features of `gradient_sums`, from ``start`` on."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        (c, (n, lanes)), (x, (_, d)), (g, _) = _arrays(context, builder, signature, args)
        vector = vector_of(context, X.dtype)
        zero, one = (ir.Constant(d.type, value) for value in (0, 1))
        found = [cgutils.alloca_once_value(builder, constant(vector, 0.0)) for _ in range(vector.count)]
        coefficients, features = Matrix(builder, c, lanes, zero, vector), Matrix(builder, x, d, args[3], vector)
        multiply = function(builder, "fmuladd", vector, 3)
        with cgutils.for_range_slice(builder, zero, n, one, intp=d.type) as (j, _):
            values, some = coefficients.load(j), features.load(j)
            for model, own in enumerate(found):
                value = in_all_lanes(builder, values, model, vector)
                builder.store(builder.call(multiply, [value, some, builder.load(own)]), own)
        gradients = Matrix(builder, g, d, args[3], vector)
        for model, own in enumerate(found):
            gradients.store(ir.Constant(d.type, model), builder.load(own))
        return context.get_dummy_value()

    return types.void(C, X, G, types.intp), build


_untyped_sums: Any = _some_sums


@njit(cache=True)
def gradient_sums(C: Any, X: Any, G: Any) -> None:
    """``G`` (lanes, d) gets ``C^T X`` with coefficients ``C`` (n, lanes) of documents ``X`` (n, d); d is at least the lanes."""
    d, lanes = X.shape[1], BYTES // X.itemsize
    for f in range(0, d, lanes):
        _untyped_sums(C, X, G, min(f, d - lanes))

"""Two rankers' values of a measure, paired by query id and never by position."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import ArrayLike, NDArray

from qdrank.errors import InputError
from qdrank.layout import FloatArray
from qdrank.measures.folds import fold_means

_DECIMALS = 12
"""Differences are rounded to this, so that equal ones are equal on every machine and ties are recognised."""


@dataclass(frozen=True, eq=False)
class Pairs:
    """Values of rankers a and b for the same queries.

    Attributes
    ----------
    query : (n_queries,) ids, ascending, so that the order of the input does not matter
    a, b : (n_queries,) the values
    dropped : queries that only one of the two had
    """

    query: NDArray[Any]
    a: FloatArray
    b: FloatArray
    dropped: int = 0

    @property
    def differences(self) -> FloatArray:
        """``a - b``, shape (n_queries,)."""
        return np.round(self.a - self.b, _DECIMALS)

    @property
    def n(self) -> int:
        """Number of queries."""
        return len(self.query)


def join(
    query_a: ArrayLike,
    a: ArrayLike,
    query_b: ArrayLike,
    b: ArrayLike,
    *,
    unmatched: Literal["error", "drop"] = "error",
) -> Pairs:
    """Pair the values ``a`` and ``b`` on their queries' ids; the two may come in different orders.

    Parameters
    ----------
    query_a, a : (n_a,) ids and values of the first ranker
    query_b, b : (n_b,) ids and values of the second
    unmatched : whether a query that only one ranker has is an error, or is dropped and counted

    Raises
    ------
    InputError
        If an id occurs twice, a value is not finite, queries do not match, or none is left.
    """
    ids_a, values_a = _column(query_a, a, "first")
    ids_b, values_b = _column(query_b, b, "second")
    if ids_a.dtype.kind != ids_b.dtype.kind and {ids_a.dtype.kind, ids_b.dtype.kind} & set("US"):
        raise InputError("the query ids of one ranker are text, those of the other are not")
    both, rows_a, rows_b = np.intersect1d(ids_a, ids_b, assume_unique=True, return_indices=True)
    dropped = len(ids_a) + len(ids_b) - 2 * len(both)
    if dropped and unmatched == "error":
        raise InputError(
            f"{dropped} queries are measured for only one of the two rankers",
            found=str(np.setxor1d(ids_a, ids_b, assume_unique=True)[0]),
            fix="measure both on the same queries, or pass unmatched='drop'",
        )
    if len(both) == 0:
        raise InputError("the two rankers have no query in common")
    return Pairs(both, values_a[rows_a], values_b[rows_b], dropped)


def _column(query: ArrayLike, values: ArrayLike, which: str) -> tuple[NDArray[Any], FloatArray]:
    ids, column = np.asarray(query), np.asarray(values, dtype=np.float64)
    if ids.dtype.kind == "O":
        ids = ids.astype(str)
    if ids.ndim != 1 or ids.shape != column.shape:
        raise InputError(f"{which} ranker: {column.shape} values for {ids.shape} queries")
    names, counts = np.unique(ids, return_counts=True)
    if len(names) < len(ids):
        raise InputError(f"{which} ranker: query {names[counts > 1][0]} is measured twice")
    if not np.isfinite(column).all():
        raise InputError(f"{which} ranker: the value of query {ids[~np.isfinite(column)][0]} is not finite")
    return ids, column


def query_values(measures: pa.Table, methods: Sequence[str], name: str) -> tuple[NDArray[np.object_], FloatArray]:
    """Query ids, ascending, and values of a measure, shape (n_queries, n_methods), joined on the ids."""
    columns, ids = [], None
    for method in methods:
        of_method = measures.filter(pc.equal(measures.column("method"), method))
        names = of_method.column("query_id").to_numpy(zero_copy_only=False)
        order = np.argsort(names.astype(str), kind="stable")
        if ids is not None and not np.array_equal(ids, names[order]):
            raise InputError(f"{method} is not measured on the same queries as {methods[0]}")
        ids = names[order]
        columns.append(of_method.column(name).to_numpy()[order])
    assert ids is not None
    return ids, np.stack(columns, axis=1)


def fold_columns(measures: pa.Table, method: str, name: str) -> dict[str, float]:
    """Means of a measure as the columns of a table: each fold, the mean of the folds, the mean over all queries."""
    fold = dict(zip(*(measures.column(column).to_pylist() for column in ("query_id", "fold")), strict=True))
    ids, values = query_values(measures, [method], name)
    means = fold_means(values[:, 0], np.array([fold[query] for query in ids]))
    return {**means.folds, "mean of folds": means.published, "all queries": means.pooled}

"""Two rankers' values of a measure, paired by query id and never by position."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qdrank.errors import InputError
from qdrank.layout import FloatArray

_DECIMALS = 12
"""Differences are rounded to this, so that equal ones are equal on every machine and ties are recognised."""


@dataclass(frozen=True, eq=False)
class Pairs:
    """Values of rankers a and b for the same queries.

    Attributes
    ----------
    query : (n_queries,) ids, ascending, so that the order of the input does not matter
    a, b : (n_queries,) the values, means over the fits; given as (n_queries, n_fits) where a ranker was fitted several times
    by_fit : (n_queries, n_fits) differences of every fit, rounded
    """

    query: NDArray[Any]
    a: FloatArray
    b: FloatArray
    by_fit: FloatArray = field(init=False)

    def __post_init__(self) -> None:
        a, b = (one.reshape(len(one), -1) for one in (self.a, self.b))
        vars(self).update(a=a.mean(axis=1), b=b.mean(axis=1), by_fit=np.round(a - b, _DECIMALS))

    @property
    def differences(self) -> FloatArray:
        """``a - b``, shape (n_queries,)."""
        return np.round(self.a - self.b, _DECIMALS)

    @property
    def n(self) -> int:
        """Number of queries."""
        return len(self.query)


def join(query_a: ArrayLike, a: ArrayLike, query_b: ArrayLike, b: ArrayLike) -> Pairs:
    """Pair the values ``a`` and ``b`` on their queries' ids; the two may come in different orders.

    Raises `InputError` if an id occurs twice, a value is not finite, queries do not match, or none is left.

    Parameters
    ----------
    query_a, a : (n_a,) ids and values of the first ranker
    query_b, b : (n_b,) ids and values of the second
    """
    ids_a, values_a = _column(query_a, a, "first")
    ids_b, values_b = _column(query_b, b, "second")
    if ids_a.dtype.kind != ids_b.dtype.kind and {ids_a.dtype.kind, ids_b.dtype.kind} & set("US"):
        raise InputError("the query ids of one ranker are text, those of the other are not")
    both, rows_a, rows_b = np.intersect1d(ids_a, ids_b, assume_unique=True, return_indices=True)
    if len(alone := np.setxor1d(ids_a, ids_b, assume_unique=True)):
        raise InputError(
            f"{len(alone)} queries are measured for only one of the two rankers",
            found=str(alone[0]),
            fix="measure both on the same queries",
        )
    if len(both) == 0:
        raise InputError("the two rankers have no query in common")
    return Pairs(both, values_a[rows_a], values_b[rows_b])


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


@dataclass(frozen=True)
class FoldMeans:
    """Means of a measure over test queries.

    Attributes
    ----------
    folds : the mean of each fold over its queries, by name of the fold
    published : the mean of the folds' means, as LETOR publishes it
    pooled : the mean over all queries, on which tests of significance are based
    """

    folds: dict[str, float]
    published: float
    pooled: float


def fold_means(values: FloatArray, fold: NDArray[Any]) -> FoldMeans:
    """Means of ``values``, shape (n_queries,), over the folds that ``fold``, shape (n_queries,), names."""
    values, fold = np.asarray(values, dtype=np.float64), np.asarray(fold)
    if values.ndim != 1 or values.shape != fold.shape or len(values) == 0:
        raise InputError(f"values of shape {values.shape} with folds of shape {fold.shape}: one of each per query")
    means = {str(name): float(values[fold == name].mean()) for name in np.unique(fold)}
    return FoldMeans(folds=means, published=float(np.mean(list(means.values()))), pooled=float(values.mean()))

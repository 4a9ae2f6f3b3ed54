"""Observations for claims: values per query, with the query's id and fold, so that anyone can analyse them again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import ArrayLike, NDArray

from qdrank.errors import InputError
from qdrank.evaluation.pairs import Pairs, fold_of, method_pairs
from qdrank.evaluation.refits import by_fit
from qdrank.layout import FloatArray


@dataclass(frozen=True, eq=False)
class Contrast:
    """Values of one contrast of a claim.

    Attributes
    ----------
    value : (n,) mostly a difference between two methods on a query
    query_id : (n,) the query of each value; "" where a value belongs to no single query
    fold : (n,) the fold in which the query was a test query; "" likewise
    fit : (n,) number of the fit; all 0 where a method is fitted once, else every query has a value from each fit
    """

    value: FloatArray
    query_id: NDArray[Any]
    fold: NDArray[Any]
    fit: NDArray[np.int64]

    @property
    def by_fit(self) -> FloatArray:
        """Values by query and fit, (n_queries, n_fits); one column where a method is fitted once."""
        return self.value[:, None] if (self.fit == 0).all() else by_fit(self.query_id, self.fit, self.value)[1]


def contrast(value: ArrayLike, query_id: ArrayLike = "", fold: ArrayLike = "", fit: ArrayLike = 0) -> Contrast:
    """A contrast from its values, and the query, fold and fit of each (or one for all)."""
    values = np.asarray(value, dtype=np.float64)
    if values.ndim != 1:
        raise InputError(f"a contrast has one value per query, not of shape {values.shape}")
    try:
        ids, folds = (np.broadcast_to(np.asarray(x, dtype=object), values.shape) for x in (query_id, fold))
    except ValueError:
        raise InputError("a contrast needs as many query ids and folds as values") from None
    return Contrast(values, ids, folds, np.broadcast_to(np.asarray(fit, dtype=np.int64), values.shape))


def refitted(values: FloatArray, query_id: ArrayLike, fold: ArrayLike) -> Contrast:
    """A contrast of several fits: ``values`` (n_queries, n_fits), and query and fold of every row."""
    n, fits = values.shape
    ids, folds = (np.repeat(np.broadcast_to(np.asarray(x, dtype=object), n), fits) for x in (query_id, fold))
    return contrast(values.ravel(), ids, folds, np.tile(np.arange(fits), n))


def pairs_contrast(pairs: Pairs, fold: ArrayLike) -> Contrast:
    """Differences of two rankers in every fit; ``fold`` is that of each query."""
    return (
        contrast(pairs.differences, pairs.query, fold)
        if pairs.by_fit is None
        else refitted(pairs.by_fit, pairs.query, fold)
    )


def method_difference(measures: pa.Table, a: str, b: str, name: str) -> Contrast:
    """Method ``a`` minus method ``b`` on every test query of the artifact ``measures``, in every fit."""
    pairs = method_pairs(measures, a, b, name)
    fold = fold_of(measures)
    return pairs_contrast(pairs, np.array([fold[query] for query in pairs.query], dtype=object))


Observations = dict[str, dict[str, Contrast]]
"""Contrasts by the name of the claim and of the contrast."""


def check_observations(table: pa.Table) -> Observations:
    """Values of checks of an implementation, from a table of check, fold and value."""
    names, folds = (np.array(table.column(name).to_pylist(), dtype=object) for name in ("check", "fold"))
    value = table.column("value").to_numpy()
    return {
        name: {"value": contrast(value[names == name], "", folds[names == name])}
        for name in dict.fromkeys(names.tolist())
    }


def observations_table(observations: Observations) -> pa.Table:
    """The artifact ``observations``: claim, contrast, fold, query_id, fit, value."""
    rows = [(claim, name, values) for claim, contrasts in observations.items() for name, values in contrasts.items()]
    return pa.table(
        {
            "claim": pa.array([claim for claim, _, values in rows for _ in values.value], pa.string()),
            "contrast": pa.array([name for _, name, values in rows for _ in values.value], pa.string()),
            "fold": pa.array([fold for _, _, values in rows for fold in values.fold], pa.string()),
            "query_id": pa.array([query for _, _, values in rows for query in values.query_id], pa.string()),
            "fit": pa.array(
                np.concatenate([np.empty(0, np.int64), *(values.fit for _, _, values in rows)]), pa.int64()
            ),
            "value": pa.array(np.concatenate([np.empty(0), *(values.value for _, _, values in rows)]), pa.float64()),
        }
    )


def load_observations(table: pa.Table) -> Observations:
    """Observations from the artifact ``observations``, claims and contrasts in the order of the rows."""
    claims, names = (table.column(name).to_pylist() for name in ("claim", "contrast"))
    contrasts: Observations = {}
    for claim, name in dict.fromkeys(zip(claims, names, strict=True)):
        rows = table.filter(pc.and_(pc.equal(table.column("claim"), claim), pc.equal(table.column("contrast"), name)))
        columns = (
            rows.column(column).to_numpy(zero_copy_only=False) for column in ("value", "query_id", "fold", "fit")
        )
        contrasts.setdefault(claim, {})[name] = contrast(*columns)
    return contrasts

"""Values from the study's own tables, selected and aligned by fold and query."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import count, takewhile
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from qdrank.errors import InputError
from qdrank.evaluation.pairs import Pairs
from qdrank.figures.numbers import where
from qdrank.layout import FloatArray
from qdrank.studies.zha2006.methods import refit_kind
from qdrank.studies.zha2006.options import Cell


@dataclass(frozen=True)
class Values:
    """Values per query, in the order of fold and query id."""

    fold: NDArray[Any]
    query_id: NDArray[Any]
    value: FloatArray

    def minus(self, other: Values) -> FloatArray:
        """Difference from ``other`` on the same queries."""
        return self.value - same_queries(self, other).value


def same_queries(one: Values, other: Values) -> Values:
    """``other``, after checking that it has the queries of ``one``."""
    if not (np.array_equal(one.query_id, other.query_id) and np.array_equal(one.fold, other.fold)):
        raise InputError("two fits are not measured on the same queries")
    return other


def pairs(one: Values, other: Values) -> Pairs:
    """Both as pairs for a paired test."""
    names = np.array([f"{fold} {query}" for fold, query in zip(one.fold, one.query_id, strict=True)])
    return Pairs(names, one.value, same_queries(one, other).value)


def chosen_rows(table: pa.Table, cell: Cell | None = None, **equal: str) -> pa.Table:
    """Rows whose columns have these texts, and of ``cell`` if given, sorted by fold and query id."""
    mask = pc.equal(table.column("role"), equal.pop("role", "test"))
    for name, value in equal.items():
        mask = pc.and_(mask, pc.equal(table.column(name), value))
    for name, number in zip(("lam_alpha", "lam_beta"), cell or (), strict=False):
        mask = pc.and_(mask, pc.equal(table.column(name), number))
    return table.filter(mask).sort_by([("fold", "ascending"), ("query_id", "ascending")])


def measured(cells: pd.DataFrame) -> pd.DataFrame:
    """Test rows of the table of cells, further fits under the name of their kind, ``method``, with their number, ``fit``."""
    rows = where(cells, role="test")
    kinds = rows["kind"].str.extract(r"^(?P<method>.*?)(?:, fit (?P<fit>\d+))?$").fillna({"fit": "0"})
    return rows.join(kinds.astype({"fit": int}), validate="one_to_one")


def in_cell(rows: pd.DataFrame, cell: Cell) -> pd.DataFrame:
    """Rows with these penalties on alpha and beta."""
    return where(rows, lam_alpha=cell[0], lam_beta=cell[1])


def values(table: pa.Table, h: str, kind: str, cell: Cell | None = None, column: str = "value") -> Values:
    """Test values of a fit."""
    rows = chosen_rows(table, cell, h=h, kind=kind)
    fold, query = (rows.column(name).to_numpy(zero_copy_only=False) for name in ("fold", "query_id"))
    return Values(fold, query, rows.column(column).to_numpy())


def kinds(table: pa.Table, h: str) -> list[str]:
    """Kinds of fits of a regressor, in order of first appearance."""
    of_h = table.filter(pc.equal(table.column("h"), h))
    return list(dict.fromkeys(of_h.column("kind").to_pylist()))


def fits_of(table: pa.Table, h: str, kind: str) -> list[Values]:
    """Test values of all fits of a kind: first as chosen, then any refits to jittered targets."""
    known = set(kinds(table, h))
    refits = takewhile(known.__contains__, (refit_kind(kind, number) for number in count(1)))
    return [values(table, h, one) for one in (kind, *refits)]


def map_fits(maps: pa.Table, h: str, cell: Cell, role: str = "test") -> list[pa.Table]:
    """Maps of all fits with the penalties ``cell``, the first and those to jittered targets; training queries have the first."""
    prefix = refit_kind("fixed", 1)[:-1]
    further = [kind for kind in kinds(maps, h) if kind.startswith(prefix)] if role == "test" else []
    return [chosen_rows(maps, cell, h=h, kind=kind, role=role) for kind in ("grid", *further)]


def mean_of_fits(fits: Sequence[Values]) -> Values:
    """Mean over the fits of each query."""
    return replace(fits[0], value=np.mean([same_queries(fits[0], fit).value for fit in fits], axis=0))


def differences(one: Sequence[Values], other: Sequence[Values]) -> FloatArray:
    """Differences of two kinds, (n_queries, n_fits), paired by fit; a kind that is fitted once serves every fit."""
    fits = max(len(one), len(other))
    first, second = (list(kind) * (fits if len(kind) == 1 else 1) for kind in (one, other))
    return np.stack([a.minus(b) for a, b in zip(first, second, strict=True)], axis=1)


def regressors(table: pa.Table) -> list[str]:
    """Regressors that were run, in order of first appearance."""
    return list(dict.fromkeys(table.column("h").to_pylist()))


def deviation(alpha: FloatArray, beta: FloatArray) -> FloatArray:
    """How far maps are from the identity: ``|alpha^0.1 - 1| + |beta / 10|`` (Zha 2006, table 7)."""
    return np.asarray(np.abs(alpha**0.1 - 1) + np.abs(beta / 10))

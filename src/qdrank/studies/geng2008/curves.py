"""Values per test query along the numbers of neighbours."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qdrank.errors import InputError
from qdrank.figures.numbers import where

if TYPE_CHECKING:
    import pandas as pd


def along_k(values: pd.DataFrame, role: str = "test") -> pd.DataFrame:
    """Rows of one role, queries of all folds together, by rising k.

    Folds differ a little in size, so their largest k belong together, their second largest, and so on: ``k``, and its ``share``
    of the training queries, become means over the folds. Where small folds have fewer k, the smallest ones are left out.
    """
    rows = where(values, role=role).rename(columns={"x": "k"})
    size = where(rows, method="single").groupby("fold")["k"].first()  # Single learns from all training queries
    rows = rows.assign(share=rows["k"] / rows["fold"].map(size))
    rows["place"] = rows.groupby(["method", "fold"])["k"].rank("dense", ascending=False)
    counts = rows.groupby(["method", "fold"])["place"].max().groupby("method").min()
    rows = rows[rows["place"] <= rows["method"].map(counts)]
    means = rows.drop_duplicates(["method", "fold", "place"]).groupby(["method", "place"])[["k", "share"]].mean()
    found = rows.drop(columns=["k", "share"]).merge(means, on=["method", "place"], validate="many_to_one")
    assert len(found) == len(rows)
    return found.sort_values("k", kind="stable")


def curve(along: pd.DataFrame, method: str, measure: str) -> pd.DataFrame:
    """Values of a method by query and fold, with a column for each ``k`` and ``share``, from rows of `along_k`."""
    rows = where(along, method=method)
    if rows.empty:
        raise InputError(f"there is no curve of {method}")
    return rows.pivot(index=["query_id", "fold"], columns=["k", "share"], values=measure)

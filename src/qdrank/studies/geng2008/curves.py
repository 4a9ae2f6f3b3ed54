"""Values per test query along the numbers of neighbours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from qdrank.errors import InputError
from qdrank.figures.numbers import where
from qdrank.layout import FloatArray

if TYPE_CHECKING:
    import pandas as pd


def along_k(sweep: pd.DataFrame, lam: float, role: str = "test") -> pd.DataFrame:
    """Rows of one lambda and role, queries of all folds together, by rising k.

    Folds differ a little in size, so their largest k belong together, their second largest, and so on: ``k``, and its ``share``
    of the training queries, become means over the folds. Where small folds have fewer k, the smallest ones are left out.
    """
    rows = where(sweep, role=role, lam=lam)
    size = where(sweep, method="single").groupby("fold")["k"].first()  # Single learns from all training queries
    rows = rows.assign(share=rows["k"] / rows["fold"].map(size))
    rows["place"] = rows.groupby(["method", "fold"])["k"].rank("dense", ascending=False)
    counts = rows.groupby(["method", "fold"])["place"].max().groupby("method").min()
    rows = rows[rows["place"] <= rows["method"].map(counts)]
    means = rows.drop_duplicates(["method", "fold", "place"]).groupby(["method", "place"])[["k", "share"]].mean()
    found = rows.drop(columns=["k", "share"]).merge(means, on=["method", "place"], validate="many_to_one")
    assert len(found) == len(rows)
    return found.sort_values("k", kind="stable")


@dataclass(frozen=True)
class Curve:
    """Values of a method for several k.

    Attributes
    ----------
    k, share : (n_ks,) as in `along_k`
    query_id : (n_queries,) ascending
    fold : (n_queries,) the fold of each query
    values : (n_queries, n_ks)
    """

    k: FloatArray
    share: FloatArray
    query_id: NDArray[np.object_]
    fold: NDArray[np.object_]
    values: FloatArray

    @property
    def to_the_end(self) -> bool:
        """Whether the last k covers all training queries in every fold."""
        return bool(self.share[-1] == 1)


def curve(sweep: pa.Table, method: str, name: str, *, lam: float, role: str = "test") -> Curve:
    """Values of a method along k at one lambda, queries of all folds together."""
    rows = where(along_k(sweep.to_pandas(), lam, role), method=method)
    if not len(rows):
        raise InputError(f"there is no curve of {method} at lambda {lam:g}")
    wide = rows.pivot(index="query_id", columns=["k", "share"], values=name)
    fold = rows.drop_duplicates("query_id").set_index("query_id")["fold"][wide.index]
    k, share = (wide.columns.get_level_values(name).to_numpy(dtype=float) for name in ("k", "share"))
    return Curve(k, share, wide.index.to_numpy(object), fold.to_numpy(object), wide.to_numpy(dtype=float))

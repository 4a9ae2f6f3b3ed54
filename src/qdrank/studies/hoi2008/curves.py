"""Average precision per test query along gamma, and along the number of training queries."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from qdrank.layout import FloatArray, rows_of


@dataclass(frozen=True, eq=False)
class Curve:
    """Values of one method.

    Attributes
    ----------
    x : (n_points,) gammas, or numbers of training queries
    query_id, fold : (n_queries,) by ascending id
    values : (n_queries, n_points)
    """

    x: FloatArray
    query_id: NDArray[np.object_]
    fold: NDArray[np.object_]
    values: FloatArray

    def at(self, x: float) -> FloatArray:
        """Values at one point, shape (n_queries,)."""
        values: FloatArray = self.values[:, int(np.flatnonzero(self.x == x)[0])]
        return values


def method_curve(values: pa.Table, method: str, name: str = "ap") -> Curve:
    """Values of a method for every gamma, or number of training queries (0: all), averaged over the repeats."""
    table = values.filter(pc.equal(values.column("method"), method))
    points = table.column("x").to_numpy()
    ids, folds = (table.column(column).to_numpy(zero_copy_only=False) for column in ("query_id", "fold"))
    x, queries = np.unique(points), np.array(sorted(set(ids.tolist())), dtype=object)
    row, column = rows_of(ids, queries), np.searchsorted(x, points)
    sums, counts = np.zeros((2, len(queries), len(x)))
    np.add.at(sums, (row, column), table.column(name).to_numpy())
    np.add.at(counts, (row, column), 1)
    fold = dict(zip(ids.tolist(), folds.tolist(), strict=True))
    return Curve(x, queries, np.array([fold[query] for query in queries.tolist()], dtype=object), sums / counts)

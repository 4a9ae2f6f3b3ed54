"""The ready model that an offline method uses for every validation and test query, for every k.

The choice depends on the neighbours alone, so it is made while the models are trained. On a data set of web size
Offline-1 compares every test query's neighbourhood with every training query's, which takes as long as all scoring.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from qdrank.datasets.judged import load_judged
from qdrank.layout import FloatArray, IntArray, rows_of
from qdrank.queries.recipe import Queries, load_neighbours, load_queries
from qdrank.rankers.knn import change_ratios, offline1, offline2
from qdrank.store import write
from qdrank.store.schemas import Shape
from qdrank.store.tables import repeated
from qdrank.studies.geng2008.methods import OFFLINE, Options

_TEXT = pa.string()
# Training query whose ready model serves a query, and how far apart their training sets are.
OFFLINE_SHAPE = Shape(
    "offline",
    {"role": _TEXT, "method": _TEXT, "k": pa.int32(), "query_id": _TEXT, "model": _TEXT, "gamma": pa.float64()},
)


def offline_table(queries: Queries, nearest: NDArray[np.int32], pairs: IntArray, options: Options) -> pa.Table:
    """Training query whose model serves each query, and the change ratio; the artifact ``offline``.

    Parameters
    ----------
    queries : queries of the fold
    nearest : (n_queries, k_max) their neighbours among the training queries
    pairs : (m,) document pairs of the training queries
    options : of the study
    """
    train = nearest[queries.is_train]
    ks = sorted({k for k, _ in options.swept(len(pairs))})
    tables = []
    for role in ("vali", "test"):
        of_role = nearest[queries.role == role]
        for method in OFFLINE:
            nearest_alone = method == "knn-offline2"
            chosen = dict.fromkeys(ks, offline2(of_role)) if nearest_alone else offline1(of_role, train, pairs, ks)
            ratios = change_ratios(of_role, train, pairs, chosen)
            tables += [_table(queries, role, method, k, chosen[k], ratios[k]) for k in ks]
    return pa.concat_tables(tables)


def choose_offline(files: Mapping[str, str], path: str, fold: str, *, geng: Mapping[str, Any]) -> None:
    """Write which ready models serve the queries of a fold."""
    train, (_, nearest) = load_judged(files["judged"], []).of_role(fold, "train"), load_neighbours(files["neighbours"])
    table = offline_table(load_queries(files["queries"]), nearest, train.pairs, Options(**geng))
    write(path, OFFLINE_SHAPE, table)


def _table(queries: Queries, role: str, method: str, k: int, chosen: IntArray, gamma: FloatArray) -> pa.Table:
    ids = queries.query_id
    columns = {
        **repeated(len(chosen), role=role, method=method, k=k),
        "query_id": pa.array(ids[queries.role == role], pa.string()),
        "model": pa.array(ids[queries.is_train][chosen], pa.string()),
        "gamma": pa.array(gamma),
    }
    return pa.table(columns)


class OfflineModels:
    """The artifact ``offline`` by method and k."""

    def __init__(self, table: pa.Table) -> None:
        self._rows: dict[tuple[str, int], list[int]] = {}
        for row, head in enumerate(zip(table["method"].to_pylist(), table["k"].to_pylist(), strict=True)):
            self._rows.setdefault(head, []).append(row)
        self._columns = {name: table[name].to_numpy(zero_copy_only=False) for name in ("query_id", "model", "gamma")}

    def models(self, method: str, k: int, query_id: NDArray[np.object_]) -> NDArray[np.object_]:
        """Training query whose model serves each of the queries, shape (n_queries,)."""
        return self._of("model", method, k, query_id)

    def gamma(self, method: str, k: int, query_id: NDArray[np.object_]) -> FloatArray:
        """Change ratio of each of the queries, shape (n_queries,)."""
        return self._of("gamma", method, k, query_id)

    def _of(self, name: str, method: str, k: int, query_id: NDArray[np.object_]) -> NDArray[Any]:
        rows = np.array(self._rows[method, k])
        found: NDArray[Any] = self._columns[name][rows[rows_of(query_id, self._columns["query_id"][rows])]]
        return found

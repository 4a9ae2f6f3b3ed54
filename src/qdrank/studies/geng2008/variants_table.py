"""The future work that Geng 2008 names, as a table: each variant against KNN Online."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from qdrank.evaluation.comparison import compare
from qdrank.evaluation.curves import method_values
from qdrank.evaluation.pairs import Pairs

BASE, MEASURE = "KNN Online", "mean_ndcg/geng"


def future_table(measures: pa.Table, interval: Mapping[str, Any]) -> pa.Table:
    """A row a variant: mean NDCG, its difference to KNN Online, and its cost in models and pair visits."""
    rows = []
    for name in dict.fromkeys(measures.column("method").to_pylist()):
        own = measures.filter(pc.equal(measures.column("method"), name))
        ids, values = method_values(measures, [name, BASE], MEASURE)
        found = compare(Pairs(ids, values[:, 0], values[:, 1]), **interval)
        row = {"variant": name, "mean NDCG": found.mean_a, "less KNN Online": found.difference}
        row |= {"low": found.interval.low, "high": found.interval.high, "p": found.t.p}
        row |= {column: float(pc.mean(own.column(column)).as_py()) for column in ("neighbours", "models", "work")}
        rows.append(row | {"same neighbours": float(pc.mean(own.column("same")).as_py())})
    names = {"models": "models a fold", "work": "million pair visits a fold"}
    table = pa.Table.from_pylist(rows)
    return table.rename_columns([names.get(column, column) for column in table.column_names])

"""Variants of KNN Online as a table: each against KNN Online itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from qdrank.evaluation.comparison import compare
from qdrank.evaluation.pairs import method_pairs
from qdrank.studies.geng2008.methods import MEASURE, VARIANT_KINDS
from qdrank.studies.making import Inputs, Shown

BASE = "KNN Online"


def tabulate(inputs: Inputs, shown: Shown) -> dict[str, pa.Table]:
    """The table of the variants, by its id."""
    measures = pa.concat_tables([inputs.table(kind, "measures") for kind in VARIANT_KINDS])
    return {"geng-variants": variants_table(measures, shown.interval)}


def variants_table(measures: pa.Table, interval: Mapping[str, Any]) -> pa.Table:
    """One row per variant: mean NDCG, its difference from KNN Online, and its cost in models and pair visits."""
    rows = []
    for name in dict.fromkeys(measures.column("method").to_pylist()):
        of_variant = measures.filter(pc.equal(measures.column("method"), name))
        apart = compare(method_pairs(measures, name, BASE, MEASURE), **interval)
        row = {"variant": name, "mean NDCG": apart.mean_a, "difference from KNN Online": apart.difference}
        row |= {"low": apart.interval.low, "high": apart.interval.high, "p": apart.t.p}
        row |= {
            column: float(pc.mean(of_variant.column(column)).as_py()) for column in ("neighbours", "models", "work")
        }
        rows.append(row | {"same neighbours": float(pc.mean(of_variant.column("same")).as_py())})
    names = {"models": "models per fold", "work": "million pair visits per fold"}
    table = pa.Table.from_pylist(rows)
    return table.rename_columns([names.get(column, column) for column in table.column_names])

"""Tables of the study of Geng 2008: methods, folds, tests, how well QC's classes are guessed, and variants."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from qdrank.evaluation.comparison import compare, compared_rows
from qdrank.evaluation.pairs import method_pairs
from qdrank.studies.geng2008.methods import BY_NAME, KNN, MEASURE, TREES, VARIANT_KINDS
from qdrank.studies.geng2008.query_classes import Classes
from qdrank.studies.geng2008.query_types import type_scores
from qdrank.studies.geng2008.shapes import CLASSES_SHAPE
from qdrank.studies.making import Inputs, Shown
from qdrank.studies.method_tables import folds_table, methods_table

#: Measures of the table of methods.
_MEANS = (MEASURE, "ndcg@1/geng", "ndcg@5/geng", "ndcg@10/geng", "ap")


def tabulate(inputs: Inputs, shown: Shown) -> dict[str, pa.Table]:
    """Tables of the methods, by id."""
    measures = inputs.table("measures", "measures")
    choices = [
        table for name in ("choices", *TREES) if name in inputs.files for table in inputs.tables(name, "choices")
    ]
    classes = dict(zip(shown.folds, inputs.tables("classes", CLASSES_SHAPE), strict=True))
    return {
        "geng-methods": methods_table(
            measures, BY_NAME, _MEANS, choices, against="single", by=MEASURE, interval=shown.interval
        ),
        "geng-folds": folds_table(measures, BY_NAME, ("ap", MEASURE, "ndcg@10/letor4")),
        "geng-tests": comparisons_table(measures, shown.interval),
        "geng-qc": classes_table(classes),
    }


def comparisons_table(measures: pa.Table, interval: Mapping[str, Any]) -> pa.Table:
    """Each KNN method against Single and both QCs in mean NDCG, with p-values Holm-corrected together."""
    asked = [(a, b) for b in ("single", "qc", "qc-documents") for a in KNN]
    comparisons = [compare(method_pairs(measures, a, b, MEASURE), family=len(asked), **interval) for a, b in asked]
    labels = [(BY_NAME[a].label, BY_NAME[b].label) for a, b in asked]
    return pa.Table.from_pylist(compared_rows(labels, comparisons, family="KNN methods against Single and QC"))


def classes_table(classes: Mapping[str, pa.Table]) -> pa.Table:
    """How well the classes of the test queries are guessed, one row per fold and classifier."""
    rows = []
    for fold, table in classes.items():
        known = Classes.from_table(table)
        test = table.column("role").to_numpy(zero_copy_only=False) == "test"
        test &= np.array([kind is not None for kind in known.true])
        n_classes = len({kind for kind in known.true if kind is not None})
        for sees, guess in (("the query", known.guess), ("its top documents", known.from_documents)):
            row: dict[str, Any] = {"fold": fold, "QC sees": sees, "queries": int(test.sum()), "classes": n_classes}
            row |= {"F1": None, "accuracy": None}
            if test.any() and (known.sees_queries or sees != "the query"):
                scores = type_scores(known.true[test], guess[test])
                row |= {"F1": scores.macro_f1, "accuracy": scores.accuracy}
            rows.append(row | {"where they come from": known.origin})
    kinds = [pa.string(), pa.string(), pa.int64(), pa.int64(), pa.float64(), pa.float64(), pa.string()]
    return pa.Table.from_pylist(rows, pa.schema(list(zip(rows[0], kinds, strict=True))))


BASE = "KNN Online"


def tabulate_variants(inputs: Inputs, shown: Shown) -> dict[str, pa.Table]:
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


def tabulate_times(inputs: Inputs, shown: Shown) -> dict[str, pa.Table]:  # noqa: ARG001
    """Table 1 as measured. A separate job takes the times, so a new title does not measure them again."""
    return {"geng-table1": inputs.table("times", "table")}

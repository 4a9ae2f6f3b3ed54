"""Tables of the study of Geng 2008: methods, folds, tests, how well QC's classes are guessed, and variants."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from qdrank.figures.method_tables import comparisons_table, differences, folds_table, methods_table
from qdrank.studies.geng2008.methods import BY_NAME, KNN, MEASURE, TREES
from qdrank.studies.geng2008.query_classes import CLASSES_SHAPE, Classes, type_scores
from qdrank.studies.making import Inputs, Shown

#: Measures of the table of methods.
_MEANS = (MEASURE, "ndcg@1/geng", "ndcg@5/geng", "ndcg@10/geng", "ap")


def tabulate(inputs: Inputs, shown: Shown) -> dict[str, pa.Table | pd.DataFrame]:
    """Tables of the methods, by id."""
    values = inputs.frame("measures", "measures")
    choices = pd.concat([inputs.frame(name, "choices") for name in ("choices", *TREES) if name in inputs.files])
    labels = {name: method.label for name, method in BY_NAME.items()}
    compared = [(a, b) for b in ("single", "qc", "qc-documents") for a in KNN]
    classes = dict(zip(shown.folds, inputs.tables("classes", CLASSES_SHAPE), strict=True))
    return {
        "geng-methods": methods_table(
            values, labels, _MEANS, choices, against=["single"], by=MEASURE, interval=shown.interval
        ),
        "geng-folds": folds_table(values, labels, ("ap", MEASURE, "ndcg@10/letor4")),
        "geng-tests": comparisons_table(values, compared, labels, MEASURE, shown.interval),
        "geng-qc": classes_table(classes),
    }


def classes_table(classes: Mapping[str, pa.Table]) -> pd.DataFrame:
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
    return pd.DataFrame(rows).astype({"F1": float, "accuracy": float})


BASE = "KNN Online"
_COSTS = {
    "neighbours": "neighbours",
    "models": "models per fold",
    "work": "million pair visits per fold",
    "same": "same neighbours",
}


def tabulate_variants(inputs: Inputs, shown: Shown) -> dict[str, pd.DataFrame]:
    """The table of the variants, by its id."""
    return {"geng-variants": variants_table(inputs.frame("values", "values"), shown.interval)}


def variants_table(values: pd.DataFrame, interval: Mapping[str, Any]) -> pd.DataFrame:
    """One row per variant: mean NDCG, its difference from KNN Online, and its cost in models and pair visits."""
    apart = differences(values, BASE, MEASURE, interval).drop(columns="verdict")
    means = values.groupby("method", sort=False)[[MEASURE, *_COSTS]].mean()
    table = means[[MEASURE]].join([apart, means[[*_COSTS]]])
    named = {MEASURE: "mean NDCG", "difference": f"difference from {BASE}", **_COSTS}
    return table.rename(columns=named).rename_axis("variant").reset_index()


def tabulate_times(inputs: Inputs, shown: Shown) -> dict[str, pa.Table]:  # noqa: ARG001
    """Table 1 as measured. A separate job takes the times, so a new title does not measure them again."""
    return {"geng-table1": inputs.table("times", "table")}

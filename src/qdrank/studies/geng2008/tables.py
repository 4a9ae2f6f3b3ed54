"""Tables of the study of Geng 2008: methods, folds, tests, and how well QC's classes are guessed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from qdrank.evaluation.comparison import Comparison, compare, corrected_p
from qdrank.evaluation.pairs import fit_columns, fold_columns, method_pairs, query_values
from qdrank.figures.tables import chosen_by_fold
from qdrank.queries.types import type_scores
from qdrank.studies.geng2008.methods import BY_NAME, KNN, MEASURE, TREES, present
from qdrank.studies.geng2008.query_classes import Classes
from qdrank.studies.geng2008.shapes import CLASSES_SHAPE
from qdrank.studies.making import Inputs, Shown


def compared(measures: pa.Table, a: str, b: str, interval: Mapping[str, Any], *, family: int = 1) -> Comparison:
    """Method ``a`` against ``b`` on all test queries, as one of ``family`` comparisons."""
    return compare(method_pairs(measures, a, b, MEASURE), family=family, **interval)


def tabulate(inputs: Inputs, shown: Shown) -> dict[str, pa.Table]:
    """Tables of the methods, by id."""
    measures = inputs.table("measures", "measures")
    choices = [
        table for name in ("choices", *TREES) if name in inputs.files for table in inputs.tables(name, "choices")
    ]
    classes = dict(zip(shown.folds, inputs.tables("classes", CLASSES_SHAPE), strict=True))
    return {
        "geng-methods": methods_table(measures, choices, shown.interval),
        "geng-folds": folds_table(measures),
        "geng-tests": comparisons_table(measures, shown.interval),
        "geng-qc": classes_table(classes),
    }


def _present(measures: pa.Table) -> list[str]:
    return present(set(measures.column("method").to_pylist()))


def methods_table(measures: pa.Table, choices: Sequence[pa.Table], interval: Mapping[str, Any]) -> pa.Table:
    """Every method: its means over the test queries, its difference from Single, and the settings chosen."""
    shown = [
        name for name in (MEASURE, "ndcg@1/geng", "ndcg@5/geng", "ndcg@10/geng", "ap") if name in measures.column_names
    ]
    chosen = chosen_by_fold(choices)
    rows = []
    for method in _present(measures):
        row: dict[str, Any] = {"method": BY_NAME[method].label}
        row |= {name: float(query_values(measures, [method], name)[1].mean()) for name in shown}
        apart = compared(measures, method, "single", interval)
        row |= {"difference from Single": apart.difference, "low": apart.interval.low, "high": apart.interval.high}
        row |= {"p": apart.t.p, **fit_columns(measures, method, MEASURE)}
        rows.append(row | {"settings by fold": "; ".join(chosen.get(method, []))})
    return pa.Table.from_pylist(rows)


def folds_table(measures: pa.Table) -> pa.Table:
    """Means by fold, over the folds and over all queries, one row per method and measure."""
    shown = [name for name in ("ap", MEASURE, "ndcg@10/letor4") if name in measures.column_names]
    rows = [
        {"measure": name, "method": BY_NAME[method].label, **fold_columns(measures, method, name)}
        for name in shown
        for method in _present(measures)
    ]
    return pa.Table.from_pylist(rows)


def comparisons_table(measures: pa.Table, interval: Mapping[str, Any]) -> pa.Table:
    """Each KNN method against Single and both QCs in mean NDCG, with p-values Holm-corrected together."""
    asked = [(a, b) for b in ("single", "qc", "qc-documents") for a in KNN]
    comparisons = [compared(measures, a, b, interval, family=len(asked)) for a, b in asked]
    corrected = corrected_p(comparisons, family="KNN methods against Single and QC")
    rows = [
        {"method": BY_NAME[a].label, "against": BY_NAME[b].label, **one.columns(p)}
        for (a, b), one, p in zip(asked, comparisons, corrected, strict=True)
    ]
    return pa.Table.from_pylist(rows)


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

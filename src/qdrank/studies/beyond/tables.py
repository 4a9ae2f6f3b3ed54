"""Tables of the study: rankers, Holm-corrected tests, and how often documents recur."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from qdrank.evaluation.comparison import Comparison, compare, compared_rows
from qdrank.evaluation.pairs import fit_columns, query_values
from qdrank.figures.tables import chosen_by_fold
from qdrank.studies.beyond.methods import BY_NAME, CHOSEN, OF_CHOSEN, SINGLE, TREES
from qdrank.studies.beyond.values import Key, Values, comparisons, gathered_values
from qdrank.studies.making import Inputs, Shown

TABLED_MEASURES = ("ap", "ndcg@10/letor4", "p@10/letor4")


def tabulate(inputs: Inputs, shown: Shown) -> dict[str, pa.Table]:
    """Tables by id."""
    measures = inputs.table("measures", "measures")
    values = gathered_values(measures, inputs.table("values", "values"))
    choices = inputs.tables("choices", "choices")
    return {
        "beyond-methods": methods_table(measures, values, choices, shown.interval),
        "beyond-primary": _tests_table(values, primary(), shown.interval),
        "beyond-tests": _tests_table(values, comparisons(values), shown.interval),
        "beyond-documents": documents_table(inputs.tables("recurrence", "figure")),
    }


def _label(key: Key) -> str:
    """A method or control in words."""
    name, near = key
    return f"{BY_NAME[name].label}, queries below {near:g}" if near else BY_NAME[name].label


def primary() -> list[tuple[Key, Key]]:
    """The comparisons declared as primary."""
    return [((CHOSEN, 0.0), (other, 0.0)) for other in (SINGLE, TREES, OF_CHOSEN)]


def methods_table(
    measures: pa.Table, values: Values, choices: Sequence[pa.Table], interval: Mapping[str, Any]
) -> pa.Table:
    """Every ranker: its means, and its difference from Single and LambdaMART in MAP, with the settings chosen."""
    chosen = chosen_by_fold(choices)
    rows = []
    measured = set(measures.column("method").to_pylist())
    for method in (method for method in BY_NAME.values() if method.name in measured):
        row: dict[str, Any] = {"method": method.label}
        row |= {name: float(query_values(measures, [method.name], name)[1].mean()) for name in TABLED_MEASURES}
        for other in (SINGLE, TREES):
            apart = compare(values.pairs((method.name, 0.0), (other, 0.0)), **interval)
            words = f"from {BY_NAME[other].label}"
            row |= {words: apart.difference, f"{words}, low": apart.interval.low, f"{words}, high": apart.interval.high}
        row |= fit_columns(measures, method.name, "ap")
        settings = chosen.get(method.name, [])
        row["settings by fold"] = "; ".join(
            [BY_NAME[one].label for one in settings] if method.name == CHOSEN else settings
        )
        rows.append(row)
    return pa.Table.from_pylist(rows)


def _tests_table(values: Values, pairs: Sequence[tuple[Key, Key]], interval: Mapping[str, Any]) -> pa.Table:
    """Differences in MAP with p-values Holm-corrected over the whole table, and the smallest detectable difference."""
    comparisons: list[Comparison] = [compare(values.pairs(*pair), family=len(pairs), **interval) for pair in pairs]
    labels = [(_label(name), _label(other)) for name, other in pairs]
    return pa.Table.from_pylist(compared_rows(labels, comparisons, family="this table"))


def documents_table(tables: Sequence[pa.Table]) -> pa.Table:
    """Recurrence of the test documents, by fold and on average."""
    rows = [row for table in tables for row in table.to_pylist()]
    mean = {name: float(np.mean([row[name] for row in rows])) for name in rows[0] if name != "fold"}
    whole = {name: round(value) if isinstance(rows[0][name], int) else value for name, value in mean.items()}
    words = {
        "seen": "rows whose document a training query has",
        "relevant": "rows whose document is relevant to one",
        "found": "relevant rows whose document is relevant to one",
        "queries": "training queries it is relevant to, per row",
    }
    return pa.Table.from_pylist(
        [{words.get(name, name): value for name, value in row.items()} for row in (*rows, {"fold": "mean", **whole})]
    )

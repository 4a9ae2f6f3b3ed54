"""Tables of the methods of a study: means with differences from one of them, means by fold, and tests."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from qdrank.evaluation.comparison import compare, compared_rows, corrected_p
from qdrank.evaluation.pairs import fit_columns, fold_columns, method_pairs, query_values
from qdrank.figures.tables import chosen_by_fold
from qdrank.studies.study import Method


def measured_methods(measures: pa.Table, known: Iterable[str]) -> list[str]:
    """Those of the ``known`` methods that were measured, in their order."""
    measured = set(measures.column("method").to_pylist())
    return [name for name in known if name in measured]


def methods_table(
    measures: pa.Table,
    methods: Mapping[str, Method],
    names: Sequence[str],
    choices: Sequence[pa.Table],
    *,
    against: str,
    by: str,
    interval: Mapping[str, Any],
) -> pa.Table:
    """Every method: means of the measures ``names``, difference from ``against`` in ``by``, and the settings chosen.

    A verdict is by Holm's p-value over the table.
    """
    chosen, shown = chosen_by_fold(choices), [name for name in names if name in measures.column_names]
    present = measured_methods(measures, methods)
    pairs = [method_pairs(measures, method, against, by) for method in present]
    comparisons = [compare(one, family=max(1, len(present) - 1), **interval) for one in pairs]
    others = [one for method, one in zip(present, comparisons, strict=True) if method != against]
    corrected = iter(corrected_p(others, family=f"against {against}"))
    rows = []
    for method, apart in zip(present, comparisons, strict=True):
        row: dict[str, Any] = {"method": methods[method].label}
        row |= {name: float(query_values(measures, [method], name)[1].mean()) for name in shown}
        row |= {f"difference from {methods[against].label}": apart.difference}
        row |= {"low": apart.interval.low, "high": apart.interval.high, "p": apart.t.p}
        row |= {"verdict": "" if method == against else apart.verdict(p=next(corrected))}
        row |= fit_columns(measures, method, by)
        rows.append(row | {"settings by fold": "; ".join(chosen.get(method, []))})
    return pa.Table.from_pylist(rows)


def folds_table(measures: pa.Table, methods: Mapping[str, Method], names: Sequence[str]) -> pa.Table:
    """Means by fold, over the folds and over all queries, one row per method and measure; a single measure is left unnamed."""
    shown = [name for name in names if name in measures.column_names]
    rows = [
        ({"measure": name} if len(names) > 1 else {})
        | {"method": methods[method].label, **fold_columns(measures, method, name)}
        for name in shown
        for method in measured_methods(measures, methods)
    ]
    return pa.Table.from_pylist(rows)


def tests_table(
    measures: pa.Table,
    pairs: Sequence[tuple[str, str]],
    label: Callable[[str], str],
    by: str,
    interval: Mapping[str, Any],
) -> pa.Table:
    """Three tests of each pair of methods, with p-values corrected over the table, and the smallest detectable difference."""
    made = [compare(method_pairs(measures, *pair, by), family=len(pairs), **interval) for pair in pairs]
    labels = [(label(name), label(other)) for name, other in pairs]
    return pa.Table.from_pylist(compared_rows(labels, made, family="this table"))

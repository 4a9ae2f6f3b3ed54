"""All methods of a data set, best first: the answer to "which ranker is best on my data?"; and the first stages of all text sets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from qdrank.evaluation.comparison import compare
from qdrank.evaluation.pairs import fit_values, method_pairs
from qdrank.evaluation.refits import table_ends
from qdrank.figures.tables import write_table
from qdrank.rankers.stages import REFERENCE
from qdrank.store import read

#: The measures of the table, by what its columns are called; ``{}`` stands for the convention of the data set.
MEASURES = {"MAP": "ap", "NDCG@10": "ndcg@10/{}"}
_FROM_FIRST = "MAP from the first stage"


def methods_table(
    measures: pa.Table, labels: Mapping[str, str], convention: str, interval: Mapping[str, Any]
) -> pa.Table:
    """One row per method of the artifact ``measures``, by decreasing MAP over all test queries, each mean with its interval.

    The ends of an interval are null where the queries are too few for one (`table_ends`).
    """
    rows = []
    for method in dict.fromkeys(measures.column("method").to_pylist()):
        row: dict[str, Any] = {"method": method, "label": labels.get(method, method)}
        for shown, name in MEASURES.items():
            ids, values = fit_values(measures, [method], name.format(convention))
            low, high = table_ends(values[:, :, 0], **interval)
            row |= {"queries": len(ids), shown: float(values.mean())}
            row |= {f"{shown}, low": _number(low), f"{shown}, high": _number(high)}
        rows.append(row)
    return pa.Table.from_pylist(sorted(rows, key=lambda row: (-row["MAP"], row["method"])), _schema())


def tabulate_methods(
    files: Mapping[str, str],
    out: Mapping[str, str],
    *,
    title: str,
    labels: Mapping[str, str],
    convention: str,
    interval: Mapping[str, Any],
) -> None:
    """Write the table of all methods of a data set."""
    table = methods_table(read(files["measures"], "measures"), labels, convention, interval)
    write_table(table, out, title=f"{title}: all methods")


def first_stages_table(
    measures: Mapping[str, pa.Table],
    labels: Mapping[str, str],
    conventions: Mapping[str, str],
    depth: int,
    interval: Mapping[str, Any],
) -> pa.Table:
    """First stages and one learned model on every text set, each with its difference in MAP from the first stage as given.

    Parameters
    ----------
    measures : by title of the data set, the artifact ``measures`` of the methods in ``labels``
    conventions : by title, the convention of its NDCG
    depth : documents that every method ranks
    """
    rows = []
    for title, table in measures.items():
        of_set = {row["method"]: row for row in methods_table(table, labels, conventions[title], interval).to_pylist()}
        for method in labels:
            row = {"data set": title, "candidates": depth, **of_set[method], "method": labels[method]}
            del row["label"]
            apart = compare(method_pairs(table, method, REFERENCE, "ap"), **interval)
            ends = {"low": apart.interval.low, "high": apart.interval.high}
            row |= {_FROM_FIRST: None if method == REFERENCE else apart.difference}
            row |= {f"{_FROM_FIRST}, {end}": None if method == REFERENCE else _number(v) for end, v in ends.items()}
            rows.append(row)
    names = [_FROM_FIRST, f"{_FROM_FIRST}, low", f"{_FROM_FIRST}, high"]
    first = [("data set", pa.string()), ("candidates", pa.int64())]
    others = [field for field in _schema() if field.name != "label"]
    return pa.Table.from_pylist(rows, pa.schema([*first, *others, *((name, pa.float64()) for name in names)]))


def tabulate_first_stages(
    files: Mapping[str, Any],
    out: Mapping[str, str],
    *,
    titles: Sequence[str],
    labels: Mapping[str, str],
    conventions: Sequence[str],
    depth: int,
    interval: Mapping[str, Any],
) -> None:
    """Write the table of the first stages; ``titles`` and ``conventions`` are those of the data sets, in order."""
    measures = dict(zip(titles, (read(path, "measures") for path in files["measures"]), strict=True))
    table = first_stages_table(measures, labels, dict(zip(titles, conventions, strict=True)), depth, interval)
    write_table(table, out, title=f"First stages of all text sets, {depth} documents per query")


def _number(value: float) -> float | None:
    return None if value != value else value


def _schema() -> pa.Schema:
    numbers = [name for shown in MEASURES for name in (shown, f"{shown}, low", f"{shown}, high")]
    words = [("method", pa.string()), ("label", pa.string()), ("queries", pa.int64())]
    return pa.schema([*words, *((name, pa.float64()) for name in numbers)])

"""All methods of a data set, best first: the answer to "which ranker is best on my data?"."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from qdrank.evaluation.pairs import fit_values
from qdrank.evaluation.refits import table_ends
from qdrank.figures.tables import write_table
from qdrank.store import read

#: The measures of the table, by what its columns are called; ``{}`` stands for the convention of the data set.
MEASURES = {"MAP": "ap", "NDCG@10": "ndcg@10/{}"}


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


def _number(value: float) -> float | None:
    return None if value != value else value


def _schema() -> pa.Schema:
    numbers = [name for shown in MEASURES for name in (shown, f"{shown}, low", f"{shown}, high")]
    words = [("method", pa.string()), ("label", pa.string()), ("queries", pa.int64())]
    return pa.schema([*words, *((name, pa.float64()) for name in numbers)])

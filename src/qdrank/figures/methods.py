"""All methods of a data set, best first, and what the lead of the best is worth; and the first stages of all text sets.

The best is chosen on the queries that test it, so the lead over every other of k methods is decided at the level alpha / (k - 1).
Then the method that is truly best is shown to be behind with probability alpha at most, whichever was chosen: that takes one of
k - 1 others to be shown above it. So with confidence 1 - alpha it is the first, or one that is not shown to be behind.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from qdrank.evaluation.comparison import compare
from qdrank.evaluation.deciding import decide
from qdrank.evaluation.declared import Claim, Declaration
from qdrank.evaluation.observations import method_difference
from qdrank.evaluation.pairs import fit_values, method_pairs
from qdrank.evaluation.refits import table_ends
from qdrank.figures.tables import write_table
from qdrank.measures import NDCG_IN_WORDS
from qdrank.rankers.stages import REFERENCE
from qdrank.store import read

_FROM_FIRST = "MAP from the first stage"
#: The difference in MAP that counts, as in the claims of the studies.
MARGIN = 0.005
#: Columns of the table of methods: how far the first method is ahead of this one, the verdict on "it is better", and why.
LEAD, BETTER, REASON = "lead of the best", "the best is better", "reason"


def methods_table(
    measures: pa.Table, labels: Mapping[str, str], convention: str, interval: Mapping[str, Any]
) -> pa.Table:
    """One row per method of the artifact ``measures``, by decreasing MAP over all test queries, each mean with its interval.

    The ends of an interval are null where the queries are too few for one (`table_ends`). The last columns are about the
    lead of the first method over each other; its interval has the corrected level.
    """
    rows = _means(measures, labels, convention, interval)
    decided = _leads(measures, [row["method"] for row in rows])
    rows = rows[:1] + [row | one for row, one in zip(rows[1:], decided, strict=True)]
    numbers, words = [LEAD, f"{LEAD}, low", f"{LEAD}, high"], [BETTER, REASON]
    more = [*((name, pa.float64()) for name in numbers), *((name, pa.string()) for name in words)]
    return pa.Table.from_pylist(rows, pa.schema([*_schema(convention), *more]))


def _leads(measures: pa.Table, methods: Sequence[str]) -> list[dict[str, Any]]:
    """What is known of the lead of the first method over each other one, decided together as a family of claims."""
    best, *others = methods
    about: Any = {"expected": "", "kind": "superiority", "margin": MARGIN, "measure": "ap", "family": LEAD}
    claims = tuple(Claim(name=name, text=f"{best} beats {name}", **about) for name in others)
    leads = {name: {LEAD: method_difference(measures, best, name, "ap")} for name in others}
    decided = decide(Declaration(study="", paper="", claims=claims), {"": leads}, dataset="").to_pylist()
    columns = {LEAD: "effect", f"{LEAD}, low": "low", f"{LEAD}, high": "high", BETTER: "verdict", REASON: "reason"}
    return [{column: one[name] for column, name in columns.items()} for one in decided]


def _means(
    measures: pa.Table, labels: Mapping[str, str], convention: str, interval: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Rows of methods by decreasing MAP."""
    rows = []
    for method in dict.fromkeys(measures.column("method").to_pylist()):
        row: dict[str, Any] = {"method": method, "label": labels.get(method, method)}
        for shown, name in _measures(convention).items():
            ids, values = fit_values(measures, [method], name)
            low, high = table_ends(values[:, :, 0], **interval)
            row |= {"queries": len(ids), shown: float(values.mean())}
            row |= {f"{shown}, low": _number(low), f"{shown}, high": _number(high)}
        rows.append(row)
    return sorted(rows, key=lambda row: (-row["MAP"], row["method"]))


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
    said = f"NDCG@k/{convention}: {NDCG_IN_WORDS[convention]}. A lead counts from {MARGIN:g}; all leads are tested together."
    write_table(table, out, title=f"{title}: all methods", folded=[REASON], said=said)


def first_stages_table(
    measures: Mapping[str, pa.Table],
    labels: Mapping[str, str],
    convention: str,
    depth: int,
    interval: Mapping[str, Any],
) -> pa.Table:
    """First stages and one learned model on every text set, each with its difference in MAP from the first stage as given.

    Parameters
    ----------
    measures : by title of the data set, the artifact ``measures`` of the methods in ``labels``
    convention : that of NDCG
    depth : documents that every method ranks
    """
    rows = []
    for title, table in measures.items():
        of_set = {row["method"]: row for row in _means(table, labels, convention, interval)}
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
    others = [field for field in _schema(convention) if field.name != "label"]
    return pa.Table.from_pylist(rows, pa.schema([*first, *others, *((name, pa.float64()) for name in names)]))


def tabulate_first_stages(
    files: Mapping[str, Any],
    out: Mapping[str, str],
    *,
    titles: Sequence[str],
    labels: Mapping[str, str],
    convention: str,
    depth: int,
    interval: Mapping[str, Any],
) -> None:
    """Write the table of the first stages; ``titles`` are those of the data sets, in order."""
    measures = dict(zip(titles, (read(path, "measures") for path in files["measures"]), strict=True))
    table = first_stages_table(measures, labels, convention, depth, interval)
    write_table(table, out, title=f"First stages of all text sets, {depth} documents per query")


def _number(value: float) -> float | None:
    return None if value != value else value


def _measures(convention: str) -> dict[str, str]:
    """The measures of the tables, by what their columns are called."""
    return {"MAP": "ap", f"NDCG@10/{convention}": f"ndcg@10/{convention}"}


def _schema(convention: str) -> pa.Schema:
    numbers = [name for shown in _measures(convention) for name in (shown, f"{shown}, low", f"{shown}, high")]
    words = [("method", pa.string()), ("label", pa.string()), ("queries", pa.int64())]
    return pa.schema([*words, *((name, pa.float64()) for name in numbers)])

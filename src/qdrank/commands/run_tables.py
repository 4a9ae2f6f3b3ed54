"""Tables of measured runs: text to read, CSV and JSON in full precision, with the names of ir_measures beside ours."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any

from qdrank.commands.output import aligned
from qdrank.evaluation.run_files import MeasuredRun
from qdrank.measures.names import parse

if TYPE_CHECKING:
    from qdrank.evaluation.comparison import Difference


@dataclass(frozen=True, eq=False)
class RunTable:
    """What `qdrank evaluate` prints.

    Attributes
    ----------
    judged : the judgments, in words
    runs : the runs, all of the same queries
    names : names of measures
    baseline, differences : name of the baseline and the others' differences from it, if requested
    by_query : whether every query has a row
    """

    judged: str
    runs: Sequence[MeasuredRun]
    names: Sequence[str]
    baseline: str = ""
    differences: Sequence[Difference] = ()
    by_query: bool = False


def text_table(table: RunTable) -> str:
    """Text to read, with four digits."""
    more = f" and {len(table.names) - 1} more" if len(table.names) > 1 else ""
    lines = [f"{table.judged}; {table.names[0]}{more}", *_forms(table.runs), ""]
    if table.by_query:
        means = ([run.name, "mean", *map(_short, run.means.values())] for run in table.runs)
        lines += aligned(["run", "query", *table.names], [*_query_rows(table, _short), *means])
    elif len(table.runs) == 1:
        lines += aligned(["measure", "mean"], ([name, _short(mean)] for name, mean in table.runs[0].means.items()))
    else:
        lines += aligned(["run", *table.names], ([run.name, *map(_short, run.means.values())] for run in table.runs))
    if table.runs[0].ties:
        lines += ["", "over the orders of tied documents:", *aligned(_TIED, _tie_rows(table))]
    if table.differences:
        n = len(table.differences)
        lines += [
            "",
            f"differences from {table.baseline}; p of a true difference of 0 (t test), corrected after Holm for all {n}:",
        ]
        lacks = list(dict.fromkeys(filter(None, (one.comparison.lacks for one in table.differences))))
        lines += aligned(_DIFFERENCE, (_difference_row(one, lacks) for one in table.differences))
        lines += [f"[{i}] cannot tell: {lack}" for i, lack in enumerate(lacks, 1)]
    return "\n".join(lines) + "\n"


_TIED = ("run", "measure", "worst", "expected", "best")
_DIFFERENCE = ("run", "measure", "difference", "95 % interval", "p", "corrected p", "smallest detectable", "note")


def _forms(runs: Sequence[MeasuredRun]) -> list[str]:
    """How the runs were read, and what they lack."""
    forms = dict.fromkeys(run.form for run in runs)
    lines = [f"{form}: {', '.join(run.name for run in runs if run.form == form)}" for form in forms]
    return lines + [answered(run) for run in runs if run.missing or run.n_other]


def answered(run: MeasuredRun) -> str:
    """How many judged queries a run has documents for, in words."""
    n = len(run.query_id)
    rest = f"; the other {len(run.missing):,} count as empty lists" if len(run.missing) else ""
    rest += f"; {run.n_other:,} queries without judgments are left out" if run.n_other else ""
    return f"{run.name} answers {n - len(run.missing):,} of {n:,} judged queries{rest}"


def described(run: MeasuredRun) -> dict[str, Any]:
    """A run as JSON: where it was read, and what it has and lacks."""
    return {
        "run": run.name,
        "file": run.file,
        "form": run.form,
        "documents": run.n_documents,
        "judged_queries_answered": len(run.query_id) - len(run.missing),
        "judged_queries_without_documents": len(run.missing),
        "queries_without_judgments": run.n_other,
    }


def _short(value: float) -> str:
    return f"{value:.4f}"


def _query_rows(table: RunTable, shown: Callable[[float], str]) -> Iterable[list[str]]:
    for run in table.runs:
        columns = [run.values[name].tolist() for name in table.names]
        for query, *row in zip(run.query_id, *columns, strict=True):
            yield [run.name, query, *map(shown, row)]


def _tie_rows(table: RunTable) -> Iterable[list[str]]:
    for run in table.runs:
        for name in table.names:
            yield [run.name, name, *(f"{column.mean():.4f}" for column in run.ties[name])]


def _difference_row(one: Difference, lacks: Sequence[str]) -> list[str]:
    c = one.comparison
    note = f"[{1 + lacks.index(c.lacks)}]" if c.lacks else ""
    interval = f"[{c.interval.low:+.4f}, {c.interval.high:+.4f}]" if isfinite(c.interval.low) else "-"
    p = f"{c.t.p:.2g}"
    return [one.run, one.measure, f"{c.difference:+.4f}", interval, p, f"{one.p:.2g}", f"{c.detectable:.4f}", note]


def _entries(table: RunTable) -> Iterable[dict[str, Any]]:
    """One entry for each run and measure, in full precision."""
    against = {(one.run, one.measure): one for one in table.differences}
    for run in table.runs:
        for name in table.names:
            entry: dict[str, Any] = {"run": run.name, "measure": name, "ir_measures": parse(name).ir_measures}
            entry["mean"] = run.means[name]
            if run.ties:
                entry |= {key: float(column.mean()) for key, column in run.ties[name]._asdict().items()}
            if table.baseline:
                entry |= _against(against.get((run.name, name)))
            yield entry


def _against(one: Difference | None) -> Mapping[str, float | None]:
    keys = ("difference", "low", "high", "p", "p_corrected", "detectable")
    if one is None:
        return dict.fromkeys(keys)
    c = one.comparison
    values = (c.difference, c.interval.low, c.interval.high, c.t.p, one.p, c.detectable)
    return {key: value if isfinite(value) else None for key, value in zip(keys, values, strict=True)}


def csv_table(table: RunTable) -> str:
    """Comma-separated values: a row for each run and measure, or for each run and query."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    if table.by_query:
        writer.writerow(["run", "query", *table.names])
        writer.writerows(_query_rows(table, repr))
    else:
        rows = list(_entries(table))
        writer.writerow(rows[0])
        writer.writerows(row.values() for row in rows)
    return text.getvalue()


def json_table(table: RunTable) -> str:
    """One JSON object."""
    content: dict[str, Any] = {
        "judgments": table.judged,
        "queries": len(table.runs[0].query_id),
        "runs": list(map(described, table.runs)),
        "measures": list(_entries(table)),
    }
    if table.baseline:
        content["baseline"] = table.baseline
    if table.by_query:
        content["per_query"] = {
            run.name: {
                query: dict(zip(table.names, row, strict=True))
                for query, *row in zip(run.query_id, *(run.values[n].tolist() for n in table.names), strict=True)
            }
            for run in table.runs
        }
    return json.dumps(content, indent=2) + "\n"


RUN_FORMATS: dict[str, Callable[[RunTable], str]] = {"table": text_table, "csv": csv_table, "json": json_table}

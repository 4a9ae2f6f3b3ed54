"""``qdrank evaluate QRELS RUN ...``: measures of runs against judgments, or of scores on a LETOR file.

The form of the first file decides: LETOR text (``qid:``) is measured as the publisher's script does, judgments as trec_eval does.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from qdrank.commands.output import aligned
from qdrank.datasets.runs.reading import read_all_runs, read_qrels
from qdrank.datasets.runs.run import Qrels, Run
from qdrank.errors import InputError
from qdrank.evaluation.run_files import MeasuredRun, is_letor, judged_run, measured_files, named_run, told_apart
from qdrank.evaluation.unjudged import depth_of
from qdrank.measures import CONVENTIONS
from qdrank.measures.compute import measure_ranked
from qdrank.measures.names import parse
from qdrank.registry import did_you_mean

if TYPE_CHECKING:
    from qdrank.evaluation.comparison import Difference


#: What is measured of runs by default.
USUAL = ("nDCG@10", "AP", "RR", "P@10", "R@100", "Judged@10")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add_files(parser, ["RUN"], nargs="+")
    add_measures(parser)
    parser.add_argument(
        "--baseline", metavar="RUN", help="compare all others with this run (a file, or a name in the table)"
    )
    parser.add_argument("--by-query", "--per-query", dest="by_query", action="store_true", help="one row per query")
    parser.add_argument(
        "--ties", action="store_true", help="worst, expected and best value over the orders of tied documents"
    )
    parser.add_argument(
        "--explain",
        metavar="QUERY",
        help="this query's documents in every run, and what each adds to the first measure",
    )
    parser.add_argument(
        "--format", choices=list(RUN_FORMATS), default="table", help="form of the output (default: table)"
    )


def add_files(parser: argparse.ArgumentParser, runs: Sequence[str], *, nargs: str | None = None) -> None:
    """Declare the judgments and the runs; each may be compressed or -, the standard input."""
    judged = "judgments (TREC, BEIR's tsv or JSON), or a LETOR file: label qid:... 1:... #docid = ..."
    parser.add_argument("qrels", metavar="QRELS", help=judged + "; .gz, .xz, .bz2, .zst too, - for standard input")
    words = "a run (TREC, three columns or JSON), or for a LETOR file one score per row"
    for name in runs:
        dest = {"RUN": "runs"}.get(name, name.lower())
        parser.add_argument(dest, metavar=name, nargs=nargs, help=words)


def add_measures(parser: argparse.ArgumentParser) -> None:
    """Declare what is measured."""
    parser.add_argument(
        "--convention",
        choices=list(CONVENTIONS),
        help="what is reported, and how (default: letor4 for LETOR files, the usual measures of trec_eval for runs)",
    )
    parser.add_argument(
        "--measure",
        metavar="NAME",
        action="append",
        help="report this measure instead, e.g. nDCG@10, AP(rel=2)@100 or ndcg@10/exp; may be repeated",
    )


def asked_names(args: argparse.Namespace, *, letor: bool) -> list[str]:
    """Our names for the requested measures; a name without a convention gets that of the input."""
    usual = args.convention or ("letor4" if letor else "trec")
    listed = CONVENTIONS[usual] if letor or args.convention else USUAL
    return [parse(name, convention=usual).name for name in args.measure or listed]


def run(args: argparse.Namespace) -> int:
    """Print the requested measures."""
    letor = is_letor(args.qrels)
    names = asked_names(args, letor=letor)
    if args.explain is not None:
        return _explain(args, names[0], letor=letor)
    files = [*args.runs, args.baseline] if _is_readable(args.baseline) else args.runs
    judged, measured = measured_files(args.qrels, list(dict.fromkeys(files)), names, ties=args.ties)
    runs = told_apart(list(measured))
    baseline = None if args.baseline is None else named_run(runs, args.baseline)
    table = RunTable(judged, runs, names, by_query=args.by_query)
    if baseline is not None:
        from qdrank.evaluation.comparison import differences  # loads Arrow

        table = replace(table, baseline=baseline.name, differences=differences(runs, baseline, names))
    print(RUN_FORMATS[args.format](table), end="")
    return 0


def _explain(args: argparse.Namespace, name: str, *, letor: bool) -> int:
    """Print a query's documents in every run, side by side."""
    if letor:
        raise InputError("--explain takes judgments and runs", file=args.qrels, fix="leave --explain out")
    qrels = read_qrels(args.qrels)
    if args.explain not in qrels.place:
        raise InputError(
            f"no judgments of query {args.explain}", file=args.qrels, fix=did_you_mean(args.explain, list(qrels.place))
        )
    runs = read_all_runs(args.runs)
    each = [explained(run, qrels, args.explain, name) for run in runs]
    values = ", ".join(f"{run.tag} {value:.4f}" for run, (value, _) in zip(runs, each, strict=True))
    print(f"query {args.explain}, {name}: {values}")
    heads = [word for run in runs for word in (run.tag, "grade", "adds")]
    rows = [
        [str(rank), *(cell for row in side for cell in row or ("", "", ""))]
        for rank, side in enumerate(zip_longest(*(rows for _, rows in each)), 1)
    ]
    print("\n".join(aligned(["rank", *heads], rows)))
    return 0


def _is_readable(baseline: str | None) -> bool:
    """Whether the baseline is a file, a pipe or standard input, and not the tag of a run."""
    return baseline is not None and (baseline == "-" or Path(baseline).is_file() or Path(baseline).is_fifo())


def explained(run: Run, qrels: Qrels, query: str, name: str) -> tuple[float, list[tuple[str, str, str]]]:
    """The value of a measure on a judged query; document, grade ("-": not judged) and what it adds, from the first rank on.

    A document adds the value of the list up to it, minus the value of the list before it.
    """
    joined = judged_run(run, qrels)
    at = joined.query_id.index(query)
    one = joined.judgements.of_query(at)
    own = slice(*joined.judgements.offsets[at : at + 2])
    grade, known, score, doc = one.grades, one.judged, joined.score[own], joined.doc_id[own]
    rows = one.ranked(score, "docno").rows
    shown = rows[: depth_of(name)]
    place = np.argsort(rows)
    upto = np.where(place[:, None] < np.arange(len(rows) + 1), score[:, None], -np.inf)
    (values,) = measure_ranked([name], one, upto).values()
    grades = [str(one) if judged else "-" for one, judged in zip(grade[shown], known[shown], strict=True)]
    adds = [f"{one:+.4f}" for one in np.diff(values[0])[: len(shown)]]
    return float(values[0, -1]), list(zip(doc[shown].tolist(), grades, adds, strict=True))


# ---- tables: text to read, CSV and JSON in full precision, with the names of ir_measures beside ours ---------------


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

"""``qdrank evaluate QRELS RUN ...``: measures of runs against judgments, or of scores on a LETOR file.

The form of the first file decides: LETOR text (``qid:``) is measured as the publisher's script does, judgments as trec_eval does.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from qdrank.commands.run_tables import RUN_FORMATS, RunTable, aligned
from qdrank.datasets.runs.reading import read_qrels
from qdrank.errors import AnyPath
from qdrank.evaluation.run_files import (
    LETOR,
    MeasuredRun,
    is_letor,
    measured_runs,
    measured_scores,
    named_run,
    told_apart,
)
from qdrank.evaluation.score_files import Labels, read_labels
from qdrank.layout import FloatArray
from qdrank.measures import CONVENTIONS
from qdrank.measures.names import parse


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Values of measures for every query of a file.

    Attributes
    ----------
    query_id : (n_queries,) ids in the file's order
    values : from each measure's name to its values, shape (n_queries,)
    n_documents : number of documents
    n_empty : number of queries without a relevant document
    """

    query_id: list[str]
    values: dict[str, FloatArray]
    n_documents: int
    n_empty: int

    @property
    def means(self) -> dict[str, float]:
        """Mean of each measure over all queries."""
        return {name: float(column.mean()) for name, column in self.values.items()}


def evaluate(features: AnyPath, scores: AnyPath, names: Sequence[str] = CONVENTIONS["letor4"]) -> Evaluation:
    """Measure the ranking of a LETOR file's documents by a file of scores.

    Raises `InputError` if a name is unknown, a file is malformed, or the two do not have the same number of rows.

    Parameters
    ----------
    features : LETOR text, plain or compressed
    scores : one score per document, in the same order
    names : names of measures
    """
    for name in names:
        parse(name)
    labels = read_labels(features)
    (measured,) = measured_scores(labels, [scores], names, features=features)
    return Evaluation(labels.query_id, dict(measured.values), len(labels.y), _n_empty(labels))


def _n_empty(labels: Labels) -> int:
    return int((np.maximum.reduceat(labels.y, labels.offsets[:-1]) == 0).sum())


def as_table(evaluation: Evaluation, *, per_query: bool) -> str:
    """Text to read, with four digits as the publisher prints them."""
    if per_query:
        heads = ["query", *evaluation.values]
        rows = [[query, *map(_short, row)] for query, row in _rows(evaluation)]
        rows.append(["mean", *map(_short, evaluation.means.values())])
    else:
        heads = ["measure", "mean"]
        rows = [[name, _short(mean)] for name, mean in evaluation.means.items()]
    counted = f"{LETOR}: {len(evaluation.query_id):,} queries, {evaluation.n_documents:,} documents, "
    counted += (
        f"{evaluation.n_empty:,} queries without a relevant document (counted as each measure's convention has it)"
    )
    return "\n".join([counted, "", *aligned(heads, rows)]) + "\n"


def as_csv(evaluation: Evaluation, *, per_query: bool) -> str:
    """Comma-separated values in full precision."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    if per_query:
        writer.writerow(["query", *evaluation.values])
        writer.writerows([query, *row] for query, row in _rows(evaluation))
    else:
        writer.writerow(["measure", "mean"])
        writer.writerows(evaluation.means.items())
    return text.getvalue()


def as_json(evaluation: Evaluation, *, per_query: bool) -> str:
    """One JSON object in full precision."""
    content: dict[str, object] = {
        "form": LETOR,
        "queries": len(evaluation.query_id),
        "documents": evaluation.n_documents,
        "queries_without_relevant": evaluation.n_empty,
        "mean": evaluation.means,
    }
    if per_query:
        names = list(evaluation.values)
        content["per_query"] = {query: dict(zip(names, row, strict=True)) for query, row in _rows(evaluation)}
    return json.dumps(content, indent=2) + "\n"


FORMATS: dict[str, Callable[..., str]] = {"table": as_table, "csv": as_csv, "json": as_json}


def _rows(evaluation: Evaluation) -> list[tuple[str, list[float]]]:
    """Each query's id and values."""
    matrix = np.column_stack(list(evaluation.values.values()))
    return list(zip(evaluation.query_id, matrix.tolist(), strict=True))


def _short(value: float) -> str:
    return f"{value:.4f}"


#: What is measured of runs by default.
USUAL = ("nDCG@10", "AP", "RR", "P@10", "R@100", "Judged@10")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add_files(parser, ["RUN"], nargs="+")
    add_measures(parser)
    parser.add_argument("--baseline", metavar="RUN", help="compare all others with this run (a file or a tag)")
    parser.add_argument("--by-query", "--per-query", dest="by_query", action="store_true", help="one row per query")
    parser.add_argument(
        "--ties", action="store_true", help="worst, expected and best value over the orders of tied documents"
    )
    parser.add_argument("--format", choices=list(FORMATS), default="table", help="form of the output (default: table)")


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
    if letor and len(args.runs) == 1 and not (args.baseline or args.ties):
        evaluation = evaluate(args.qrels, args.runs[0], names)
        print(FORMATS[args.format](evaluation, per_query=args.by_query), end="")
        return 0
    files = [*args.runs, args.baseline] if _is_readable(args.baseline) else args.runs
    judged, measured = measured_files(args.qrels, list(dict.fromkeys(files)), names, ties=args.ties)
    runs = told_apart(list(measured))
    baseline = None if args.baseline is None else named_run(runs, args.baseline)
    table = RunTable(judged, runs, names, by_query=args.by_query)
    if baseline is not None:
        from qdrank.evaluation.run_files import differences  # loads Arrow

        table = replace(table, baseline=baseline.name, differences=differences(runs, baseline, names))
    print(RUN_FORMATS[args.format](table), end="")
    return 0


def _is_readable(baseline: str | None) -> bool:
    """Whether the baseline is a file, a pipe or standard input, and not the tag of a run."""
    return baseline is not None and (baseline == "-" or Path(baseline).is_file() or Path(baseline).is_fifo())


def measured_files(
    qrels: AnyPath, paths: Sequence[AnyPath], names: Sequence[str], *, ties: bool = False
) -> tuple[str, Iterator[MeasuredRun]]:
    """A description of the judgments, and the runs, read and measured one at a time."""
    if is_letor(qrels):
        labels = read_labels(qrels)
        words = f"{LETOR}: {len(labels.query_id):,} queries, {len(labels.y):,} documents"
        return words, measured_scores(labels, paths, names, features=qrels, ties=ties)
    judgments = read_qrels(qrels)
    words = f"{judgments.form}: {len(judgments.by_query):,} queries, {len(judgments.doc):,} judged documents"
    return words, measured_runs(judgments, paths, names, ties=ties)

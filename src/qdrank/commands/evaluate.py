"""``qdrank evaluate QRELS RUN ...``: measures of runs against judgments, or of scores on a LETOR file.

The form of the first file decides: LETOR text (``qid:``) is measured as the publisher's script does, judgments as trec_eval does.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from qdrank.commands.run_tables import RUN_FORMATS, RunTable
from qdrank.datasets.runs.reading import read_qrels
from qdrank.errors import AnyPath, InputError
from qdrank.evaluation.run_files import (
    LETOR,
    MeasuredRun,
    is_letor,
    measured_runs,
    measured_scores,
    named_run,
    told_apart,
)
from qdrank.evaluation.score_files import read_labels
from qdrank.measures import CONVENTIONS
from qdrank.measures.names import parse

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
    files = [*args.runs, args.baseline] if _is_readable(args.baseline) else args.runs
    judged, measured = measured_files(args.qrels, list(dict.fromkeys(files)), names, ties=args.ties)
    runs = told_apart(list(measured))
    baseline = None if args.baseline is None else named_run(runs, args.baseline)
    table = RunTable(judged, runs, names, by_query=args.by_query)
    if baseline is not None:
        from qdrank.evaluation.against import differences  # loads Arrow

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
    if qrels in paths:
        fix = "give the judgments first, then files of runs or scores; only one of them can be standard input"
        raise InputError("the same file as judgments and as a run", file=qrels, fix=fix)
    if is_letor(qrels):
        labels = read_labels(qrels)
        empty = int((np.maximum.reduceat(labels.y, labels.offsets[:-1]) == 0).sum())
        words = f"{LETOR}: {len(labels.query_id):,} queries, {len(labels.y):,} documents, {empty:,} queries without a "
        words += "relevant document (counted as each measure's convention has it)"
        return words, measured_scores(labels, paths, names, features=qrels, ties=ties)
    judgments = read_qrels(qrels)
    words = f"{judgments.form}: {len(judgments.by_query):,} queries, {len(judgments.doc):,} judged documents"
    return words, measured_runs(judgments, paths, names, ties=ties)


def evaluate(features: AnyPath, scores: AnyPath, names: Sequence[str] = CONVENTIONS["letor4"]) -> MeasuredRun:
    """Measures of a LETOR file's documents, ranked by a file with one score for each, in the same order."""
    for name in names:  # before anything is read
        parse(name)
    (run,) = measured_files(features, [scores], names)[1]
    return run

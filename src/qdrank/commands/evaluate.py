"""``qdrank evaluate QRELS RUN ...``: measures of runs against judgments, or of scores on a LETOR file.

The form of the first file decides: LETOR text (``qid:``) is measured as the publisher's script does, judgments as trec_eval does.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path

import numpy as np

from qdrank.commands.output import aligned
from qdrank.commands.run_tables import RUN_FORMATS, RunTable
from qdrank.datasets.runs.reading import read_all_runs, read_qrels
from qdrank.datasets.runs.run import Qrels, Run
from qdrank.errors import AnyPath, InputError
from qdrank.evaluation.run_files import MeasuredRun, is_letor, judged_run, measured_files, named_run, told_apart
from qdrank.evaluation.unjudged import depth_of
from qdrank.measures import CONVENTIONS
from qdrank.measures.compute import measure_ranked
from qdrank.measures.names import parse
from qdrank.registry import did_you_mean

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


def evaluate(features: AnyPath, scores: AnyPath, names: Sequence[str] = CONVENTIONS["letor4"]) -> MeasuredRun:
    """Measures of a LETOR file's documents, ranked by a file with one score for each, in the same order."""
    for name in names:  # before anything is read
        parse(name)
    (run,) = measured_files(features, [scores], names)[1]
    return run


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

"""``qdrank compare QRELS A B``: the verdict on two runs, the queries that differ most, and how many queries would be needed.

With ``--to-judge N FILE`` also the pairs of query and document whose judgment moves a difference most, for an annotator. The file is a
table (CSV). Who has filled in grades types the same command again: it counts them, and puts the next pairs below.
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
from collections.abc import Collection, Iterator
from dataclasses import replace
from itertools import islice
from typing import Any

from qdrank.commands.evaluate import USUAL, add_files, add_measures, answered, asked_names, described
from qdrank.commands.output import aligned, opened, refuse_unwritable
from qdrank.commands.retrieve import collection_of
from qdrank.errors import InputError
from qdrank.evaluation.declared import UNCLEAR
from qdrank.evaluation.run_files import is_letor
from qdrank.evaluation.two_runs import CLAIMS, Question, TwoRuns
from qdrank.evaluation.unjudged import read_judged, weights, written_rows


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add_question(parser, ["A", "B"], claim="better")
    parser.add_argument("--format", choices=["table", "json"], default="table", help="form of the output")


def add_question(parser: argparse.ArgumentParser, runs: list[str], *, claim: str) -> None:
    """Declare what is asked of two runs; a claim is on the one named last where that is the candidate, else on the first."""
    add_files(parser, runs)
    add_measures(parser)
    subject, other = (runs[1], runs[0]) if runs[1] == "CANDIDATE" else (runs[0], runs[1])
    parser.add_argument("--margin", type=float, required=True, help="smallest difference that counts, such as .005")
    parser.add_argument(
        "--claim",
        choices=list(CLAIMS),
        default=claim,
        help=f"what is claimed of {subject} against {other} (default: {claim})",
    )
    parser.add_argument("--groups", metavar="FILE", help="lines of a query and its group: the difference by group")
    parser.add_argument(
        "--missing",
        choices=["empty", "skip"],
        default="",
        help="how a judged query counts that a run lacks: an empty list, or left out of both (a run that lacks more than 10 %% "
        "gets no verdict until this is said; else empty)",
    )
    add_to_judge(parser)


def asked(args: argparse.Namespace, a: str, b: str) -> Question:
    """The question of the arguments on runs ``a`` and ``b``; what --to-judge has is read, and written anew."""
    args.measure = args.measure or ([] if args.convention else [USUAL[0]])
    names = asked_names(args, letor=is_letor(args.qrels))
    question = Question(
        TwoRuns.read(args.qrels, a, b, names, missing=args.missing), args.claim, args.margin, args.groups
    )
    return question if args.to_judge is None else write_to_judge(question, args)


def run(args: argparse.Namespace) -> int:
    """Print the verdict in each measure."""
    question = asked(args, args.a, args.b)
    two, reports = question.two, question.reports()
    if args.format == "json":
        runs = [described(two.a), described(two.b)]
        print(json.dumps({"judgments": two.judged, "runs": runs, "verdicts": reports}, indent=2))
    else:
        print("\n".join([*heading(two), *(line for one in reports for line in report_lines(one))]))
    return 0


def heading(two: TwoRuns) -> list[str]:
    """What is compared."""
    return [f"{two.judged}; {', '.join(two.names)}", answered(two.a), answered(two.b)]


def report_lines(report: dict[str, Any]) -> Iterator[str]:
    """Text of the report on one measure."""
    (a, mean_a), (b, mean_b) = report["mean"].items()
    interval = "no interval"
    if report["low"] is not None:
        interval = f"interval [{report['low']:+.4f}, {report['high']:+.4f}] at level {report['level']:.3g}"
    yield ""
    yield f"{report['measure']}: {report['text']} (margin {report['margin']:g}): {report['verdict'].upper()}"
    yield f"  because: {report['reason']}"
    yield f"  {a} {mean_a:.4f}, {b} {mean_b:.4f}, difference {report['difference']:+.4f}, {interval}, {report['n']} queries"
    if report["p"] is not None:
        yield f"  p {report['p']:.2g} if the true difference is 0 (t test){_of_claim(report)}"
    if report["absent"] is not None:
        yield f"  few queries: a kind that makes up less than {report['absent']:.0%} of all may be absent from these {report['n']}"
    if report["unjudged"] is not None:
        yield from unjudged_lines(report["verdict"], report["unjudged"])
    for what, n in report["queries_needed"].items() if report["verdict"] == UNCLEAR else ():
        enough = "no number is enough" if n is None else f"{n:,}"
        yield f"  queries needed {what}, were it the true difference (power .8): {enough}"
    yield "  queries that differ most:"
    rows = [[row["query"], f"{row['a']:.4f}", f"{row['b']:.4f}"] for row in report["queries_that_differ_most"]]
    yield from (f"    {line}" for line in aligned(["query", a, b], rows))
    if report["groups"] is not None:
        yield from (f"  {line}" for line in _group_lines(report["groups"]))


def _of_claim(report: dict[str, Any]) -> str:
    """The p-value of the claim, and the smallest difference that would be found, where there is an interval."""
    if report["p_of_claim"] is None:
        return ""
    claim = f", {report['p_of_claim']:.2g} if it is {report['false_at']}"
    detectable = "-" if report["detectable"] is None else f"{report['detectable']:.4f}"
    return f"{claim}; smallest detectable difference {detectable}"


def unjudged_lines(verdict: str, unjudged: dict[str, Any]) -> Iterator[str]:
    """How much is judged, and what the verdict would be on other judgments."""
    shares = ", ".join(f"{name} {share:.1%}" for name, share in unjudged["judged"].items())
    yield f"  judged among the first {unjudged['depth']}: {shares}; on judged documents alone: {unjudged['judged_alone'].upper()}"
    if unjudged["turned"] is not None:
        turns = "it stands" if unjudged["turned"] == verdict else unjudged["turned"].upper()
        yield f"  if every document that nobody judged were relevant, but only in the run that this speaks against: {turns}"


def _group_lines(groups: list[dict[str, Any]]) -> Iterator[str]:
    count = sum(one["differs"] for one in groups)
    yield f"by group, shrunk towards the whole; {count} of {len(groups)} groups differ from it:"
    rows = [
        [
            one["group"],
            str(one["n"]),
            f"{one['raw']:+.4f}",
            f"{one['shrunk']:+.4f}",
            f"[{one['low']:+.4f}, {one['high']:+.4f}]",
            "*" if one["differs"] else "",
        ]
        for one in groups
    ]
    heads = ["group", "queries", "difference", "shrunk", "interval", "differs"]
    yield from (f"  {line}" for line in aligned(heads, rows))


def add_to_judge(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "--to-judge",
        nargs=2,
        metavar=("N", "FILE"),
        help="write the N unjudged pairs of query and document that move the difference most; grades filled in there count",
    )
    parser.add_argument(
        "--text",
        metavar="DATASET",
        help="text for --to-judge: a registered text collection, or a folder in BEIR's form",
    )


def write_to_judge(question: Question, args: argparse.Namespace) -> Question:
    """The question with the grades of the file, which gets the next pairs."""
    number, file = args.to_judge
    if not (number.isdigit() and int(number) > 0):
        raise InputError(
            "--to-judge wants a number of pairs, and a file", found=number, fix="such as --to-judge 50 to-judge.csv"
        )
    two = question.two
    if two.qrels is None:
        raise InputError("a LETOR file has no unjudged documents", file=args.qrels, fix="leave --to-judge out")
    refuse_unwritable(file)
    judged = read_judged(file)
    two = two.graded(judged) if judged else two
    assert two.qrels is not None
    pairs = list(islice(weights(two.runs[0], two.runs[1], two.qrels, two.names[0]), int(number)))
    texts = _texts(args.text, {query for query, _ in pairs}, {doc for _, doc in pairs}) if args.text else ({}, {})
    with opened(file) as out:
        csv.writer(out, lineterminator="\n").writerows(written_rows(judged, pairs, *texts))
    print(f"qdrank: {len(judged)} judged pairs of {file} count; {len(pairs)} to judge are in it", file=sys.stderr)
    return replace(question, two=two)


def _texts(dataset: str, queries: Collection[str], documents: Collection[str]) -> tuple[dict[str, str], dict[str, str]]:
    """Texts of these queries and documents, by id."""
    text = collection_of(dataset)
    fields = {name: column for name, column in text.documents.fields.items() if name in ("title", "text")}
    rows = {doc: row for row, doc in enumerate(text.documents.doc_id) if doc in documents}
    of_documents = {doc: " ".join(column[row] for column in fields.values()) for doc, row in rows.items()}
    return {one.query_id: one.text for one in text.queries if one.query_id in queries}, of_documents

"""``qdrank compare QRELS A B``: the verdict on two runs, the queries that differ most, and how many queries would be needed."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterator
from math import isfinite
from typing import Any

import numpy as np

from qdrank.commands.evaluate import USUAL, add_files, add_measures, asked_names, measured_files
from qdrank.commands.run_tables import aligned, answered, described
from qdrank.datasets.runs.rows import read_groups
from qdrank.errors import InputError
from qdrank.evaluation.against import pairs_of
from qdrank.evaluation.deciding import decide
from qdrank.evaluation.declared import UNCLEAR, Claim, Declaration, Rules
from qdrank.evaluation.pairs import Pairs
from qdrank.evaluation.power import queries_needed
from qdrank.evaluation.query_groups import GroupDifference, by_group, groups_of
from qdrank.evaluation.run_files import is_letor, told_apart
from qdrank.evaluation.values import Values

_CLAIMS = {
    "better": ("superiority", "{a} is better than {b}"),
    "as-good": ("non-inferiority", "{a} is as good as {b}, or better"),
    "equal": ("equivalence", "{a} and {b} are equally good"),
}
_SHOWN = 5


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add_files(parser, ["A", "B"])
    add_measures(parser)
    parser.add_argument("--margin", type=float, required=True, help="smallest difference that counts, such as .005")
    parser.add_argument(
        "--claim", choices=list(_CLAIMS), default="better", help="what is claimed of A against B (default: better)"
    )
    parser.add_argument("--groups", metavar="FILE", help="lines of a query and its group: the difference by group")
    parser.add_argument("--format", choices=["table", "json"], default="table", help="form of the output")


def run(args: argparse.Namespace) -> int:
    """Print the verdict in each measure."""
    if not (isfinite(args.margin) and args.margin >= 0):
        raise InputError("the margin must be 0 or more", found=str(args.margin), fix="give a margin such as .005")
    if os.path.realpath(args.a) == os.path.realpath(args.b):
        raise InputError("A and B are the same file", file=args.a, fix="give two runs: qdrank compare QRELS A B")
    args.measure = args.measure or ([] if args.convention else [USUAL[0]])
    names = asked_names(args, letor=is_letor(args.qrels))
    judged, measured = measured_files(args.qrels, [args.a, args.b], names)
    runs = told_apart(list(measured))
    if len(runs) != 2:
        raise InputError(f"{len(runs)} runs in the two files", fix="give two files with one run each")
    groups = None if args.groups is None else read_groups(args.groups)
    reports = []
    for name in names:
        pairs = pairs_of(runs[0], runs[1], name)
        labels = None if groups is None else groups_of(pairs.query.tolist(), groups, args.groups)
        reports.append(_report(pairs, runs[0].name, runs[1].name, name, args, labels, family=len(names)))
    if args.format == "json":
        print(json.dumps({"judgments": judged, "runs": list(map(described, runs)), "verdicts": reports}, indent=2))
    else:
        lines = [
            f"{judged}; {', '.join(names)}",
            *map(answered, runs),
            *(line for one in reports for line in _lines(one)),
        ]
        print("\n".join(lines))
    return 0


def _report(
    pairs: Pairs, a: str, b: str, measure: str, args: argparse.Namespace, labels: list[str] | None, family: int
) -> dict[str, Any]:
    """The whole report on one measure."""
    kind, words = _CLAIMS[args.claim]
    text = words.format(a=a, b=b)
    claim = Claim(name=measure, text=text, expected="", kind=kind, margin=args.margin, unit=measure, measure=measure)
    # The table asks one question per measure: alpha is divided by their number.
    rules = Rules(alpha=Rules().alpha / family)
    declared = Declaration(study="compare", paper="", claims=(claim,), rules=rules)
    observations = {measure: {"all": Values(pairs.differences, pairs.query)}}
    (row,) = decide(declared, {"runs": observations}, dataset="runs").to_pylist()
    deviation = float(pairs.differences.std(ddof=1)) if pairs.n > 1 else 0.0
    kept = ("text", "measure", "verdict", "reason", "margin", "holds_if", "fails_if", "n", "low", "high", "level")
    return {
        **{key: row[key] for key in kept},
        "mean": {a: float(pairs.a.mean()), b: float(pairs.b.mean())},
        "difference": float(pairs.differences.mean()),
        "p": row["p"],
        "p_corrected": None if row["p"] is None else min(1.0, family * row["p"]),
        "detectable": row["detectable"],
        "queries_needed": {
            "for the margin": _queries_needed(args.margin, deviation, rules),
            "for the difference seen": _queries_needed(float(pairs.differences.mean()), deviation, rules),
        },
        "queries_that_differ_most": list(_extremes(pairs)),
        "groups": None if labels is None else list(map(vars, by_group(pairs.differences, labels, alpha=rules.alpha))),
    }


def _queries_needed(difference: float, deviation: float, rules: Rules) -> int | None:
    """Queries that find a true ``difference`` with power .8, at least as many as a verdict needs; None: no number does."""
    found = queries_needed(difference, deviation=deviation, alpha=rules.alpha)
    return None if found is None else max(found, rules.needed(rules.alpha))


def _extremes(pairs: Pairs) -> Iterator[dict[str, Any]]:
    """The queries with the largest differences, in both directions."""
    order = np.argsort(-np.abs(pairs.differences), kind="stable")[:_SHOWN]
    for i in order[pairs.differences[order] != 0].tolist():
        yield {"query": str(pairs.query[i]), "a": float(pairs.a[i]), "b": float(pairs.b[i])}


def _lines(report: dict[str, Any]) -> Iterator[str]:
    (a, mean_a), (b, mean_b) = report["mean"].items()
    interval = "no interval"
    if report["low"] is not None:
        interval = f"interval [{report['low']:+.4f}, {report['high']:+.4f}] at level {report['level']:.3g}"
    yield ""
    yield f"{report['measure']}: {report['text']} (margin {report['margin']:g}): {report['verdict'].upper()}"
    yield f"  because: {report['reason']}"
    yield f"  {a} {mean_a:.4f}, {b} {mean_b:.4f}, difference {report['difference']:+.4f}, {interval}, {report['n']} queries"
    if report["p"] is not None:
        detectable = "-" if report["detectable"] is None else f"{report['detectable']:.4f}"
        yield f"  p {report['p']:.2g}, corrected {report['p_corrected']:.2g}; smallest detectable difference {detectable}"
    for what, n in report["queries_needed"].items() if report["verdict"] == UNCLEAR else ():
        enough = "no number is enough" if n is None else f"{n:,}"
        yield f"  queries needed {what}, were it the true difference (power .8): {enough}"
    yield "  queries that differ most:"
    rows = [[row["query"], f"{row['a']:.4f}", f"{row['b']:.4f}"] for row in report["queries_that_differ_most"]]
    yield from (f"    {line}" for line in aligned(["query", a, b], rows))
    if report["groups"] is not None:
        yield from (f"  {line}" for line in _group_lines([GroupDifference(**one) for one in report["groups"]]))


def _group_lines(groups: list[GroupDifference]) -> Iterator[str]:
    count = sum(one.differs for one in groups)
    yield f"by group, shrunk towards the whole; {count} of {len(groups)} groups differ from it:"
    rows = [
        [
            g.group,
            str(g.n),
            f"{g.raw:+.4f}",
            f"{g.shrunk:+.4f}",
            f"[{g.low:+.4f}, {g.high:+.4f}]",
            "*" if g.differs else "",
        ]
        for g in groups
    ]
    heads = ["group", "queries", "difference", "shrunk", "interval", "differs"]
    yield from (f"  {line}" for line in aligned(heads, rows))

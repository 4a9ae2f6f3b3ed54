"""``qdrank gate QRELS BASELINE CANDIDATE``: may the candidate replace the baseline? The exit code says it to a build.

The first measure decides. Further measures and groups of queries only stop the build: where their corrected interval lies
wholly below minus the margin.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from qdrank.commands.compare import add_question, asked, heading, report_lines
from qdrank.commands.evaluate import described
from qdrank.commands.output import aligned, refuse_unwritable
from qdrank.errors import AnyPath, QdrankError
from qdrank.evaluation.declared import FAILS, HOLDS
from qdrank.evaluation.two_runs import Question, TwoRuns
from qdrank.store.atomic import write_text

PASS, FAIL, CANNOT_TELL = "pass", "fail", "cannot tell"
STATUS = {PASS: 0, FAIL: 1, CANNOT_TELL: 3}
_OF_VERDICT = {HOLDS: PASS, FAILS: FAIL}
_SHOWN = 5


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add_question(parser, ["BASELINE", "CANDIDATE"], claim="as-good")
    parser.add_argument(
        "--cannot-tell",
        choices=[PASS, FAIL],
        help="end with this where the data cannot tell (default: exit status 3, as ever where a run lacks queries)",
    )
    parser.add_argument("--json", metavar="FILE", help="all of it as JSON")
    parser.add_argument("--junit", metavar="FILE", help="a test report, as build servers read them")
    parser.add_argument("--summary", metavar="FILE", help="Markdown, put at the end of the file: $GITHUB_STEP_SUMMARY")


@dataclass(frozen=True)
class Check:
    """One thing that may stop the build: a measure, or a group of queries in a measure."""

    name: str
    outcome: str
    words: str


@dataclass(frozen=True, eq=False)
class Gate:
    """What the gate says of two runs."""

    question: Question
    reports: list[dict[str, Any]]

    @property
    def two(self) -> TwoRuns:
        """The runs: the candidate is a, the baseline b."""
        return self.question.two

    @property
    def checks(self) -> list[Check]:
        """The measure that decides, and all that can only fail; none can tell where a run lacks queries."""
        first, *others = self.reports
        made = [Check(first["measure"], _OF_VERDICT.get(first["verdict"], CANNOT_TELL), _numbers(first))]
        made += [Check(one["measure"], _stops(one, one["margin"]), _numbers(one)) for one in others]
        for report in self.reports:
            for group in report["groups"] or ():
                words = f"{group['shrunk']:+.4f} [{group['low']:+.4f}, {group['high']:+.4f}] on {group['n']} queries"
                made.append(
                    Check(f"{report['measure']}, group {group['group']}", _stops(group, report["margin"]), words)
                )
        return [replace(one, outcome=CANNOT_TELL) for one in made] if self.two.lacks else made

    @property
    def outcome(self) -> str:
        """What the build is told."""
        outcomes = [one.outcome for one in self.checks]
        return FAIL if FAIL in outcomes else outcomes[0]

    @property
    def line(self) -> str:
        """The line that a build's log shows."""
        first, *others = self.checks
        report = self.reports[0]
        if self.outcome == FAIL and first.outcome != FAIL:
            return self.worse(next(one for one in others if one.outcome == FAIL))
        said = {PASS: report["text"], FAIL: self.question.failed, CANNOT_TELL: f"whether {report['text']}"}[
            self.outcome
        ]
        why = f": {report['reason']}" if self.outcome == CANNOT_TELL else ""
        return f"{self.outcome.upper()}: {said}; {first.name} {first.words}, margin {report['margin']:g}{why}"

    def worse(self, check: Check) -> str:
        """What is said of a further check that fails."""
        return f"FAIL: {self.two.a.name} is worse than {self.two.b.name} in {check.name}: {check.words}"

    def lost(self) -> list[list[str]]:
        """The queries that lost most in the first measure: query, baseline, candidate."""
        pairs = self.two.pairs(self.two.names[0])
        worst = sorted(
            zip(pairs.differences.tolist(), pairs.query.tolist(), pairs.b.tolist(), pairs.a.tolist(), strict=True)
        )
        return [[str(query), f"{b:.4f}", f"{a:.4f}"] for lost, query, b, a in worst[:_SHOWN] if lost < 0]


def _numbers(report: dict[str, Any]) -> str:
    interval = "" if report["low"] is None else f" [{report['low']:+.4f}, {report['high']:+.4f}]"
    return f"{report['difference']:+.4f}{interval} on {report['n']} queries"


def _stops(one: dict[str, Any], margin: float) -> str:
    """Whether an interval lies wholly below minus the margin; none is given where it is not to be believed."""
    return FAIL if one["high"] is not None and one["high"] < -margin else PASS


def run(args: argparse.Namespace) -> int:
    """Print what the gate says, write the files, and return it as the exit status."""
    for path in (args.json, args.junit, args.summary):
        refuse_unwritable(path)
    try:
        question = asked(args, args.candidate, args.baseline)
        gate = Gate(question, question.reports())
    except QdrankError as error:
        if args.junit is not None:
            _write_junit(args.junit, [("input", "error", str(error), "")])
        raise
    undecided = gate.outcome == CANNOT_TELL and not gate.two.lacks
    status = STATUS[args.cannot_tell if undecided and args.cannot_tell else gate.outcome]
    table = aligned(["check", "", "difference"], ([one.name, one.outcome, one.words] for one in gate.checks))
    lines = [
        gate.line,
        "",
        *table,
        "",
        *heading(gate.two),
        *(line for one in gate.reports for line in report_lines(one)),
    ]
    lost = aligned(["query", gate.two.b.name, gate.two.a.name], gate.lost())
    print("\n".join([*lines, "", "queries that lost most:", *(f"  {line}" for line in lost)]))
    if args.json is not None:
        write_text(Path(args.json), json.dumps(_content(gate), indent=2) + "\n")
    if args.junit is not None:
        _write_junit(args.junit, _tests(gate, status))
    if args.summary is not None:
        with Path(args.summary).open("a", encoding="utf-8") as file:
            file.write("\n".join(_markdown(gate)) + "\n")
    if status != STATUS[gate.outcome]:
        print(f"qdrank: --cannot-tell {args.cannot_tell}", file=sys.stderr)
    return status


def _content(gate: Gate) -> dict[str, Any]:
    """All of it as JSON."""
    return {
        "outcome": gate.outcome,
        "line": gate.line,
        "judgments": gate.two.judged,
        "baseline": described(gate.two.b),
        "candidate": described(gate.two.a),
        "checks": list(map(vars, gate.checks)),
        "verdicts": gate.reports,
    }


def _tests(gate: Gate, status: int) -> Iterator[tuple[str, str, str, str]]:
    """Name of each check, what it is to JUnit (empty if it passes), the sentence, and the numbers.

    What cannot tell fails if it stops the build, and is skipped if it does not.
    """
    stopped = gate.outcome == CANNOT_TELL and status != STATUS[PASS]
    tags = {PASS: "", FAIL: "failure", CANNOT_TELL: "failure" if stopped else "skipped"}
    for i, one in enumerate(gate.checks):
        said = gate.worse(one) if i and one.outcome == FAIL else gate.line
        yield one.name, tags[one.outcome], said, one.words


def _write_junit(path: AnyPath, tests: Iterable[tuple[str, str, str, str]]) -> None:
    """A test report: a test for each check, or one for an input that cannot be read."""
    suite = ElementTree.Element("testsuite", name="qdrank gate")
    for name, tag, said, words in tests:
        case = ElementTree.SubElement(suite, "testcase", classname="qdrank.gate", name=name)
        if tag:
            ElementTree.SubElement(case, tag, message=said)
        ElementTree.SubElement(case, "system-out").text = words
    for counted, tag in (("tests", "testcase"), ("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(counted, str(sum(1 for _ in suite.iter(tag))))
    ElementTree.indent(suite)
    write_text(Path(path), ElementTree.tostring(suite, encoding="utf-8", xml_declaration=True).decode() + "\n")


def _markdown(gate: Gate) -> Iterator[str]:
    """A summary for people."""
    yield f"### {gate.line}"
    yield ""
    yield "| check | | difference |"
    yield "|---|---|---|"
    yield from (f"| {one.name} | {one.outcome} | {one.words} |" for one in gate.checks)
    if lost := gate.lost():
        yield ""
        yield f"| queries that lost most | {gate.two.b.name} | {gate.two.a.name} |"
        yield "|---|---|---|"
        yield from (f"| {' | '.join(row)} |" for row in lost)
    yield ""

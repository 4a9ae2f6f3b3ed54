"""Verdicts on the claims of all studies: how they are decided and written, and how a reader sees them, in words and as a matrix."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from qdrank.evaluation.deciding import SETS, UNITS, stamped, verdicts_table, with_averages
from qdrank.evaluation.declared import FAILS, FINDING, HOLDS, UNCLEAR, VERDICTS
from qdrank.evaluation.findings import decided_again, write_findings
from qdrank.figures.tables import p_value, write_table
from qdrank.figures.verdicts import FOLDED, expected_errors, readable, star, titled, verdicts_overview
from qdrank.store import write
from qdrank.workflow.provenance import commit

Row = Mapping[str, Any]

SIGNS = {HOLDS: "✓", FAILS: "✗", UNCLEAR: "?"}
CLASSES = {HOLDS: "holds", FAILS: "fails", UNCLEAR: "open"}
WORDS = {HOLDS: "Holds", FAILS: "Does not hold", UNCLEAR: "The data cannot tell"}


def number(value: float | None, *, signed: bool = False) -> str:
    """A number to three digits behind the point, or as 1.2e-05 where these would be 0; empty for None."""
    if value is None:
        return ""
    if value == 0:
        return "0"
    fixed = f"{value:+.3f}" if signed else f"{value:.3f}"
    small = f"{value:+.1e}" if signed else f"{value:.1e}"
    return fixed if abs(value) >= 0.0005 else small


def deciding(rows: Sequence[Row]) -> list[Row]:
    """Of the findings those that decide: single public sets only where their claim has no average."""
    averaged = {(row["study"], row["claim"]) for row in rows if row["analysis"] == SETS}
    single = [row["analysis"] in UNITS and (row["study"], row["claim"]) in averaged for row in rows]
    return [row for row, below in zip(rows, single, strict=True) if row["purpose"] == FINDING and not below]


def tally(rows: Sequence[Row]) -> str:
    """How many statements there are, and how they came out."""
    findings = deciding(rows)
    claims = len({row["claim"] for row in findings})
    datasets = len({row["dataset"] for row in rows if row["purpose"] == FINDING and row["analysis"] != SETS})
    if not findings:
        return "None of its claims could be decided in this run."
    counts = {verdict: sum(row["verdict"] == verdict for row in findings) for verdict in VERDICTS}
    yes, no, open_ = (counts[verdict] for verdict in VERDICTS)
    parts = [f"{yes} hold{'s' if yes == 1 else ''}"] if yes else []
    parts += [f"{no} do{'es' if no == 1 else ''} not hold"] if no else []
    parts += [f"for {open_} the data cannot tell"] if open_ else []
    said = " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)
    several = "" if len(findings) == claims else f" ({len(findings)} verdicts)"
    averages = sum(row["analysis"] == SETS for row in findings)
    averaged = f" {_count(averages, 'claim')} decided by the average over sets." if averages else ""
    return f"{_count(claims, 'claim')} on {_count(datasets, 'data set')}{several}: {said}.{averaged}"


def _count(n: int, what: str) -> str:
    return f"{n} {what}{'' if n == 1 else 's'}"


def sentences(rows: Sequence[Row], names: Mapping[str, str]) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """For each verdict, the claims of the paper that got it, each with the data sets and effects.

    ``names`` are the titles of the data sets by the names in the verdicts. After an average come its sets, with their signs.
    """
    for verdict in VERDICTS:
        where: dict[str, list[str]] = {}
        for row in deciding(rows):
            if row["verdict"] == verdict:
                places = where.setdefault(row["text"], [])
                places.append(_place(row, names))
                if row["analysis"] == SETS:
                    places += [f"{SIGNS[one['verdict']]} {_place(one, names)}" for one in _below(row, rows)]
        yield verdict, [(text, ", ".join(places)) for text, places in where.items()]


def _place(row: Row, names: Mapping[str, str]) -> str:
    """A data set, and the effect on it."""
    effect = f" ({number(row['effect'], signed=True)}{star(row)})" if row["effect"] is not None else ""
    called = f"average of {row['n']} sets" if row["analysis"] == SETS else names.get(row["dataset"], row["dataset"])
    return called + effect


def _below(average: Row, rows: Sequence[Row]) -> list[Row]:
    """Verdicts on single public sets, of the claim that an average is about."""
    return [row for row in rows if row["analysis"] in UNITS and row["claim"] == average["claim"]]


def detail(row: Row) -> dict[str, Any]:
    """What a click on a cell shows: label to text, in the order in which it is read."""
    unit = f" {row['unit']}" if row["unit"] else ""
    shown = {
        "effect": f"{number(row['effect'], signed=True)}{unit}" if row["effect"] is not None else "",
        "interval": interval(row),
        "p, corrected": p_value(row["p_corrected"]) if row["p_corrected"] is not None else "",
        "smallest detectable difference": f"{number(row['detectable'])}{unit}" if row["detectable"] is not None else "",
        "number of values": f"{row['n']:,} ({row['analysis']})",
        "why": row["reason"],
        "the paper": row["expected"],
        "holds if": row["holds_if"],
        "does not hold if": row["fails_if"],
        "measured in": row["measure"],
        "validation budget": row["budget"],
        "simulated world": row["world"],
        "note": row["note"],
    }
    return {label: text for label, text in shown.items() if text}


def interval(row: Row) -> str:
    """The interval and its confidence."""
    if row["low"] is None or row["high"] is None:
        return ""
    level = f" ({100 * (1 - row['level']):.4g} %)" if row["level"] is not None else ""
    return f"{number(row['low'], signed=True)} to {number(row['high'], signed=True)}{level}"


def decide_claims(
    files: Mapping[str, Any],
    out: Mapping[str, Any],
    *,
    studies: Mapping[str, Mapping[str, Any]],
    decided: Sequence[tuple[str, str]],
    titles: Mapping[str, str],
    configuration: str,
) -> None:
    """Write the findings of each study, the verdicts that follow from them, and the pages that show these.

    ``studies`` says by short name what declares the claims of a study, and what its findings are about
    (`qdrank.evaluation.findings.About`); ``decided`` are the data set and the study of each file of observations.
    """
    made_by = {"configuration": configuration, "commit": commit()}
    tables = []
    for (short, of), path in zip(studies.items(), out["findings"], strict=True):
        observations = {
            name: file for (name, study), file in zip(decided, files["observations"], strict=True) if study == short
        }
        write_findings(path, of["about"] | made_by, observations)
        tables.append(decided_again(path, of["claims"], of["across"]))
    verdicts = stamped(with_averages(pa.concat_tables([verdicts_table([]), *tables])), **made_by)
    write(out["table"], "verdicts", verdicts)
    whole, glance = readable(verdicts, titles), verdicts_overview(verdicts)
    write_table(whole, {"html": out["html"]}, title="Claims of the papers", folded=[*FOLDED, "purpose"])
    write_table(glance, {"csv": out["csv"], "md": out["md"]})
    page = {"html": out["overview"]}
    write_table(titled(glance, titles), page, title="Claims at a glance", said=expected_errors(verdicts))

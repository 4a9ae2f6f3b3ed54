"""All verdicts at a glance: one row per claim, one column per data set, with findings apart from what the data cannot tell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

import pyarrow as pa

from qdrank.evaluation.deciding import SETS, THESE_WORLDS, VALUES
from qdrank.evaluation.declared import CHECK, CONTROL, FAILS, HOLDS, PURPOSES, UNCLEAR, Rules

PUBLIC, SIMULATED = "findings on public data", "findings on simulated worlds"
CHECKS, CANNOT_TELL = "checks of the implementation", "what the data cannot tell"
SECTIONS = (PUBLIC, SIMULATED, CHECKS, CANNOT_TELL)
STARRED = (
    "A star marks a finding that holds for these simulated worlds only, because there are too few seeds to say more."
)
_SIGNS = {HOLDS: "yes", FAILS: "no", UNCLEAR: "?"}
"""Verdicts as a cell shows them, before the effect."""


def verdicts_overview(verdicts: pa.Table) -> pa.Table:
    """Verdicts and effects (the artifact ``verdicts``), in the order of `SECTIONS`.

    Every verdict is in one section. A cell "?" in a section of findings refers to "what the data cannot tell", which has
    the effect and the smallest difference that could have been found. A cell is empty where the claim was not judged.
    """
    rows = verdicts.to_pylist()
    datasets = list(dict.fromkeys(one["dataset"] for one in rows))
    lines = [line for section in SECTIONS for line in _lines(section, rows, datasets)]
    names = ["section", "paper", "claim", "purpose", *datasets]
    return pa.table({name: pa.array([line[name] for line in lines], pa.string()) for name in names})


def expected_errors(verdicts: pa.Table) -> str:
    """How many families and verdicts there are, and how many of them are expected to be wrong, at most; checks are exact.

    The k intervals of a family have the level alpha / k each: on average at most alpha of them miss the truth, however many
    lead to a yes or a no. So every family that has an interval counts, also one in which the data cannot tell.
    """
    rows = [one for one in verdicts.to_pylist() if one["purpose"] != CHECK]
    families = {_family(one) for one in rows}
    with_intervals = {_family(one) for one in rows if one["low"] is not None}
    told = sum(one["verdict"] != UNCLEAR for one in rows)
    wrong = min(Rules().alpha * len(with_intervals), told)
    return (
        f"{len(rows)} verdicts in {len(families)} families (a family is decided on each data set apart): {told} say yes or "
        f"no, for {len(rows) - told} the data cannot tell. Up to {wrong:.1f} of the {told} are expected to be wrong by chance: "
        f"{len(with_intervals)} families have intervals, those of a family miss at {100 * Rules().alpha:g} % together, and nothing "
        "is corrected across families and data sets."
    )


def _family(one: Mapping[str, Any]) -> tuple[str, str, str]:
    return one["study"], one["dataset"], one["family"] or f"({one['claim']})"


def section_of(one: Mapping[str, Any]) -> str:
    """Section of a verdict."""
    if one["purpose"] == CHECK:
        return CHECKS
    if one["verdict"] == UNCLEAR:
        return CANNOT_TELL
    return SIMULATED if one["world"] else PUBLIC


def _lines(section: str, rows: Sequence[Mapping[str, Any]], datasets: Sequence[str]) -> list[dict[str, str]]:
    """Lines of one section: claims of the papers before controls, otherwise in the order of the verdicts."""
    in_section = [one for one in rows if section_of(one) == section]
    claims = dict.fromkeys((one["paper"], one["text"], one["purpose"]) for one in in_section)
    lines = []
    for paper, text, purpose in sorted(claims, key=lambda claim: claim[2] == CONTROL):
        asked = [one for one in rows if (one["paper"], one["text"], one["purpose"]) == (paper, text, purpose)]
        cells = {one["dataset"]: _cell(section, one) for one in asked}
        head = {"section": section, "paper": paper, "claim": text, "purpose": purpose}
        lines.append(head | {name: cells.get(name, "") for name in datasets})
    return lines


def _cell(section: str, one: Mapping[str, Any]) -> str:
    if section_of(one) != section:
        elsewhere = one["verdict"] == UNCLEAR and section == (SIMULATED if one["world"] else PUBLIC)
        return _SIGNS[UNCLEAR] if elsewhere else ""
    text = _SIGNS[one["verdict"]] + _effect(one)
    if section == CANNOT_TELL and one["detectable"] is not None:
        text += f" (could find {one['detectable']:.3f})"
    elif section == CANNOT_TELL and one["analysis"] != VALUES:
        text += " (too little to judge)"
    return text + star(one)


def star(one: Mapping[str, Any]) -> str:
    """The mark of a finding on simulated worlds of too few seeds; empty for any other verdict."""
    return "*" if one["analysis"] == THESE_WORLDS and section_of(one) == SIMULATED else ""


#: Columns of the table of verdicts as a person reads it: what was found first, then why, then how it was decided.
_READ = {
    "verdict": "verdict",
    "text": "claim",
    "dataset": "data set",
    "effect": "effect",
    "low": "interval, low",
    "high": "interval, high",
    "unit": "unit",
    "p_corrected": "p, corrected",
    "detectable": "smallest detectable difference (power 0.8)",
    "n": "n",
    "differing": "queries that differ",
    "fits": "fits",
    "fit_spread": "deviation between fits",
    "paper": "paper",
    "purpose": "purpose",
    "reason": "reason",
    "boot_low": "bootstrap, low",
    "boot_high": "bootstrap, high",
    "margin": "margin",
    "measure": "measure",
    "analysis": "n counts",
    "holds_if": "holds if",
    "fails_if": "does not hold if",
    "expected": "the paper",
    "family": "corrected with",
    "budget": "validation budget",
    "note": "note",
}
#: Those that a page folds away.
FOLDED = tuple(_READ.values())[list(_READ).index("reason") :]


def readable(verdicts: pa.Table, titles: Mapping[str, str] | None = None) -> pa.Table:
    """The artifact ``verdicts`` as a table to read: verdict, effect and interval first; ``titles`` of data sets by name."""
    read = verdicts.select(list(_READ)).rename_columns(list(_READ.values()))
    called = [(titles or {}).get(name, name) for name in read.column("data set").to_pylist()]
    return read.set_column(read.column_names.index("data set"), "data set", pa.array(called, pa.string()))


def titled(overview: pa.Table, titles: Mapping[str, str]) -> pa.Table:
    """The overview with titles of data sets for their names, where no two of them are called the same."""
    names = [titles.get(name, name) for name in overview.column_names]
    return overview.rename_columns(names) if len(set(names)) == len(names) else overview


def findings_table(verdicts: pa.Table, study: str) -> pa.Table:
    """A claim of the study in each row, a data set in each column: findings, then controls, then checks."""
    rows = [one for one in verdicts.to_pylist() if one["study"] == study]
    datasets = dict.fromkeys(one["dataset"] for one in rows)
    lines: dict[tuple[str, str], dict[str, str]] = {}
    for one in sorted(rows, key=lambda one: PURPOSES.index(one["purpose"])):
        lines.setdefault((one["text"], one["purpose"]), {})[one["dataset"]] = _cell(section_of(one), one)
    columns = {name: [cells.get(name, "") for cells in lines.values()] for name in datasets}
    heads = {name: [line[place] for line in lines] for place, name in enumerate(("claim", "purpose"))}
    return pa.table({name: pa.array(texts, pa.string()) for name, texts in (heads | columns).items()})


def claims_table(verdicts: pa.Table, study: str, patterns: Sequence[str]) -> pa.Table:
    """Claims of a study, those whose names fit a pattern, controls last: the average over public sets, or each set, and worlds."""
    rows = [one for one in verdicts.to_pylist() if one["study"] == study and one["purpose"] != CHECK]
    wanted = [one for one in rows if any(fnmatchcase(one["claim"], pattern) for pattern in patterns)]
    lines = []
    for text in dict.fromkeys(one["text"] for one in sorted(wanted, key=lambda one: one["purpose"] == CONTROL)):
        of = [one for one in wanted if one["text"] == text]
        average = next((one for one in of if one["analysis"] == SETS), None)
        listed = [
            "; ".join(f"{one['dataset']} {_SIGNS[one['verdict']]}{_effect(one)}{star(one)}" for one in some)
            for some in ([one for one in of if not one["world"]], [one for one in of if one["world"]])
        ]
        found = [averaged(average), _SIGNS[average["verdict"]]] if average else [listed[0], ""]
        lines.append([text, *found, listed[1]])
    names = ["claim", "average of public sets; each set where they are few", "holds", "simulated worlds"]
    columns = {name: [line[place] for line in lines] for place, name in enumerate(names)}
    return pa.table({name: pa.array(texts, pa.string()) for name, texts in columns.items() if any(texts)})


def averaged(row: Mapping[str, Any]) -> str:
    """An average over sets with its interval, its unit and the number of sets."""
    ends = "" if row["low"] is None else f" [{row['low']:+.4f}, {row['high']:+.4f}]"
    level = "" if row["level"] in (None, Rules().alpha) else f" at {100 * (1 - row['level']):.4g} %"
    return f"{row['effect']:+.4f}{ends}{level} {row['unit']}, {row['n']} sets"


def _effect(one: Mapping[str, Any]) -> str:
    return "" if one["effect"] is None else f" {one['effect']:+.3f}"

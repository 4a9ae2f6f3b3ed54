"""The ladder of rankers, their gains over their controls, and what past queries add to retrieval from text.

The ladder has MAP of every ranker, and its gain over Single and over LambdaMART. A control knows nothing of the query; the gain
over it is also drawn without near-duplicate queries.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from qdrank.figures.numbers import ALONE, bca_ends, chosen, numbers, where
from qdrank.figures.palette import BLACK, BLUE, GREEN, GREY, VERMILION, Look
from qdrank.figures.pictures import forest, height_of, label_rows, legend, lines
from qdrank.figures.style import label_axes, new_figure
from qdrank.studies.beyond.methods import (
    BY_NAME,
    CHOSEN,
    CONTROLS,
    GATED,
    MEASURE,
    METHODS,
    MIX_CONTROLS,
    OF_CHOSEN,
    OTHER_GATE,
    RECOMMENDED,
    SINGLE,
    TEXT_MIX,
    TREES,
    WITH_EVIDENCE,
    WITHOUT_NEAR,
)
from qdrank.studies.beyond.tables import AP, gathered_values, label, retrieved
from qdrank.studies.making import Inputs, Shown


def ladder_numbers(values: pd.DataFrame, interval: Mapping[str, Any]) -> pd.DataFrame:
    """MAP of every ranker, and its paired differences from Single and LambdaMART with their intervals."""
    of, by = chosen(where(values, near=0.0), [method.name for method in METHODS]), ["method"]
    columns = ["method", "mean"]
    parts = []
    for name, other in (("single", SINGLE), ("lambdamart", TREES)):
        rows = numbers(of, by, MEASURE, interval, against={"method": other}, means=False).set_index(columns)
        rows = rows.drop(columns="queries").rename(columns=lambda end: end.replace("difference", f"from_{name}"))  # noqa: B023
        parts.append(rows)
    return pd.concat(parts, axis=1).reset_index()


def draw_ladder(inputs: Inputs, shown: Shown) -> tuple[Any, pd.DataFrame]:
    """MAP (left) and the two differences (right), one row for each ranker."""
    rows = ladder_numbers(gathered_values(inputs), shown.interval)
    figure, (left, right) = new_figure(1, 2, height=height_of(len(rows)), sharey=True, width_ratios=[1, 1.6])
    forest(left, rows, BY_NAME, "mean", None)
    for words, name, colour, shift in (("Single", "single", BLACK, 0.13), ("LambdaMART", "lambdamart", GREY, -0.13)):
        look = Look("", f"from {words}", colour, "o")
        forest(right, rows, look, f"from_{name}", f"from_{name}_", shift=shift)
    label_rows(left, [BY_NAME[name].label for name in rows["method"]])
    label_axes(left, "MAP", "")
    label_axes(right, f"difference in MAP, {shown.interval['level']:.0%} interval", "")
    figure.suptitle(f"{shown.title}: rankers from plain to query-dependent", fontsize="medium")
    legend(figure)
    return figure, rows


def control_numbers(values: pd.DataFrame, interval: Mapping[str, Any]) -> pd.DataFrame:
    """Difference of every ranker from its control, with its interval; ``near`` is 0 if no query is left out."""
    controls = {CHOSEN: OF_CHOSEN} | CONTROLS
    parts = []
    for against in (controls, {GATED: OTHER_GATE}):
        of = chosen(values, dict.fromkeys([*against, *against.values()]))
        rows = numbers(of, ["method", "near"], MEASURE, interval, against={"method": against}, means=False)
        parts.append(rows.assign(control=rows["method"].map(against)).rename(columns=ALONE))
    rows = pd.concat(parts).sort_values("near", key=lambda near: near.where(near == 0, 1 - near), kind="stable")
    return rows[["method", "control", "near", "difference", "low", "high"]]


def draw_controls(inputs: Inputs, shown: Shown) -> tuple[Any, pd.DataFrame]:
    """Rankers against their controls (left), and evidence against the prior without near-duplicates (right)."""
    rows = control_numbers(gathered_values(inputs), shown.interval)
    plain, evidence = where(rows, near=0.0), chosen(rows, WITH_EVIDENCE)
    figure, (left, right) = new_figure(1, 2, height=height_of(1.6 * len(plain)), width_ratios=[1.3, 1])
    forest(left, plain, BY_NAME, ends="")
    label_rows(left, [_label(*one) for one in zip(plain["method"], plain["control"], strict=True)])
    label_axes(left, "gain on the control, MAP", "")
    figure.suptitle(f"{shown.title}: rankers against their controls", fontsize="medium")
    if (evidence["difference"] != 0).any() or evidence["low"].notna().any():
        lines(right, evidence, "near", BY_NAME, "difference", "", tick=lambda near: f"< {near:g}" if near else "all")
        label_axes(right, "similarity of queries used", "gain of evidence on prior, MAP", "without near-duplicates")
        legend(figure)
    else:
        right.axis("off")
        right.text(0.5, 0.5, "Evidence and prior\nrank every query alike.", ha="center")
    return figure, rows


def _label(method: str, control: str) -> str:
    """Ranker and control, without repeating what they share."""
    words = "its own control" if control == OF_CHOSEN else BY_NAME[control].label
    for cut in (", ", " with "):
        words = words.rpartition(cut)[2]
    return f"{BY_NAME[method].label} against {words}"


#: Mixes; learners: the one that is compared with the recommended mix, and what its constraint takes away; controls.
_SHOWN = (
    RECOMMENDED,
    "all-mix",
    "nearest-mix",
    "prior-mix",
    "learned-past",
    "learned-all",
    "learned-monotone",
    *MIX_CONTROLS,
)
_COLOURS = (
    dict.fromkeys(MIX_CONTROLS, GREY)
    | dict.fromkeys(_SHOWN[4:7], GREEN)
    | {RECOMMENDED: VERMILION, "nearest-mix": BLUE}
)
_LOOKS = {
    name: Look(name, label(name), _COLOURS.get(name, BLACK), "s" if name == RECOMMENDED else "o") for name in _SHOWN
}


def gains(values: pd.DataFrame, interval: Mapping[str, Any]) -> pd.DataFrame:
    """Difference of every mix and control from the mix of text, with its interval; ``near`` is 0 if nothing is hidden."""
    against = {"method": TEXT_MIX, "near": 0.0}
    rows = numbers(values, ["method", "near"], AP, interval, against=against, means=False, ends=bca_ends)
    rows = chosen(rows, _SHOWN)[["method", "near", "difference", *ALONE]].rename(columns=ALONE)
    return pd.concat([where(rows, near=0.0), chosen(rows[rows["near"] > 0], WITHOUT_NEAR)])


def draw_retrieval(inputs: Inputs, shown: Shown) -> tuple[Any, pd.DataFrame]:
    """Mixes and controls against text (left), and two mixes without near-duplicates (right)."""
    rows = gains(retrieved(inputs), shown.interval)
    whole = where(rows, near=0.0)
    figure, (left, right) = new_figure(1, 2, height=height_of(len(whole)), width_ratios=[1.2, 1])
    forest(left, whole, _LOOKS, ends="")
    label_rows(left, [label(name) for name in whole["method"]])
    label_axes(left, "gain on the mix of text, MAP", "")
    hidden = chosen(rows, WITHOUT_NEAR)
    lines(right, hidden, "near", _LOOKS, "difference", "", tick=lambda near: f"{near:g}+" if near else "none")
    label_axes(right, "similarity hidden", "gain on the mix of text, MAP")
    figure.suptitle(f"{shown.title}: retrieval from the whole collection with past queries", fontsize="medium")
    legend(figure)
    return figure, rows

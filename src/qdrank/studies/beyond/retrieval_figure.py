"""What past queries add to retrieval from text, beside the controls; also without near-duplicates of a query."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from qdrank.figures.numbers import ALONE, bca_ends, chosen, numbers, where
from qdrank.figures.palette import BLACK, BLUE, GREEN, GREY, VERMILION, Look
from qdrank.figures.pictures import forest, height_of, label_rows, legend, lines
from qdrank.figures.style import label_axes, new_figure
from qdrank.studies.beyond.retrieval_tables import AP, label, retrieved
from qdrank.studies.beyond.retrieved import CONTROLS, RECOMMENDED, TEXT_MIX, WITHOUT_NEAR
from qdrank.studies.making import Inputs, Shown

#: Mixes; learners: the one that is compared with the recommended mix, and what its constraint takes away; controls.
_SHOWN = (
    RECOMMENDED,
    "all-mix",
    "nearest-mix",
    "prior-mix",
    "learned-past",
    "learned-all",
    "learned-monotone",
    *CONTROLS,
)
_COLOURS = (
    dict.fromkeys(CONTROLS, GREY) | dict.fromkeys(_SHOWN[4:7], GREEN) | {RECOMMENDED: VERMILION, "nearest-mix": BLUE}
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


def draw(inputs: Inputs, shown: Shown) -> tuple[Any, pd.DataFrame]:
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

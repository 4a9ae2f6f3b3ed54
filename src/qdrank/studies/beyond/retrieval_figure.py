"""What past queries add to retrieval from text, beside the controls; also without near-duplicates of a query."""

from __future__ import annotations

from collections.abc import Mapping
from textwrap import fill
from typing import Any

import numpy as np
import pyarrow as pa

from qdrank.evaluation.refits import table_ends
from qdrank.figures.palette import BLACK, BLUE, GREEN, GREY, VERMILION
from qdrank.figures.style import label_axes, new_figure
from qdrank.studies.beyond.retrieval_tables import Key, Retrieved, label, retrieved
from qdrank.studies.beyond.retrieved import CONTROLS, RECOMMENDED, TEXT_MIX, WITHOUT_NEAR
from qdrank.studies.making import Inputs, Shown

#: Learners shown: the one that is compared with the recommended mix, and what its constraint takes away.
_SHOWN = ("learned-past", "learned-all", "learned-monotone")
MIXES = (RECOMMENDED, "all-mix", "nearest-mix", "prior-mix")
_COLOURS = dict.fromkeys(CONTROLS, GREY) | dict.fromkeys(_SHOWN, GREEN) | {RECOMMENDED: VERMILION, "nearest-mix": BLUE}


def numbers(values: Retrieved, interval: Mapping[str, Any]) -> pa.Table:
    """Difference of every mix and control from the mix of text, with its interval; ``near`` is 0 if nothing is hidden."""
    keys: list[Key] = [(name, 0.0) for name in (*MIXES, *_SHOWN, *CONTROLS)]
    keys += [(name, threshold) for name in WITHOUT_NEAR for threshold in values.thresholds]
    pairs = [values.pairs(key, (TEXT_MIX, 0.0)) for key in keys]
    ends = np.array([table_ends(one.by_fit, **interval) for one in pairs if one.by_fit is not None])
    columns = {"method": [name for name, _ in keys], "near": [threshold for _, threshold in keys]}
    means = [float(one.differences.mean()) for one in pairs]
    return pa.table(columns | {"difference": means, "low": ends[:, 0], "high": ends[:, 1]})


def draw(inputs: Inputs, shown: Shown) -> tuple[Any, pa.Table]:
    """Mixes and controls against text (left), and two mixes without near-duplicates (right)."""
    values = retrieved(inputs)
    assert values is not None
    table = numbers(values, shown.interval)
    rows = table.to_pylist()
    figure, (left, right) = new_figure(1, 2, height=4.0, width_ratios=[1.2, 1])
    whole = [row for row in rows if not row["near"]]
    for place, row in enumerate(reversed(whole)):
        colour = _COLOURS.get(row["method"], BLACK)
        left.errorbar([row["difference"]], [place], xerr=_bars([row]), color=colour, marker="o", elinewidth=1)
    words = [label((row["method"], 0.0)) for row in reversed(whole)]
    left.set_yticks(np.arange(len(whole)), [fill(word, 36) for word in words], fontsize=6.5)
    left.axvline(0, color="black", linewidth=0.8)
    left.locator_params(axis="x", nbins=4)
    label_axes(left, "gain on the mix of text, MAP", "")
    _draw_near(right, rows)
    figure.suptitle(f"{shown.title}: retrieval from the whole collection with past queries", fontsize="medium")
    figure.legend(*right.get_legend_handles_labels(), loc="outside lower center", fontsize="small")
    return figure, table


def _draw_near(axes: Any, rows: list[dict[str, Any]]) -> None:
    """Gain on text by the similarity from which past queries are hidden."""
    for shift, name in enumerate(WITHOUT_NEAR):
        of_mix = [row for row in rows if row["method"] == name]
        places = np.arange(len(of_mix)) + 0.1 * shift
        look = {"color": _COLOURS[name], "marker": "os"[shift], "label": label((name, 0.0))}
        axes.errorbar(places, [row["difference"] for row in of_mix], _bars(of_mix), elinewidth=1, **look)
    hidden = ["none" if not row["near"] else f"{row['near']:g}+" for row in of_mix]
    axes.set_xticks(np.arange(len(of_mix)), hidden, fontsize="small")
    axes.axhline(0, color="black", linewidth=0.8)
    label_axes(axes, "similarity hidden", "gain on the mix of text, MAP")


def _bars(rows: list[dict[str, Any]]) -> Any:
    """Lengths of the bars below and above, (2, n_rows)."""
    return np.array([[row["difference"] - row["low"], row["high"] - row["difference"]] for row in rows]).T.clip(0)

"""The ladder: MAP of every ranker, and its gain over Single and over LambdaMART."""

from __future__ import annotations

from collections.abc import Mapping
from textwrap import fill
from typing import Any

import numpy as np
import pyarrow as pa

from qdrank.evaluation.refits import column_ends
from qdrank.figures.style import label_axes, new_figure
from qdrank.studies.beyond.methods import BY_NAME, METHODS, SINGLE, TREES
from qdrank.studies.beyond.values import Values, gathered_values
from qdrank.studies.making import Inputs, Shown


def numbers(values: Values, interval: Mapping[str, Any]) -> pa.Table:
    """MAP of every ranker, and its paired differences from Single and LambdaMART with their intervals."""
    means = [float(values.of[method.name, 0.0].mean()) for method in METHODS]
    columns: dict[str, Any] = {"method": [method.name for method in METHODS], "mean": means}
    for name, other in (("single", SINGLE), ("lambdamart", TREES)):
        apart = values.by_fit([((method.name, 0.0), (other, 0.0)) for method in METHODS])
        low, high = column_ends(apart, **interval)
        columns |= {f"from_{name}": apart.mean(axis=(0, 1)), f"from_{name}_low": low, f"from_{name}_high": high}
    return pa.table(columns)


def draw(inputs: Inputs, shown: Shown) -> tuple[Any, pa.Table]:
    """MAP (left) and the two differences (right), one row for each ranker."""
    values = gathered_values(inputs.table("measures", "measures"), inputs.table("controls", "figure"))
    table = numbers(values, shown.interval)
    figure, panels = new_figure(1, 2, height=4.2, sharey=True, width_ratios=[1, 1.6])
    rows = table.to_pylist()
    places = np.arange(len(rows))[::-1]
    for place, row in zip(places, rows, strict=True):
        look = BY_NAME[row["method"]]
        panels[0].plot(row["mean"], place, color=look.colour, marker=look.marker, markersize=6, linestyle="none")
        for name, colour, shift in (("single", "black", 0.13), ("lambdamart", "#999999", -0.13)):
            middle, low, high = (row[f"from_{name}{end}"] for end in ("", "_low", "_high"))
            bars = np.array([[middle - low], [high - middle]]).clip(0)
            panels[1].errorbar([middle], [place + shift], xerr=bars, color=colour, marker="o", elinewidth=1)
    panels[1].axvline(0, color="black", linewidth=0.8)
    panels[0].set_yticks(places, [fill(BY_NAME[row["method"]].label, 22) for row in rows], fontsize=7)
    for name, colour in (("from Single", "black"), ("from LambdaMART", "#999999")):
        panels[1].plot([], [], color=colour, marker="o", linestyle="none", label=name)
    panels[0].locator_params(axis="x", nbins=3)
    panels[1].locator_params(axis="x", nbins=5)
    label_axes(panels[0], "MAP", "")
    figure.suptitle(f"{shown.title}: rankers from plain to query-dependent", fontsize="medium")
    label_axes(panels[1], f"difference in MAP, {shown.interval['level']:.0%} interval", "")
    figure.legend(*panels[1].get_legend_handles_labels(), ncols=2, loc="outside lower center", fontsize="small")
    return figure, table

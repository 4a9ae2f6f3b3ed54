"""Figures 1 and 2 of Hoi and Jin 2008: MAP, and precision at ranks 1 to 10, of all methods under both rules for ties."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from qdrank.evaluation.intervals import column_intervals
from qdrank.evaluation.pairs import query_values
from qdrank.figures.style import label_axes, new_figure
from qdrank.studies.hoi2008.methods import BY_NAME, PAPER, STACKED, present
from qdrank.studies.making import Inputs, Shown

#: The paper's seven methods, then SER and SSER with ties in file order, and what stands below all.
SHOWN = (*PAPER, "ser-file", "sser-file", *(method.name for method in STACKED), "reference")
RANKS = range(1, 11)
PRECISION = tuple(f"p@{k}/letor4" for k in RANKS)


def numbers(measures: pa.Table, names: Sequence[str], interval: Mapping[str, Any]) -> pa.Table:
    """Mean and interval of every method and measure, and of its difference from SER on the same queries."""
    methods = present(set(measures.column("method").to_pylist()), SHOWN)
    rows = []
    for name in names:
        values = query_values(measures, methods, name)[1]
        apart = values - values[:, [methods.index("ser")]]
        (low, high), (under, over) = column_intervals(values, **interval), column_intervals(apart, **interval)
        for i, method in enumerate(methods):
            row = {"method": method, "measure": name, "queries": len(values), "mean": float(values[:, i].mean())}
            row |= {"low": low[i], "high": high[i], "difference": float(apart[:, i].mean())}
            rows.append(row | {"difference_low": under[i], "difference_high": over[i]})
    return pa.Table.from_pylist(rows)


def draw(inputs: Inputs, shown: Shown) -> tuple[Any, pa.Table]:
    """MAP with intervals, and the paired differences from SER."""
    table = numbers(inputs.table("measures", "measures"), ["ap"], shown.interval)
    rows = table.to_pylist()
    figure, panels = new_figure(1, 2, height=0.8 + 0.27 * len(rows), sharey=True)
    place = -np.arange(len(rows))
    for y, row in zip(place, rows, strict=True):
        look = BY_NAME[row["method"]]
        for axes, kind in zip(panels, ("", "difference_"), strict=True):
            axes.hlines(y, row[f"{kind}low"], row[f"{kind}high"], color=look.colour)
            axes.plot(row["difference" if kind else "mean"], y, color=look.colour, marker=look.marker)
    panels[0].set_yticks(place, [BY_NAME[row["method"]].label for row in rows])
    panels[1].axvline(0, color="black", linewidth=0.8)
    for axes in panels:
        axes.locator_params(axis="x", nbins=5)
    level = f"{shown.interval['level']:.0%}"
    label_axes(panels[0], f"MAP, {level} interval", "", shown.dataset)
    label_axes(panels[1], f"difference from SER (paired), {level}", "")
    return figure, table


def draw_precision(inputs: Inputs, shown: Shown) -> tuple[Any, pa.Table]:
    """Precision at ranks 1 to 10, and how far SSER is from every other method at each rank."""
    table = numbers(inputs.table("measures", "measures"), PRECISION, shown.interval)
    figure, panels = new_figure(1, 2, height=4.2)
    by_method: dict[str, list[dict[str, Any]]] = {}
    for row in table.to_pylist():
        by_method.setdefault(row["method"], []).append(row)
    ranks = np.array(RANKS)
    for i, (method, rows) in enumerate(by_method.items()):
        look = BY_NAME[method]
        dashed = {"linestyle": "--"} if method.endswith("-file") else {}
        panels[0].plot(ranks, [row["mean"] for row in rows], **look.marked, **dashed)
        if method != "ser":
            apart, low, high = (np.array([row[f"difference{end}"] for row in rows]) for end in ("", "_low", "_high"))
            shifted = ranks + (i - len(by_method) / 2) * 0.07
            bars = np.stack([apart - low, high - apart]).clip(0)
            panels[1].errorbar(
                shifted,
                apart,
                bars,
                linestyle="none",
                elinewidth=0.7,
                color=look.colour,
                marker=look.marker,
                markersize=3,
            )
    panels[1].axhline(0, color="black", linewidth=0.8)
    for axes in panels:
        axes.set_xticks(ranks)
    label_axes(panels[0], "rank k", "precision at k", shown.dataset)
    label_axes(panels[1], "rank k", f"difference from SER, {shown.interval['level']:.0%} interval")
    figure.legend(*panels[0].get_legend_handles_labels(), ncols=4, loc="outside lower center", fontsize="small")
    return figure, table

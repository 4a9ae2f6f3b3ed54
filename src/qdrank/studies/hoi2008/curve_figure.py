"""The learning curve: MAP against the number of training queries, and the gain of SSER over SER at each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from qdrank.evaluation.intervals import column_intervals
from qdrank.figures.style import error_bars, label_axes, new_figure
from qdrank.studies.hoi2008.curves import Curve, size_curve
from qdrank.studies.hoi2008.learning_curve import METHODS
from qdrank.studies.hoi2008.methods import BY_NAME
from qdrank.studies.making import Inputs, Shown


def numbers(table: pa.Table, interval: Mapping[str, Any]) -> pa.Table:
    """MAP of every method and size, over queries and repeats, and its difference from SER; size 0 means all queries."""
    curves = {method: size_curve(table, method) for method in METHODS}
    rows = []
    for method, curve in curves.items():
        apart = curve.values - curves["ser"].values
        (low, high), (under, over) = column_intervals(curve.values, **interval), column_intervals(apart, **interval)
        for i in _order(curve):
            row = {"method": method, "size": int(curve.x[i]), "queries": len(curve.values)}
            row |= {"mean": float(curve.values[:, i].mean()), "low": low[i], "high": high[i]}
            row |= {"difference": float(apart[:, i].mean()), "difference_low": under[i], "difference_high": over[i]}
            rows.append(row)
    return pa.Table.from_pylist(rows)


def _order(curve: Curve) -> list[int]:
    """Order of the points, with size 0 (all queries) last."""
    return sorted(range(len(curve.x)), key=lambda i: (curve.x[i] == 0, curve.x[i]))


def draw(inputs: Inputs, shown: Shown) -> tuple[Any, pa.Table]:
    """MAP of the four methods, and their paired differences from SER."""
    table = numbers(inputs.table("curves", "figure"), shown.interval)
    figure, panels = new_figure(1, 2, height=3.4)
    for method in METHODS:
        rows = [row for row in table.to_pylist() if row["method"] == method]
        places, look = np.arange(len(rows)), BY_NAME[method]
        panels[0].plot(places, [row["mean"] for row in rows], **look.marked)
        if method != "ser":
            apart, low, high = (np.array([row[f"difference{end}"] for row in rows]) for end in ("", "_low", "_high"))
            bars = error_bars(apart, low, high)
            panels[1].errorbar(places + 0.08 * METHODS.index(method), apart, bars, elinewidth=0.8, **look.marked)
    panels[1].axhline(0, color="black", linewidth=0.8)
    labels = ["all" if row["size"] == 0 else str(row["size"]) for row in rows]
    for axes in panels:
        axes.set_xticks(places, labels)
    label_axes(panels[0], "training queries", "MAP")
    figure.suptitle(f"{shown.title}: number of training queries", fontsize="medium")
    label_axes(panels[1], "training queries", f"difference from SER, {shown.interval['level']:.0%} interval")
    figure.legend(*panels[0].get_legend_handles_labels(), ncols=4, loc="outside lower center", fontsize="small")
    return figure, table

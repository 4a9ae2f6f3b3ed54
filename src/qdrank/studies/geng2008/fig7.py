"""Figure 7 of Geng 2008: NDCG@1 to @10 and their mean for all methods, with the controls that the paper lacks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from qdrank.evaluation.intervals import column_intervals
from qdrank.evaluation.pairs import query_values
from qdrank.figures.style import label_axes, new_figure
from qdrank.groups import FloatArray
from qdrank.studies.geng2008.methods import BY_NAME, PAPER, controls, present
from qdrank.studies.making import Inputs, Shown

MEASURES = (*(f"ndcg@{k}/geng" for k in range(1, 11)), "mean_ndcg/geng")
LABELS = [*(f"@{k}" for k in range(1, 11)), "mean"]


def numbers(measures: pa.Table, interval: Mapping[str, Any]) -> pa.Table:
    """Mean and interval of every method and measure, and of its difference from Single on the same queries."""
    methods = present(set(measures.column("method").to_pylist()))
    values = np.stack([query_values(measures, methods, name)[1] for name in MEASURES], axis=2)
    apart = values - values[:, [methods.index("single")]]
    flat = (len(values), len(methods) * len(MEASURES))
    low, high = (part.reshape(len(methods), -1) for part in column_intervals(values.reshape(flat), **interval))
    under, over = (part.reshape(len(methods), -1) for part in column_intervals(apart.reshape(flat), **interval))
    rows = []
    for i, method in enumerate(methods):
        for j, name in enumerate(MEASURES):
            row = {"method": method, "measure": name, "queries": len(values), "mean": values[:, i, j].mean()}
            row |= {"low": low[i, j], "high": high[i, j], "difference": apart[:, i, j].mean()}
            rows.append(row | {"difference_low": under[i, j], "difference_high": over[i, j]})
    return pa.Table.from_pylist(rows)


def draw(inputs: Inputs, shown: Shown) -> tuple[Any, pa.Table]:
    """Draw the methods of the paper, the controls, and the differences from Single."""
    table = numbers(inputs.table("measures", "measures"), shown.interval)
    rows = {(row["method"], row["measure"]): row for row in table.to_pylist()}
    others = controls(table.column("method").to_pylist())
    figure: Any
    figure, whole = new_figure(height=8.6)
    whole.remove()
    # Parts of their own, so that the long labels of one do not narrow the others.
    first, second, third = figure.subfigures(3, 1, height_ratios=[3, 3.1, 2.5])
    _draw_methods(first, rows, PAPER, f"{shown.title}: the methods of the paper")
    _draw_methods(second, rows, ["single", *others], "controls")
    _draw_differences(third.subplots(), rows, [*(m for m in PAPER if m != "single"), *others], shown.interval["level"])
    return figure, table


def _draw_methods(part: Any, rows: Mapping[Any, Any], methods: Sequence[str], title: str) -> None:
    axes = part.subplots()
    place = np.array([*range(1, 11), 11.6])
    for i, method in enumerate(methods):
        mean, low, high = _column(rows, method, "mean"), _column(rows, method, "low"), _column(rows, method, "high")
        shifted = place + (i - (len(methods) - 1) / 2) * 0.13
        bars = np.stack([mean - low, high - mean]).clip(0)
        axes.errorbar(shifted, mean, bars, linestyle="none", elinewidth=0.8, **BY_NAME[method].marked)
    axes.set_xticks(place, LABELS)
    part.legend(ncols=3 if len(methods) > len(PAPER) else len(PAPER), loc="outside lower center", fontsize="small")
    label_axes(axes, "NDCG, and mean of NDCG@1 to @10", "NDCG (eq. 4)", title)


def _column(rows: Mapping[Any, Any], method: str, key: str) -> FloatArray:
    return np.array([rows[method, name][key] for name in MEASURES])


def _draw_differences(axes: Any, rows: Mapping[Any, Any], methods: Sequence[str], level: float) -> None:
    place = -np.arange(len(methods))
    for y, method in zip(place, methods, strict=True):
        row, look = rows[method, "mean_ndcg/geng"], BY_NAME[method]
        axes.hlines(y, row["difference_low"], row["difference_high"], color=look.colour)
        axes.plot(row["difference"], y, color=look.colour, marker=look.marker)
    axes.axvline(0, color="black", linewidth=0.8)
    axes.set_yticks(place, [BY_NAME[method].label for method in methods])
    axes.locator_params(axis="x", nbins=6)  # with more, labels of three digits touch
    axes.xaxis.label.set_fontsize("small")
    label_axes(axes, f"difference from Single in mean NDCG, {level:.0%} interval (paired)", "")

"""Figures 1 and 2 of Hoi and Jin 2008: MAP, and precision at ranks 1 to 10, of all methods under both rules for ties."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from qdrank.evaluation.pairs import fit_values
from qdrank.evaluation.refits import column_ends
from qdrank.figures.palette import BLUE, SKY
from qdrank.figures.style import label_axes, new_figure
from qdrank.rankers.stages import FIRST_STAGES
from qdrank.studies.hoi2008.methods import BY_NAME, PAPER, STACKED_METHODS, TIES, with_ties
from qdrank.studies.making import Inputs, Shown
from qdrank.studies.method_tables import measured_methods

#: The paper's seven methods, then SER and SSER with ties in file order, ensembles of methods, and first stages.
STACKED_NAMES = tuple(method.name for method in STACKED_METHODS)
_SHOWN = (*PAPER, "ser-file", "sser-file", *STACKED_NAMES, *FIRST_STAGES)
RANKS = range(1, 11)
PRECISION = tuple(f"p@{k}/letor4" for k in RANKS)


def numbers(measures: pa.Table, names: Sequence[str], interval: Mapping[str, Any]) -> pa.Table:
    """Mean and interval of every method and measure, and of its difference from SER on the same queries."""
    methods = measured_methods(measures, _SHOWN)
    rows = []
    for name in names:
        values = fit_values(measures, methods, name)[1]
        apart = values - values[:, :, [methods.index("ser")]]
        (low, high), (under, over) = column_ends(values, **interval), column_ends(apart, **interval)
        for i, method in enumerate(methods):
            row = {"method": method, "measure": name, "queries": len(values), "mean": float(values[:, :, i].mean())}
            row |= {"low": low[i], "high": high[i], "difference": float(apart[:, :, i].mean())}
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
    label_axes(panels[0], f"MAP, {level} interval", "")
    figure.suptitle(f"{shown.title}: MAP of all methods", fontsize="medium")
    label_axes(panels[1], f"difference from SER (paired), {level}", "")
    return figure, table


def gains(measures: pa.Table, interval: Mapping[str, Any]) -> pa.Table:
    """SSER minus every other method in precision at ranks 1 and 2, the claim of the paper, under both rules for ties."""
    rows = []
    for ties in TIES:
        sser = with_ties("sser", ties)
        others = measured_methods(measures, [*PAPER[:-2], with_ties("ser", ties)])
        for name in PRECISION[:2]:
            values = fit_values(measures, [sser, *others], name)[1]
            apart = values[:, :, :1] - values[:, :, 1:]
            low, high = column_ends(apart, **interval)
            for i, other in enumerate(others):
                row = {"method": sser, "against": other, "measure": name, "queries": len(values)}
                rows.append(row | {"difference": float(apart[:, :, i].mean()), "low": low[i], "high": high[i]})
    return pa.Table.from_pylist(rows)


def draw_precision(inputs: Inputs, shown: Shown) -> tuple[Any, pa.Table]:
    """Precision at ranks 1 to 10, and SSER minus every other method at ranks 1 and 2."""
    measures = inputs.table("measures", "measures")
    table, apart = numbers(measures, PRECISION, shown.interval), gains(measures, shown.interval)
    figure, (left, right) = new_figure(1, 2, height=4.4, width_ratios=[3, 2])
    for method in (name for name in _SHOWN if name not in STACKED_NAMES):
        rows = [row for row in table.to_pylist() if row["method"] == method]
        dashed = {"linestyle": "--"} if method.endswith("-file") else {}
        if rows:
            left.plot(RANKS, [row["mean"] for row in rows], **BY_NAME[method].marked, **dashed)
    left.set_xticks(RANKS)
    label_axes(left, "rank k", "precision at k")
    figure.suptitle(f"{shown.title}: precision at ranks 1 to 10", fontsize="medium")
    _draw_gains(right, apart.to_pylist(), shown.interval["level"])
    figure.legend(*left.get_legend_handles_labels(), ncols=4, loc="outside lower center", fontsize="small")
    return figure, pa.concat_tables([table, apart], promote_options="default")


def _draw_gains(axes: Any, rows: list[dict[str, Any]], level: float) -> None:
    """One row for each other method, with SSER's gain at ranks 1 (filled) and 2 (open) under both rules for ties."""
    others = list(dict.fromkeys(row["against"].removesuffix("-file") for row in rows))
    for row in rows:
        second, file = row["measure"].startswith("p@2"), row["method"].endswith("-file")
        y = -others.index(row["against"].removesuffix("-file")) + 0.27 - 0.18 * (2 * file + second)
        colour = SKY if file else BLUE
        axes.hlines(y, row["low"], row["high"], color=colour, linewidth=1)
        axes.plot(row["difference"], y, "o", color=colour, markerfacecolor="white" if second else colour, markersize=4)
    axes.axvline(0, color="black", linewidth=0.8)
    axes.set_yticks([-i for i in range(len(others))], [BY_NAME[name].label for name in others])
    axes.locator_params(axis="x", nbins=4)  # with more bins, labels of three digits touch
    label_axes(axes, f"SSER minus the other, {level:.0%}", "", "ranks 1 (filled) and 2 (open)")

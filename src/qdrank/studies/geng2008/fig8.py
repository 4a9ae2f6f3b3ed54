"""Figure 8 of Geng 2008: NDCG@5 and NDCG@10 against the number of neighbours."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from qdrank.evaluation.intervals import column_intervals
from qdrank.figures.palette import BLACK
from qdrank.figures.style import error_bars, label_axes, new_figure
from qdrank.studies.geng2008.curves import Curve, curve
from qdrank.studies.geng2008.methods import BY_NAME, KNN
from qdrank.studies.geng2008.shapes import SWEEP_SHAPE
from qdrank.studies.making import Inputs, Shown

_MEASURES = ("ndcg@5/geng", "ndcg@10/geng")


def numbers(sweep: pa.Table, lam: float, interval: Mapping[str, Any]) -> pa.Table:
    """Mean for every measure, method and k, and interval of the difference from Single (k = m) on the same queries."""
    present = set(sweep.column("method").to_pylist())
    methods = [method for method in (*KNN, "knn-random") if method in present]
    rows = []
    for name in _MEASURES:
        single = curve(sweep, "single", name, lam=lam)
        low, high = column_intervals(single.values, **interval)
        rows += _rows(name, "single", single, single.values.mean(axis=0), low, high)
        for method in methods:
            swept = curve(sweep, method, name, lam=lam)
            mean, apart = swept.values.mean(axis=0), swept.values - single.values[:, -1:]
            under, over = column_intervals(apart, **interval)
            rows += _rows(name, method, swept, mean, single.values.mean() + under, single.values.mean() + over)
    return pa.Table.from_pylist(rows)


def _rows(name: str, method: str, of: Curve, mean: Any, low: Any, high: Any) -> list[dict[str, Any]]:
    columns = (of.k, of.share, mean, low, high)
    return [
        {"measure": name, "method": method, "k": k, "share": share, "mean": m, "low": a, "high": b}
        for k, share, m, a, b in zip(*(column.tolist() for column in columns), strict=True)
    ]


def draw(inputs: Inputs, shown: Shown) -> tuple[Any, pa.Table]:
    """Draw both panels; an error bar is the interval of the method's difference from Single, around the method's value."""
    lam = shown.options["lam"]
    table = numbers(inputs.table("sweeps", SWEEP_SHAPE), lam, shown.interval)
    figure, panels = new_figure(1, 2, height=3.8)
    for axes, name in zip(panels, _MEASURES, strict=True):
        rows = [row for row in table.to_pylist() if row["measure"] == name]
        label_axes(axes, _k(shown), f"{name.partition('/')[0].upper()} (eq. 4 of the paper)")
        _draw_panel(axes, rows)
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, ncols=3, loc="outside lower center")
    bars = f"{shown.interval['level']:.0%} intervals of the difference from Single"
    figure.suptitle(f"{shown.title}: number of neighbours, λ = {lam:g}\n{bars}", fontsize="medium")
    return figure, table


def _k(shown: Shown) -> str:
    """Label of k. Folds differ a little in size, so one share of the training queries may be several k."""
    return "neighbours k" if len(shown.folds) == 1 else f"neighbours k (mean of {len(shown.folds)} folds)"


def _draw_panel(axes: Any, rows: list[dict[str, Any]]) -> None:
    single = next(row for row in rows if row["method"] == "single")
    axes.axhline(single["mean"], color=BLACK, linestyle="--", label=f"Single (k = m = {single['k']:.0f})")
    methods = list(dict.fromkeys(row["method"] for row in rows if row["method"] != "single"))
    for i, method in enumerate(methods):
        of_method = [row for row in rows if row["method"] == method]
        k, mean, low, high = (np.array([row[key] for row in of_method]) for key in ("k", "mean", "low", "high"))
        # Side by side, so that the bars of different methods do not hide each other.
        beside = k * 1.035 ** (i - (len(methods) - 1) / 2)
        line = ":" if method == "knn-random" else "-"
        bars = error_bars(mean, low, high)
        axes.errorbar(beside, mean, bars, linestyle=line, elinewidth=0.8, **BY_NAME[method].marked)
    _mark_neighbours(axes, sorted({row["k"] for row in rows}))


def _mark_neighbours(axes: Any, ks: list[float]) -> None:
    """Use a logarithmic axis, since most k are small, and mark as many k as there is room for."""
    axes.set_xscale("log")
    kept = [ks[-1]]
    for k in reversed(ks):
        if k < kept[-1] / 1.7:
            kept.append(k)
    axes.set_xticks(kept, [f"{k:.0f}" for k in kept])
    axes.set_xticks([], minor=True)

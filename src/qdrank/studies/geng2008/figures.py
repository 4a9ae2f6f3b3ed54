"""Figures 7 to 9 of Geng 2008: methods, numbers of neighbours, and change ratios.

Figure 7 is NDCG@1 to @10 and mean; controls and differences, not in the paper, have separate figures. Figure 8 is NDCG@5 and
NDCG@10 against the number of neighbours, Figure 9 the change ratio between the training sets of KNN Online and the offline methods.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from qdrank.evaluation.intervals import column_intervals
from qdrank.evaluation.pairs import fit_values
from qdrank.evaluation.refits import column_ends
from qdrank.figures.palette import BLACK
from qdrank.figures.style import error_bars, label_axes, new_figure
from qdrank.layout import FloatArray
from qdrank.studies.geng2008.curves import Curve, curve
from qdrank.studies.geng2008.methods import BY_NAME, KNN, OFFLINE, PAPER, controls
from qdrank.studies.geng2008.shapes import SWEEP_SHAPE
from qdrank.studies.making import Inputs, Shown
from qdrank.studies.method_tables import measured_methods

DRAWN_MEASURES = (*(f"ndcg@{k}/geng" for k in range(1, 11)), "mean_ndcg/geng")
LABELS = [*(f"@{k}" for k in range(1, 11)), "mean"]


def method_numbers(measures: pa.Table, interval: Mapping[str, Any]) -> pa.Table:
    """Mean and interval of every method and measure, and of its difference from Single on the same queries."""
    methods = measured_methods(measures, BY_NAME)
    values = np.stack([fit_values(measures, methods, name)[1] for name in DRAWN_MEASURES], axis=3)
    apart = values - values[:, :, [methods.index("single")]]
    flat = (*values.shape[:2], len(methods) * len(DRAWN_MEASURES))
    low, high = (end.reshape(len(methods), -1) for end in column_ends(values.reshape(flat), **interval))
    under, over = (end.reshape(len(methods), -1) for end in column_ends(apart.reshape(flat), **interval))
    rows = []
    for i, method in enumerate(methods):
        for j, name in enumerate(DRAWN_MEASURES):
            row = {"method": method, "measure": name, "queries": len(values), "mean": values[:, :, i, j].mean()}
            row |= {"low": low[i, j], "high": high[i, j], "difference": apart[:, :, i, j].mean()}
            rows.append(row | {"difference_low": under[i, j], "difference_high": over[i, j]})
    return pa.Table.from_pylist(rows)


def _asked(inputs: Inputs, shown: Shown) -> tuple[pa.Table, dict[tuple[str, str], Any]]:
    """All method_numbers, and their rows by method and measure."""
    table = method_numbers(inputs.table("measures", "measures"), shown.interval)
    return table, {(row["method"], row["measure"]): row for row in table.to_pylist()}


def _only(table: pa.Table, column: str, wanted: Sequence[str]) -> pa.Table:
    return table.filter(pc.is_in(table.column(column), pa.array(wanted)))


def draw_methods(inputs: Inputs, shown: Shown) -> tuple[Any, pa.Table]:
    """Draw the methods of the paper."""
    table, rows = _asked(inputs, shown)
    return _draw_methods(rows, PAPER, "the methods of the paper", shown), _only(table, "method", PAPER)


def draw_controls(inputs: Inputs, shown: Shown) -> tuple[Any, pa.Table]:
    """Draw the controls and baselines that the paper lacks, beside Single."""
    table, rows = _asked(inputs, shown)
    methods = ["single", *controls(table.column("method").to_pylist())]
    return _draw_methods(rows, methods, "controls and baselines", shown), _only(table, "method", methods)


def draw_differences(inputs: Inputs, shown: Shown) -> tuple[Any, pa.Table]:
    """Draw the paired difference of every method from Single in mean NDCG."""
    table, rows = _asked(inputs, shown)
    methods = [m for m in (*PAPER, *controls(table.column("method").to_pylist())) if m != "single"]
    figure, axes = new_figure(height=1.0 + 0.26 * len(methods))
    _draw_differences(axes, rows, methods, shown)
    return figure, _only(_only(table, "method", methods), "measure", [DRAWN_MEASURES[-1]])


def _draw_methods(rows: Mapping[Any, Any], methods: Sequence[str], which: str, shown: Shown) -> Any:
    many = len(methods) > len(PAPER)
    figure, axes = new_figure(height=3.7 if many else 3.2)
    place = np.array([*range(1, 11), 11.6])
    for i, method in enumerate(methods):
        mean, low, high = _column(rows, method, "mean"), _column(rows, method, "low"), _column(rows, method, "high")
        shifted = place + (i - (len(methods) - 1) / 2) * 0.13
        bars = error_bars(mean, low, high)
        axes.errorbar(shifted, mean, bars, linestyle="none", elinewidth=0.8, **BY_NAME[method].marked)
    axes.set_xticks(place, LABELS)
    axes.set_xlim(0.3, 12.3)
    figure.legend(ncols=3 if many else len(PAPER), loc="outside lower center", fontsize="small")
    title = f"{shown.title}: {which}, {shown.interval['level']:.0%} intervals"
    label_axes(axes, "rank of the cut, and mean of NDCG@1 to @10", "NDCG (eq. 4 of the paper)", title)
    return figure


def _column(rows: Mapping[Any, Any], method: str, key: str) -> FloatArray:
    return np.array([rows[method, name][key] for name in DRAWN_MEASURES])


def _draw_differences(axes: Any, rows: Mapping[Any, Any], methods: Sequence[str], shown: Shown) -> None:
    place = -np.arange(len(methods))
    for y, method in zip(place, methods, strict=True):
        row, look = rows[method, "mean_ndcg/geng"], BY_NAME[method]
        axes.hlines(y, row["difference_low"], row["difference_high"], color=look.colour)
        axes.plot(row["difference"], y, color=look.colour, marker=look.marker)
    axes.axvline(0, color="black", linewidth=0.8)
    axes.set_yticks(place, [BY_NAME[method].label for method in methods])
    axes.locator_params(axis="x", nbins=6)  # with more, labels of three digits touch
    axes.xaxis.label.set_fontsize("small")
    label_axes(
        axes,
        f"mean NDCG minus that of Single on the same queries, {shown.interval['level']:.0%} interval",
        "",
        f"{shown.title}: differences from Single",
    )


_MEASURES = ("ndcg@5/geng", "ndcg@10/geng")


def neighbour_numbers(sweep: pa.Table, lam: float, interval: Mapping[str, Any]) -> pa.Table:
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


def draw_neighbours(inputs: Inputs, shown: Shown) -> tuple[Any, pa.Table]:
    """Draw both panels; an error bar is the interval of the method's difference from Single, around the method's value."""
    lam = shown.options["lam"]
    table = neighbour_numbers(inputs.table("sweeps", SWEEP_SHAPE), lam, shown.interval)
    figure, panels = new_figure(1, 2, height=3.8)
    for axes, name in zip(panels, _MEASURES, strict=True):
        rows = [row for row in table.to_pylist() if row["measure"] == name]
        label_axes(axes, _k(shown), f"{name.partition('/')[0].upper()} (eq. 4 of the paper)")
        _draw_neighbour_panel(axes, rows)
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, ncols=3, loc="outside lower center")
    bars = f"{shown.interval['level']:.0%} intervals of the difference from Single"
    figure.suptitle(f"{shown.title}: number of neighbours, λ = {lam:g}\n{bars}", fontsize="medium")
    return figure, table


def _k(shown: Shown) -> str:
    """Label of k. Folds differ a little in size, so one share of the training queries may be several k."""
    return "neighbours k" if len(shown.folds) == 1 else f"neighbours k (mean of {len(shown.folds)} folds)"


def _draw_neighbour_panel(axes: Any, rows: list[dict[str, Any]]) -> None:
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


def ratio_numbers(sweep: pa.Table, lam: float, interval: Mapping[str, Any]) -> pa.Table:
    """Mean, median and interval of the change ratio for both methods and every k; ``empty`` counts infinite ones."""
    rows: list[dict[str, Any]] = []
    for method in OFFLINE:
        swept = curve(sweep, method, "gamma", lam=lam)
        for k, share, gamma in zip(swept.k.tolist(), swept.share.tolist(), swept.values.T, strict=True):
            finite = gamma[np.isfinite(gamma)]
            low, high = column_intervals(finite[:, None], **interval)
            row = {"method": method, "k": k, "share": share, "mean": finite.mean(), "median": np.median(gamma)}
            rows.append(row | {"low": low[0], "high": high[0], "empty": int((~np.isfinite(gamma)).sum())})
    return pa.Table.from_pylist(rows)


def draw_ratios(inputs: Inputs, shown: Shown) -> tuple[Any, pa.Table]:
    """Draw the mean change ratio of both offline methods against k."""
    lam = shown.options["lam"]
    table = ratio_numbers(inputs.table("sweeps", SWEEP_SHAPE), lam, shown.interval)
    figure, axes = new_figure(height=3.2)
    for method in OFFLINE:
        rows = [row for row in table.to_pylist() if row["method"] == method]
        k, mean, low, high = (np.array([row[key] for row in rows]) for key in ("k", "mean", "low", "high"))
        bars = error_bars(mean, low, high)
        axes.errorbar(k, mean, bars, elinewidth=0.8, **BY_NAME[method].marked)
    axes.set_ylim(bottom=0)
    axes.legend()
    title = f"{shown.title}: change ratio of the training sets, λ = {lam:g}, {shown.interval['level']:.0%} intervals"
    k_of = "neighbours k" if len(shown.folds) == 1 else f"neighbours k, mean of {len(shown.folds)} folds"
    label_axes(axes, k_of, "change ratio γ, mean over test queries", title)
    return figure, table

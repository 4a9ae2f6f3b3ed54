"""Figures 1 to 3 of Hoi and Jin 2008, the learning curve and the weights of the rankers.

Figures 1 and 2 are MAP, and precision at ranks 1 to 10, of all methods under both rules for ties; Figure 3 is MAP against gamma,
with the interval of the difference from SER (gamma = 0). Not in the paper: MAP against the number of training queries with
the gain of SSER over SER at each, and which rankers get weight: SER's in every fold, SSER's over the test queries.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from qdrank.evaluation.intervals import column_intervals
from qdrank.evaluation.pairs import fit_values
from qdrank.evaluation.refits import column_ends
from qdrank.figures.palette import BLUE, GREY, VERMILION
from qdrank.figures.style import error_bars, label_axes, new_figure
from qdrank.rankers.stages import FIRST_STAGES
from qdrank.store.lists import list_matrix
from qdrank.studies.hoi2008.curves import Curve, method_curve
from qdrank.studies.hoi2008.methods import BY_NAME, GAMMA, ON_CURVE, PAPER, STACKED_METHODS, TIES, with_ties
from qdrank.studies.hoi2008.shapes import ENSEMBLES_SHAPE
from qdrank.studies.making import Inputs, Shown
from qdrank.studies.method_tables import measured_methods

#: The paper's seven methods, then SER and SSER with ties in file order, ensembles of methods, and first stages.
STACKED_NAMES = tuple(method.name for method in STACKED_METHODS)
_SHOWN = (*PAPER, "ser-file", "sser-file", *STACKED_NAMES, *FIRST_STAGES)
RANKS = range(1, 11)
PRECISION = tuple(f"p@{k}/letor4" for k in RANKS)


def method_numbers(measures: pa.Table, names: Sequence[str], interval: Mapping[str, Any]) -> pa.Table:
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


def draw_methods(inputs: Inputs, shown: Shown) -> tuple[Any, pa.Table]:
    """MAP with intervals, and the paired differences from SER."""
    table = method_numbers(inputs.table("measures", "measures"), ["ap"], shown.interval)
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
    table, apart = method_numbers(measures, PRECISION, shown.interval), gains(measures, shown.interval)
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
        colour = GREY if file else BLUE
        axes.hlines(y, row["low"], row["high"], color=colour, linewidth=1)
        axes.plot(row["difference"], y, "o", color=colour, markerfacecolor="white" if second else colour, markersize=4)
    axes.axvline(0, color="black", linewidth=0.8)
    axes.set_yticks([-i for i in range(len(others))], [BY_NAME[name].label for name in others])
    axes.locator_params(axis="x", nbins=4)  # with more bins, labels of three digits touch
    words = "ranks 1 (filled) and 2 (open);\ngrey: ties in file order"
    label_axes(axes, f"SSER minus the other, {level:.0%}", "", words)


#: Curves of each panel: SSER, with C, theta and delta tuned, and without constant rankers.
GAMMA_METHODS = ("sser", "sser-tuned", "sser-varying")
#: Dashes for curves that may coincide with SSER's.
DASHES = {"sser-tuned": "--", "sser-varying": ":"}
_TIES_TITLES = {"half": "tied pairs count 1/2", "file": "ties in file order"}


def gamma_numbers(values: pa.Table, interval: Mapping[str, Any]) -> pa.Table:
    """MAP of the test queries for every method and gamma, and its difference from gamma = 0 with its interval."""
    rows = []
    for ties in TIES:
        for method in GAMMA_METHODS:
            curve = method_curve(values, with_ties(method, ties))
            apart = curve.values - curve.values[:, :1]
            low, high = column_intervals(apart, **interval)
            for i, gamma in enumerate(curve.x.tolist()):
                row = {"ties": ties, "method": method, "gamma": gamma, "queries": len(curve.values)}
                row |= {"mean": float(curve.values[:, i].mean()), "difference": float(apart[:, i].mean())}
                rows.append(row | {"difference_low": low[i], "difference_high": high[i]})
    return pa.Table.from_pylist(rows)


def draw_gammas(inputs: Inputs, shown: Shown) -> tuple[Any, pa.Table]:
    """One panel per rule for ties; a band is the interval of the difference from SER, laid around SER's value."""
    table = gamma_numbers(inputs.table("values", "values"), shown.interval)
    figure, panels = new_figure(1, 2, height=3.5, sharey=True)
    for axes, ties in zip(panels, TIES, strict=True):
        rows = [row for row in table.to_pylist() if row["ties"] == ties]
        _draw_gamma_panel(axes, rows, GAMMA)
        label_axes(axes, "gamma", "MAP" if ties == "half" else "", _TIES_TITLES[ties])
    figure.legend(*panels[0].get_legend_handles_labels(), ncols=2, loc="outside lower center", fontsize="small")
    figure.suptitle(f"{shown.title}: weight gamma of the query's own documents", fontsize="medium")
    return figure, table


def _draw_gamma_panel(axes: Any, rows: list[dict[str, Any]], fixed: float) -> None:
    gammas = sorted({row["gamma"] for row in rows})
    places = np.arange(len(gammas))  # evenly spaced, since gamma runs from 0 through 0.01 to 5
    for method in GAMMA_METHODS:
        of_method = [row for row in rows if row["method"] == method]
        mean, low, high = (
            np.array([row[key] for row in of_method]) for key in ("mean", "difference_low", "difference_high")
        )
        look = BY_NAME[method]
        if method != "sser":
            axes.plot(places, mean, color=look.colour, label=look.label, linestyle=DASHES[method], zorder=3)
        else:
            axes.plot(places, mean, **look.marked)
            axes.fill_between(places, mean[0] + low, mean[0] + high, color=look.colour, alpha=0.12, linewidth=0)
            axes.axhline(mean[0], color="black", linestyle="--", linewidth=0.8, label="SER (gamma = 0)")
    if fixed in gammas:
        axes.axvline(gammas.index(fixed), color="#999999", linewidth=0.8, linestyle=":")
    axes.set_xticks(places, [f"{gamma:g}" for gamma in gammas], rotation=45)


def size_numbers(table: pa.Table, interval: Mapping[str, Any]) -> pa.Table:
    """MAP of every method and size, over queries and repeats, and its difference from SER; size 0 means all queries."""
    curves = {method: method_curve(table, method) for method in ON_CURVE}
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


def draw_sizes(inputs: Inputs, shown: Shown) -> tuple[Any, pa.Table]:
    """MAP of the four methods, and their paired differences from SER."""
    table = size_numbers(inputs.table("curves", "values"), shown.interval)
    figure, panels = new_figure(1, 2, height=3.4)
    for method in ON_CURVE:
        rows = [row for row in table.to_pylist() if row["method"] == method]
        places, look = np.arange(len(rows)), BY_NAME[method]
        panels[0].plot(places, [row["mean"] for row in rows], **look.marked)
        if method != "ser":
            apart, low, high = (np.array([row[f"difference{end}"] for row in rows]) for end in ("", "_low", "_high"))
            bars = error_bars(apart, low, high)
            panels[1].errorbar(places + 0.08 * (ON_CURVE.index(method) - 2), apart, bars, elinewidth=0.8, **look.marked)
    panels[1].axhline(0, color="black", linewidth=0.8)
    labels = ["all" if row["size"] == 0 else str(row["size"]) for row in rows]
    for axes in panels:
        axes.set_xticks(places, labels)
    label_axes(panels[0], "training queries", "MAP")
    figure.suptitle(f"{shown.title}: number of training queries", fontsize="medium")
    label_axes(panels[1], "training queries", f"difference from SER, {shown.interval['level']:.0%} interval")
    figure.legend(*panels[0].get_legend_handles_labels(), ncols=4, loc="outside lower center", fontsize="small")
    return figure, table


def weight_numbers(tables: Sequence[pa.Table], folds: Sequence[str], names: Sequence[str], gamma: float) -> pa.Table:
    """Share of each ranker in the sum of weights: for SER by fold, for SSER with the fixed gamma over the test queries.

    ``queries`` is the number of programs, ``used`` the share of them in which the ranker has weight.
    """
    rows = []
    for ties in TIES:
        for fold, table in zip(folds, tables, strict=True):
            for method in ("ser", "sser"):
                W = _weights(table, with_ties(method, ties), gamma if method == "sser" else 0.0)
                share = W / np.maximum(W.sum(axis=1, keepdims=True), 1e-300)
                low, high = np.quantile(share, [0.05, 0.95], axis=0)
                for j, name in enumerate(names):
                    row: dict[str, Any] = {
                        "ties": ties,
                        "fold": fold,
                        "method": method,
                        "number": j + 1,
                        "ranker": name,
                        "queries": len(W),
                    }
                    row |= {"share": float(share[:, j].mean()), "low": low[j], "high": high[j]}
                    rows.append(row | {"used": float((W[:, j] > 0).mean())})
    return pa.Table.from_pylist(rows)


def _weights(table: pa.Table, method: str, gamma: float) -> Any:
    role = "train" if method.startswith("ser") else "test"
    columns = {name: table.column(name).to_numpy(zero_copy_only=False) for name in ("method", "role", "gamma")}
    rows = (columns["method"] == method) & (columns["role"] == role) & (columns["gamma"] == gamma)
    return list_matrix(table.column("weights"))[rows]


def draw_weights(inputs: Inputs, shown: Shown) -> tuple[Any, pa.Table]:
    """One panel per rule for ties: folds side by side, SSER as the 5 to 95 % range over the test queries."""
    names = inputs.table("columns", "columns").column("name").to_pylist()
    table = weight_numbers(inputs.tables("weights", ENSEMBLES_SHAPE), shown.folds, names, GAMMA)
    figure, panels = new_figure(2, 1, height=6.4, sharex=True)
    for axes, ties in zip(panels, TIES, strict=True):
        rows = [row for row in table.to_pylist() if row["ties"] == ties]
        _draw_weights_panel(axes, rows, shown.folds)
        label_axes(axes, "", "share of all weights", f"{shown.title}: weights of the rankers, {_TIES_TITLES[ties]}")
    panels[1].set_xticks(np.arange(len(names)), names, rotation=90, fontsize=7 if len(names) < 30 else 5)
    figure.legend(*panels[0].get_legend_handles_labels(), ncols=2, loc="outside upper center", fontsize="small")
    return figure, table


def _draw_weights_panel(axes: Any, rows: list[dict[str, Any]], folds: Sequence[str]) -> None:
    width = 0.7 / max(1, len(folds))
    for method, colour, shift in (("ser", VERMILION, -0.5), ("sser", BLUE, 0.5)):
        for i, fold in enumerate(folds):
            shown_rows = [row for row in rows if row["method"] == method and row["fold"] == fold]
            x = (
                np.array([row["number"] for row in shown_rows])
                - 1
                + (i - (len(folds) - 1) / 2) * width
                + shift * width / 3
            )
            label = (
                {"ser": "SER, one mark per fold", "sser": "SSER, test queries of a fold"}[method] if i == 0 else None
            )
            if method == "sser":
                axes.vlines(
                    x,
                    [row["low"] for row in shown_rows],
                    [row["high"] for row in shown_rows],
                    color=colour,
                    linewidth=1,
                    label=label,
                )
            mark = "o" if method == "ser" else "_"
            shown = {"label": label} if method == "ser" else {}
            axes.plot(x, [row["share"] for row in shown_rows], mark, color=colour, markersize=2.5, **shown)

"""Figures: the maps over the queries, the gain against how far a query was adjusted, and the objective."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from qdrank.evaluation.declared import Rules
from qdrank.evaluation.estimates import shown_mean
from qdrank.evaluation.values import cube
from qdrank.figures.numbers import where
from qdrank.figures.palette import BLACK, BLUE, COLOURS, GREY, MARKERS, VERMILION, Look
from qdrank.figures.pictures import legend, lines
from qdrank.figures.style import in_doubt, label_axes, new_figure
from qdrank.layout import FloatArray
from qdrank.studies.making import Inputs, Shown
from qdrank.studies.zha2006.methods import REGRESSORS, Cell
from qdrank.studies.zha2006.shapes import MAPS_SHAPE, OBJECTIVES_SHAPE
from qdrank.studies.zha2006.tables import deviation, in_cell

#: Most groups of equal size whose mean gains are drawn; fewer, but two at least, where each would have too few queries.
_BINS = 8
_OBJECTIVES = {
    ("l2", "alternation"): ("L2, alternation", BLUE, "o"),
    ("l2", "newton"): ("L2, with Newton steps", BLACK, "s"),
    ("l1", "alternation"): ("L1, alternation", VERMILION, "o"),
    ("l1", "newton"): ("L1, with Newton steps", GREY, "s"),
}


def _paper(shown: Shown) -> Cell:
    return shown.options["paper_alpha"], shown.options["paper_beta"]


# ---- zha-map -----------------------------------------------------------------------------------------------------


def draw_map(inputs: Inputs, shown: Shown) -> tuple[Any, pd.DataFrame]:
    """Sorted alpha and beta of the training queries for the penalties on each, and both at the paper's penalties."""
    maps, paper = where(inputs.frame("maps", MAPS_SHAPE), kind="grid", role="train"), _paper(shown)
    hs = maps["h"].unique()
    figure, axes = new_figure(len(hs), 3, height=2.5 * len(hs), squeeze=False)
    parts = []
    for row, h in zip(axes, hs, strict=True):
        of_h = where(maps, h=h)
        for place, name, other, fixed in zip(row, ("alpha", "beta"), ("beta", "alpha"), paper[::-1], strict=False):
            rows = _sorted(where(of_h, **{f"lam_{other}": fixed}), name)
            penalties = rows[f"lam_{name}"].unique()
            looks = {lam: Look("", f"{lam:g}", COLOURS[i], "") for i, lam in enumerate(penalties)}
            lines(place, rows, "x", looks, "y", by=f"lam_{name}")
            place.legend(title=f"lam_{name}", fontsize="x-small", title_fontsize="x-small")
            label_axes(place, "share of the training queries", name, REGRESSORS[h] if place is row[0] else "")
            parts.append(rows)
        at_paper = in_cell(of_h, paper).sort_values(["fold", "query_id"])
        _draw_pairs(row[2], at_paper)
        label_axes(row[2], "alpha", "beta", f"penalties {paper[0]:g}, {paper[1]:g}")
        parts.append(_panel(at_paper, "alpha and beta", at_paper["alpha"], at_paper["beta"]))
    figure.suptitle(f"{shown.title}: maps of the training queries", fontsize="medium")
    return figure, pd.concat(parts)


def _sorted(rows: pd.DataFrame, name: str) -> pd.DataFrame:
    """Curves of rising alpha or beta, one for each cell, over the share of the queries."""
    rows = rows.sort_values(["lam_alpha", "lam_beta", name])
    cells = rows.groupby(["lam_alpha", "lam_beta"])
    return _panel(rows, name, (cells.cumcount() + 0.5) / cells["h"].transform("size"), rows[name])


def _panel(rows: pd.DataFrame, name: str, x: Any, y: Any) -> pd.DataFrame:
    return rows[["h", "lam_alpha", "lam_beta"]].assign(panel=name, x=x, y=y)


def _draw_pairs(axes: Any, rows: pd.DataFrame) -> None:
    """Alpha against beta; queries whose documents all have one grade are drawn separately."""
    for text, varied, colour in (("several grades", True, BLUE), ("one grade", False, VERMILION)):
        of = where(rows, varied=varied)
        if len(of):
            axes.plot(of["alpha"], of["beta"], ".", color=colour, markersize=2, alpha=0.5, label=text)
    axes.plot(1, 0, "+", color=BLACK, markersize=8)
    axes.legend(fontsize="x-small", markerscale=3)


# ---- zha-gain ----------------------------------------------------------------------------------------------------


def draw_gain(inputs: Inputs, shown: Shown) -> tuple[Any, pd.DataFrame]:
    """Gain of each query against its deviation, and means of groups of equal size with intervals; means over fits."""
    maps = at_paper(inputs.frame("maps", MAPS_SHAPE), _paper(shown))
    hs = maps["h"].unique()
    figure, axes = new_figure(len(hs), 2, height=2.7 * len(hs), squeeze=False)
    parts = []
    for row, h in zip(axes, hs, strict=True):
        for place, role in zip(row, ("test", "train"), strict=True):
            key, gain = gains(where(maps, h=h, role=role))
            means = _bins(key, gain, shown)
            _draw_bins(place, key, gain, means)
            title = f"{REGRESSORS[h]}: {role} queries"
            label_axes(place, "deviation of the map, |α$^{0.1}$ − 1| + |β/10|", "gain, % of mean DCG@5", title)
            parts.append(pd.DataFrame({"h": h, "role": role, **means}))
    numbers = pd.concat(parts)
    head = f"{shown.title}: gain of aTVT, {shown.interval['level']:.0%} intervals of the means"
    figure.suptitle(head + in_doubt(numbers["lacks"]), fontsize="medium")
    return figure, numbers


def at_paper(maps: pd.DataFrame, cell: Cell) -> pd.DataFrame:
    """Maps with the penalties ``cell``: those of the grid, and of the test queries the further fits, each with its number ``fit``."""
    kinds = maps["kind"].str.extract(r"^(grid|fixed, fit (?P<fit>\d+))$")
    rows = in_cell(maps.assign(fit=kinds["fit"].fillna("0").astype(int))[kinds[0].notna()], cell)
    return rows[(rows["role"] == "test") | (rows["fit"] == 0)]


def gains(maps: pd.DataFrame) -> tuple[FloatArray, FloatArray]:
    """Deviation, (n_queries,), and gain in % of the mean without maps, (n_queries, n_fits), of each query.

    A query that is in the training queries of several folds is one query: its values are means over these folds.
    """
    key, gain = deviation(maps["alpha"].to_numpy(), maps["beta"].to_numpy()), maps["value"] - maps["plain"]
    rows = maps.assign(method="", key=key, gain=100 * gain / (where(maps, fit=0)["plain"].mean() or 1.0))
    means = rows.groupby(["method", "query_id", "fit"])[["key", "gain"]].mean().reset_index()
    keys, of = (cube(means, ["method"], name)[2][:, :, 0] for name in ("key", "gain"))
    return keys.mean(axis=1), of.round(12)


def _bins(key: FloatArray, gain: FloatArray, shown: Shown) -> pd.DataFrame:
    """Mean gains of groups of equal size, by rising deviation."""
    order = np.argsort(key, kind="stable")
    wanted = len(order) // Rules().needed(1 - shown.interval["level"])
    parts = np.array_split(order, min(max(wanted, 2), _BINS, len(order)))
    rows = [
        {"queries": len(part), "deviation": np.median(key[part]), **shown_mean(gain[part], **shown.interval)}
        for part in parts
    ]
    return pd.DataFrame(rows)


def _draw_bins(axes: Any, key: FloatArray, gain: FloatArray, means: pd.DataFrame) -> None:
    """A dot for each query, and means of groups; grey and open where they say nothing."""
    axes.plot(key, gain.mean(axis=1), ".", color=GREY, markersize=3, alpha=0.4)
    axes.plot(means["deviation"], means["mean"], color=GREY, linewidth=0.9)
    for row in means.to_dict("records"):
        colour = GREY if row["lacks"] else BLUE
        face = "white" if row["lacks"] else colour
        axes.vlines(row["deviation"], row["low"], row["high"], color=colour, linewidth=0.9)
        axes.plot(row["deviation"], row["mean"], MARKERS[0], color=colour, markerfacecolor=face)
    axes.axhline(0, color=BLACK, linewidth=0.8)
    # Single queries may gain or lose everything, so the axes fit the means.
    reach = 1.3 * max(float(np.nanmax(means[["mean", "low", "high"]].abs())), 1e-9)
    axes.set_ylim(-reach, reach)
    axes.set_xlim(0, float(np.percentile(key, 99)) * 1.05 or 1.0)


# ---- zha-objective -----------------------------------------------------------------------------------------------


def draw_objective(inputs: Inputs, shown: Shown) -> tuple[Any, pd.DataFrame]:
    """The objective after every half step relative to the plain regressor's, for the first fold."""
    table = inputs.frame("objectives", OBJECTIVES_SHAPE)
    hs = table["h"].unique()
    looks = {label: Look("", label, colour, marker) for label, colour, marker in _OBJECTIVES.values()}
    labels = [_OBJECTIVES[key][0] for key in zip(table["norm"], table["form"], strict=True)]
    first = table.groupby(["h", "norm", "form"])["value"].transform("first")
    rows = table.assign(label=labels, round=table["step"] / 2, share=table["value"] / first)
    figure, axes = new_figure(1, len(hs), height=2.9, squeeze=False)
    for place, h in zip(axes[0], hs, strict=True):
        lines(place, where(rows, h=h), "round", looks, "share", by="label")
        label_axes(place, "round (half steps: maps, then h)", "objective / plain regressor's", REGRESSORS[h])
    legend(figure)
    figure.suptitle(f"{shown.title}: the objective by half steps, first fold", fontsize="medium")
    return figure, table

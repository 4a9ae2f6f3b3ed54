"""Figures: the maps over the queries, the gain against how far a query was adjusted, and the objective."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from qdrank.evaluation.declared import Rules
from qdrank.evaluation.refits import shown_mean
from qdrank.figures.palette import BLACK, BLUE, COLOURS, GREY, MARKERS, VERMILION
from qdrank.figures.style import in_doubt, label_axes, new_figure
from qdrank.layout import FloatArray
from qdrank.studies.making import Inputs, Shown
from qdrank.studies.zha2006.methods import REGRESSORS
from qdrank.studies.zha2006.reading import chosen_rows, deviation, map_fits, regressors
from qdrank.studies.zha2006.shapes import MAPS_SHAPE, OBJECTIVES_SHAPE
from qdrank.studies.zha2006.tables import grid_cells

#: Most groups of equal size whose mean gains are drawn; fewer, but two at least, where each would have too few queries.
_BINS = 8
_BINS_SCHEMA = pa.schema(
    [("h", pa.string()), ("role", pa.string()), ("queries", pa.int64())]
    + [(name, pa.float64()) for name in ("deviation", "mean", "low", "high")]
    + [("lacks", pa.string())]
)


# ---- zha-map -----------------------------------------------------------------------------------------------------


def draw_map(inputs: Inputs, shown: Shown) -> tuple[Any, pa.Table]:
    """Sorted alpha and beta of the training queries for the penalties on each, and both at the paper's penalties."""
    maps = inputs.table("maps", MAPS_SHAPE)
    paper = shown.options["paper_alpha"], shown.options["paper_beta"]
    hs = regressors(maps)
    figure, axes = new_figure(len(hs), 3, height=2.5 * len(hs), squeeze=False)
    tables = []
    for row, h in zip(axes, hs, strict=True):
        for place, name, cells in (
            (0, "alpha", [cell for cell in grid_cells(maps, h) if cell[1] == paper[1]]),
            (1, "beta", [cell for cell in grid_cells(maps, h) if cell[0] == paper[0]]),
        ):
            for i, cell in enumerate(cells):
                values = np.sort(chosen_rows(maps, cell, h=h, kind="grid", role="train").column(name).to_numpy())
                share = (np.arange(len(values)) + 0.5) / len(values)
                row[place].plot(share, values, color=COLOURS[i], label=f"{cell[place]:g}")
                tables.append(_curve(h, name, cell, share, values))
            row[place].legend(title=f"lam_{name}", fontsize="x-small", title_fontsize="x-small")
            label_axes(
                row[place],
                "share of the training queries",
                name,
                REGRESSORS[h] if place == 0 else "",
            )
        tables.append(_draw_pairs(row[2], maps, h, paper))
    figure.suptitle(f"{shown.title}: maps of the training queries", fontsize="medium")
    return figure, pa.concat_tables(tables)


def _curve(h: str, what: str, cell: tuple[float, float], x: Any, y: Any) -> pa.Table:
    n = len(x)
    texts = {name: pa.array([text] * n, pa.string()) for name, text in (("h", h), ("panel", what))}
    return pa.table(texts | {"lam_alpha": np.full(n, cell[0]), "lam_beta": np.full(n, cell[1]), "x": x, "y": y})


def _draw_pairs(axes: Any, maps: pa.Table, h: str, paper: tuple[float, float]) -> pa.Table:
    """Alpha against beta; queries whose documents all have one grade are drawn separately."""
    rows = chosen_rows(maps, paper, h=h, kind="grid", role="train")
    alpha, beta = rows.column("alpha").to_numpy(), rows.column("beta").to_numpy()
    varied = rows.column("varied").to_numpy(zero_copy_only=False).astype(bool)
    looks = (("several grades", varied, BLUE), ("one grade", ~varied, VERMILION))
    for text, mask, colour in looks:
        if mask.any():
            axes.plot(alpha[mask], beta[mask], ".", color=colour, markersize=2, alpha=0.5, label=text)
    axes.plot(1, 0, "+", color=BLACK, markersize=8)
    axes.legend(fontsize="x-small", markerscale=3)
    label_axes(axes, "alpha", "beta", f"penalties {paper[0]:g}, {paper[1]:g}")
    return _curve(h, "alpha and beta", paper, alpha, beta)


# ---- zha-gain ----------------------------------------------------------------------------------------------------


def draw_gain(inputs: Inputs, shown: Shown) -> tuple[Any, pa.Table]:
    """Gain of each query against its deviation, and means of groups of equal size with intervals; means over fits."""
    maps = inputs.table("maps", MAPS_SHAPE)
    paper = shown.options["paper_alpha"], shown.options["paper_beta"]
    hs = regressors(maps)
    figure, axes = new_figure(len(hs), 2, height=2.7 * len(hs), squeeze=False)
    tables = []
    for row, h in zip(axes, hs, strict=True):
        for place, role in zip(row, ("test", "train"), strict=True):
            key, gain = _gains(map_fits(maps, h, paper, role))
            tables.append(_draw_bins(place, key, gain, shown, {"h": h, "role": role}))
            title = f"{REGRESSORS[h]}: {role} queries"
            label_axes(place, "deviation of the map, |α$^{0.1}$ − 1| + |β/10|", "gain, % of mean DCG@5", title)
    numbers = pa.concat_tables(tables)
    head = f"{shown.title}: gain of aTVT, {shown.interval['level']:.0%} intervals of the means"
    figure.suptitle(head + in_doubt(numbers.column("lacks").to_pylist()), fontsize="medium")
    return figure, numbers


def _gains(fits: Sequence[pa.Table]) -> tuple[FloatArray, FloatArray]:
    """Deviation, (n_queries,), and gain in % of the mean without maps, (n_queries, n_fits), of each query.

    A query that is in the training queries of several folds is one query: its values are means over these folds.
    """
    query = np.unique(fits[0].column("query_id").to_numpy(zero_copy_only=False).astype(str), return_inverse=True)[1]
    folds = np.bincount(query)
    each = [{name: fit.column(name).to_numpy() for name in ("alpha", "beta", "value", "plain")} for fit in fits]
    base = float(each[0]["plain"].mean()) or 1.0
    keys = [np.bincount(query, deviation(fit["alpha"], fit["beta"])) / folds for fit in each]
    gains = [np.bincount(query, fit["value"] - fit["plain"]) / folds for fit in each]
    return np.mean(keys, axis=0), np.round(100 / base * np.stack(gains, axis=1), 12)


def _draw_bins(axes: Any, key: FloatArray, gain: FloatArray, shown: Shown, names: dict[str, str]) -> pa.Table:
    order = np.argsort(key, kind="stable")
    wanted = len(order) // Rules().needed(1 - shown.interval["level"])
    bins = np.array_split(order, min(max(wanted, 2), _BINS, len(order)))
    rows = [
        {
            **names,
            "queries": len(in_bin),
            "deviation": float(np.median(key[in_bin])),
            **shown_mean(gain[in_bin], **shown.interval),
        }
        for in_bin in bins
    ]
    axes.plot(key, gain.mean(axis=1), ".", color=GREY, markersize=3, alpha=0.4)
    axes.plot([row["deviation"] for row in rows], [row["mean"] for row in rows], color=GREY, linewidth=0.9)
    for row in rows:
        colour = GREY if row["lacks"] else BLUE
        if row["low"] is not None:
            axes.vlines(row["deviation"], row["low"], row["high"], color=colour, linewidth=0.9)
        face = "white" if row["lacks"] else colour
        axes.plot(row["deviation"], row["mean"], MARKERS[0], color=colour, markerfacecolor=face)
    axes.axhline(0, color=BLACK, linewidth=0.8)
    # Single queries may gain or lose everything, so the axes fit the means.
    ends = [abs(row[name]) for row in rows for name in ("mean", "low", "high") if row[name] is not None]
    reach = 1.3 * max(*ends, 1e-9)
    axes.set_ylim(-reach, reach)
    axes.set_xlim(0, float(np.percentile(key, 99)) * 1.05 or 1.0)
    return pa.Table.from_pylist(rows, _BINS_SCHEMA)


# ---- zha-objective -----------------------------------------------------------------------------------------------


def draw_objective(inputs: Inputs, shown: Shown) -> tuple[Any, pa.Table]:
    """The objective after every half step relative to the plain regressor's, for the first fold."""
    table = inputs.table("objectives", OBJECTIVES_SHAPE)
    hs = regressors(table)
    figure, axes = new_figure(1, len(hs), height=2.9, squeeze=False)
    for place, h in zip(axes[0], hs, strict=True):
        of_h = table.filter(pc.equal(table.column("h"), h))
        looks = {("l2", "alternation"): (BLUE, "o"), ("l2", "newton"): (BLACK, "s")}
        looks |= {("l1", "alternation"): (VERMILION, "o"), ("l1", "newton"): (GREY, "s")}
        for (norm, form), (colour, marker) in looks.items():
            rows = [row for row in of_h.to_pylist() if row["norm"] == norm and row["form"] == form]
            if rows:
                first = rows[0]["value"]
                text = f"{norm.upper()}, {'with Newton steps' if form == 'newton' else form}"
                place.plot(
                    [row["step"] / 2 for row in rows],
                    [row["value"] / first for row in rows],
                    color=colour,
                    marker=marker,
                    markersize=2.5,
                    label=text,
                )
        place.legend(fontsize="x-small")
        label_axes(
            place,
            "round (half steps: maps, then h)",
            "objective / plain regressor's",
            REGRESSORS[h],
        )
    figure.suptitle(f"{shown.title}: the objective by half steps, first fold", fontsize="medium")
    return figure, table

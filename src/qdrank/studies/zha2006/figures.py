"""Figures: the maps over the queries, the gain against how far a query was adjusted, and the objective."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from qdrank.evaluation.intervals import bootstrap_interval
from qdrank.figures.palette import BLACK, BLUE, COLOURS, GREY, MARKERS, VERMILION
from qdrank.figures.style import label_axes, new_figure
from qdrank.studies.making import Inputs, Shown
from qdrank.studies.zha2006.methods import REGRESSORS
from qdrank.studies.zha2006.reading import chosen_rows, deviation, regressors
from qdrank.studies.zha2006.shapes import MAPS_SHAPE, OBJECTIVES_SHAPE
from qdrank.studies.zha2006.tables import grid_cells

#: Number of equal-sized bins whose mean gains are drawn.
_BINS = 8


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
    """Gain of each query against its deviation, and means of groups of equal size with intervals."""
    maps = inputs.table("maps", MAPS_SHAPE)
    paper = shown.options["paper_alpha"], shown.options["paper_beta"]
    hs = regressors(maps)
    figure, axes = new_figure(len(hs), 2, height=2.6 * len(hs), squeeze=False)
    tables = []
    for row, h in zip(axes, hs, strict=True):
        for place, role in zip(row, ("test", "train"), strict=True):
            of_role = chosen_rows(maps, paper, h=h, kind="grid", role=role)
            key = deviation(of_role.column("alpha").to_numpy(), of_role.column("beta").to_numpy())
            gain = of_role.column("value").to_numpy() - of_role.column("plain").to_numpy()
            base = float(of_role.column("plain").to_numpy().mean()) or 1.0
            tables.append(_draw_bins(place, key, 100 * gain / base, shown, {"h": h, "role": role}))
            title = f"{REGRESSORS[h]}: {role} queries"
            label_axes(place, "deviation of the map, |α$^{0.1}$ − 1| + |β/10|", "gain, % of mean DCG@5", title)
    figure.suptitle(
        f"{shown.title}: gain of aTVT, {shown.interval['level']:.0%} intervals of the means", fontsize="medium"
    )
    return figure, pa.concat_tables(tables)


def _draw_bins(axes: Any, key: Any, gain: Any, shown: Shown, names: dict[str, str]) -> pa.Table:
    order = np.argsort(key, kind="stable")
    bins = np.array_split(order, max(1, min(_BINS, len(order) // 2)))
    rows = []
    for in_bin in bins:
        interval = bootstrap_interval(gain[in_bin], **shown.interval)
        row = {
            **names,
            "queries": len(in_bin),
            "deviation": float(np.median(key[in_bin])),
            "gain": float(gain[in_bin].mean()),
        }
        rows.append(row | {"low": interval.low, "high": interval.high})
    x, y = (np.array([row[name] for row in rows]) for name in ("deviation", "gain"))
    bars = np.abs(np.array([[row["low"], row["high"]] for row in rows]).T - y)
    axes.plot(key, gain, ".", color=GREY, markersize=3, alpha=0.6)
    axes.errorbar(x, y, bars, color=BLUE, marker=MARKERS[0], elinewidth=0.9, label="means of groups of equal size")
    axes.axhline(0, color=BLACK, linewidth=0.8)
    # Single queries may gain or lose everything, so the axes fit the means.
    reach = 1.3 * max(float(np.abs(np.array([[row["low"], row["high"]] for row in rows])).max()), 1e-9)
    axes.set_ylim(-reach, reach)
    axes.set_xlim(0, float(np.percentile(key, 99)) * 1.05 or 1.0)
    return pa.Table.from_pylist(rows)


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

"""Learning curves, and the gain of evidence against the recurrence of documents."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from qdrank.evaluation.intervals import column_intervals
from qdrank.figures.style import label_axes, new_figure, say_instead
from qdrank.layout import FloatArray
from qdrank.studies.beyond.curves import LEARNED
from qdrank.studies.beyond.methods import BY_NAME, MEASURE, SINGLE
from qdrank.studies.beyond.values import mean_by
from qdrank.studies.making import Inputs, Shown


def _ids(table: pa.Table) -> Any:
    return np.array(sorted(set(table.column("query_id").to_pylist())), dtype=object)


def curve_numbers(table: pa.Table, interval: Any) -> pa.Table:
    """MAP by method and number of training queries (0: all), and the paired difference from Single with its interval."""
    of = mean_by(table, ["method", "size"], _ids(table))
    sizes = sorted({float(size) for _, size in of}, key=lambda size: (size == 0, size))
    rows = []
    for method in LEARNED:
        kept = [_finite(of[method, size] - of[SINGLE, size]) for size in sizes]
        for size, apart in zip(sizes, kept, strict=True):
            low, high = column_intervals(apart[:, None], **interval)
            row = {"method": method, "size": int(size), MEASURE: float(np.nanmean(of[method, size]))}
            rows.append(row | {"difference": float(apart.mean()), "low": float(low[0]), "high": float(high[0])})
    return pa.Table.from_pylist(rows)


def _finite(values: FloatArray) -> FloatArray:
    return values[np.isfinite(values)]


def draw_learning(inputs: Inputs, shown: Shown) -> tuple[Any, pa.Table]:
    """MAP (left) and the difference from Single (right) against the number of training queries."""
    table = curve_numbers(inputs.table("curves", "figure"), shown.interval)
    figure, panels = new_figure(1, 2, height=3.4)
    for shift, method in enumerate(LEARNED):
        rows, look = [row for row in table.to_pylist() if row["method"] == method], BY_NAME[method]
        places = np.arange(len(rows))
        panels[0].plot(places, [row[MEASURE] for row in rows], **look.marked)
        if method != SINGLE:
            middle = np.array([row["difference"] for row in rows])
            bars = np.array([[row["difference"] - row["low"], row["high"] - row["difference"]] for row in rows]).T.clip(
                0
            )
            panels[1].errorbar(places + 0.07 * (shift - 2), middle, bars, elinewidth=0.8, **look.marked)
    panels[1].axhline(0, color="black", linewidth=0.8)
    for axes in panels:
        axes.set_xticks(places, ["all" if row["size"] == 0 else str(row["size"]) for row in rows])
    label_axes(panels[0], "training queries", "MAP")
    figure.suptitle(f"{shown.title}: number of training queries", fontsize="medium")
    label_axes(panels[1], "training queries", "difference from Single, MAP")
    figure.legend(*panels[0].get_legend_handles_labels(), ncols=2, loc="outside lower center", fontsize="small")
    return figure, table


def thinned_numbers(table: pa.Table, interval: Any) -> pa.Table:
    """Gain of Single with evidence over Single with no judgments to look up, by share of judgments kept."""
    of = mean_by(table, ["share"], _ids(table))
    shares = sorted(float(key[0]) for key in of)
    left = table.column("share").to_numpy(), table.column("recurrence").to_numpy()
    rows = []
    for share in shares:
        apart = _finite(of[(share,)] - of[(shares[0],)])
        low, high = column_intervals(apart[:, None], **interval)
        row = {"share": share, "recurrence": float(left[1][left[0] == share].mean()), "queries": len(apart)}
        rows.append(row | {"gain": float(apart.mean()), "low": float(low[0]), "high": float(high[0])})
    return pa.Table.from_pylist(rows)


def draw_recurrence(inputs: Inputs, shown: Shown) -> tuple[Any, pa.Table]:
    """The gain against the share of test rows whose document is relevant to a training query."""
    table = thinned_numbers(inputs.table("thinned", "figure"), shown.interval)
    rows, title = table.to_pylist(), f"{shown.title}: what neighbours' judgments add, by recurrence"
    if not any(row["recurrence"] for row in rows):
        return say_instead(title, "No document of a test query is relevant to a training query: nothing recurs."), table
    figure, axes = new_figure(height=3.2)
    x, y = (np.array([row[name] for row in rows]) for name in ("recurrence", "gain"))
    bars = np.array([[row["gain"] - row["low"], row["high"] - row["gain"]] for row in rows]).T.clip(0)
    look = BY_NAME["beyond-evidence"]
    axes.errorbar(100 * x, y, bars, elinewidth=1, color=look.colour, marker=look.marker)
    for row in rows:
        axes.annotate(
            f"{row['share']:.0%} kept",
            (100 * row["recurrence"], row["gain"]),
            (4, 4),
            textcoords="offset points",
            fontsize=7,
        )
    axes.margins(x=0.15)
    axes.axhline(0, color="black", linewidth=0.8)
    label_axes(axes, "test rows whose document is relevant to a training query, %", "gain of evidence, MAP")
    figure.suptitle(title, fontsize="medium")
    return figure, table

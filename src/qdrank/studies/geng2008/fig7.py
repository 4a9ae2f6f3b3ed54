"""Figure 7 of Geng 2008: NDCG@1 to @10 and mean. Controls and differences, not in the paper, have separate figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from qdrank.evaluation.pairs import fit_values
from qdrank.evaluation.refits import column_ends
from qdrank.figures.style import error_bars, label_axes, new_figure
from qdrank.layout import FloatArray
from qdrank.studies.geng2008.methods import BY_NAME, PAPER, controls
from qdrank.studies.making import Inputs, Shown
from qdrank.studies.method_tables import measured_methods

DRAWN_MEASURES = (*(f"ndcg@{k}/geng" for k in range(1, 11)), "mean_ndcg/geng")
LABELS = [*(f"@{k}" for k in range(1, 11)), "mean"]


def numbers(measures: pa.Table, interval: Mapping[str, Any]) -> pa.Table:
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
    """All numbers, and their rows by method and measure."""
    table = numbers(inputs.table("measures", "measures"), shown.interval)
    return table, {(row["method"], row["measure"]): row for row in table.to_pylist()}


def _only(table: pa.Table, column: str, wanted: Sequence[str]) -> pa.Table:
    return table.filter(pc.is_in(table.column(column), pa.array(wanted)))


def draw(inputs: Inputs, shown: Shown) -> tuple[Any, pa.Table]:
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

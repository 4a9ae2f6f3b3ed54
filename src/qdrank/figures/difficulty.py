"""The difficulty breakdown of any methods as a table to read and as a picture."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from qdrank.datasets.judged import load_judged
from qdrank.evaluation.difficulty import ALL, NONE, breakdown, difficulty
from qdrank.figures.palette import BLUE
from qdrank.figures.style import label_axes, new_figure, save_figure
from qdrank.figures.tables import write_table
from qdrank.measures.names import parse
from qdrank.store import read, write

_SURE = 0.05


def write_breakdown(
    files: Mapping[str, str],
    out: Mapping[str, str],
    *,
    title: str,
    classes: Mapping[str, Sequence[int | None]],
    measures: Sequence[str],
    against: Sequence[str],
    labels: Mapping[str, str],
    colours: Mapping[str, str],
    interval: Mapping[str, Any],
    formats: Sequence[str],
    dpi: int,
    log: Callable[..., None],
) -> None:
    """Write the table and the picture of the methods of a data set, compared with the first of ``against`` that was run."""
    measured = read(files["measures"], "measures")
    known = measured.column("method").to_pylist()
    baseline = next((method for method in against if method in known), known[0])
    log("against %s", baseline)
    known_classes = difficulty(load_judged(files["judged"], []), classes)
    table = breakdown(measured, known_classes, measures, baseline=baseline, interval=interval)
    forms = {form: path for form, path in out.items() if not form.startswith("figure_")}
    write_table(readable_breakdown(table, labels, baseline), forms, title=f"{title}: measures by difficulty")
    write(out["figure_parquet"], "figure", table)
    figure = draw(table, title=title, baseline=baseline, labels=labels, colours=colours, level=interval["level"])
    save_figure(figure, {form: out[f"figure_{form}"] for form in formats}, dpi=dpi)


def readable_breakdown(table: pa.Table, labels: Mapping[str, str], baseline: str) -> pa.Table:
    """The breakdown with labels for names: one row per measure, class and method."""
    base = labels.get(baseline, baseline)
    rows = []
    for row in table.to_pylist():
        shown: dict[str, Any] = {"measure": parse(row["measure"]).title, "class": row["class"]}
        shown |= {"relevant documents": row["relevant"], "queries": row["queries"], "share": row["share"]}
        shown |= {"method": labels.get(row["method"], row["method"]), "mean": row["mean"]}
        shown |= {f"difference from {base}": row["difference"], "low": row["difference_low"]}
        shown |= {"high": row["difference_high"], "p": row["p"], "p (Holm)": row["p_holm"]}
        rows.append(shown | {"note": row["lacks"]})
    return pa.Table.from_pylist(rows)


def draw(
    table: pa.Table,
    *,
    title: str,
    labels: Mapping[str, str],
    baseline: str,
    colours: Mapping[str, str] | None = None,
    level: float = 0.95,
) -> Any:
    """Draw one row of panels per measure, one panel per class: differences from the baseline with their intervals.

    Parameters
    ----------
    table : as from `qdrank.evaluation.difficulty.breakdown`
    labels, colours : of the methods; a method that has no colour is drawn in blue
    """
    rows = [row for row in table.to_pylist() if row["class"] not in (ALL, NONE) and row["method"] != baseline]
    measures = list(dict.fromkeys(row["measure"] for row in rows)) or ["ap"]
    classes = list(dict.fromkeys(row["class"] for row in rows)) or [ALL]
    methods = list(dict.fromkeys(row["method"] for row in rows))
    height = 0.9 + len(measures) * (0.9 + 0.17 * max(len(methods), 2))
    figure, panels = new_figure(len(measures), len(classes), height=height, squeeze=False, sharey=True)
    for line, measure in zip(panels, measures, strict=True):
        for axes, name in zip(line, classes, strict=True):
            of_class = [row for row in rows if row["measure"] == measure and row["class"] == name]
            _draw_panel(axes, of_class, methods, colours or {}, parse(measure).title)
        line[0].set_ylim(0.3 - max(len(methods), 2), 0.7)
        line[0].set_yticks(
            -np.arange(len(methods)), [labels.get(method, method) for method in methods], fontsize="x-small"
        )
    base = labels.get(baseline, baseline)
    figure.suptitle(f"{title}: difference from {base} by difficulty, {level:.0%} intervals", fontsize="medium")
    figure.draw_without_rendering()  # long labels need a second round of the layout
    return figure


def _draw_panel(
    axes: Any, rows: Sequence[Mapping[str, Any]], methods: Sequence[str], colours: Mapping[str, str], title: str
) -> None:
    axes.axvline(0, color="black", linewidth=0.8)
    for row in rows:
        y, colour = -methods.index(row["method"]), colours.get(row["method"], BLUE)
        sure = row["p_holm"] is not None and row["p_holm"] < _SURE
        if row["difference_low"] is not None:
            axes.hlines(y, row["difference_low"], row["difference_high"], color=colour)
        axes.plot(row["difference"], y, color=colour, marker="o", markerfacecolor=colour if sure else "white")
    axes.locator_params(axis="x", nbins=3)
    axes.tick_params(axis="x", labelsize="small")
    if rows:
        n = rows[0]["queries"]
        head = (
            f"{rows[0]['class']}\n{rows[0]['relevant']}\n{n} {'query' if n == 1 else 'queries'}, {rows[0]['share']:.0%}"
        )
        head += "\ntoo few for intervals" if all(row["difference_low"] is None for row in rows) else ""
        axes.set_title(head, fontsize="small")
    label_axes(axes, title, "")

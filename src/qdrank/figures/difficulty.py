"""The difficulty breakdown of any methods as a table to read and as a picture."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd

from qdrank.datasets.judged import load_judged
from qdrank.evaluation.difficulty import ALL, NONE, breakdown, difficulty
from qdrank.figures.numbers import where
from qdrank.figures.palette import BLUE, Look
from qdrank.figures.pictures import forest, height_of, label_rows
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
    measured = read(files["measures"], "measures").to_pandas()
    known = list(measured["method"].unique())
    baseline = next((method for method in against if method in known), known[0])
    log("against %s", baseline)
    known_classes = difficulty(load_judged(files["judged"], []), classes)
    table = breakdown(measured, known_classes, measures, baseline=baseline, interval=interval)
    forms = {form: path for form, path in out.items() if not form.startswith("figure_")}
    write_table(readable_breakdown(table, labels, baseline), forms, title=f"{title}: measures by difficulty")
    write(out["figure_parquet"], "figure", table)
    figure = draw(table, title=title, baseline=baseline, labels=labels, colours=colours, level=interval["level"])
    save_figure(figure, {form: out[f"figure_{form}"] for form in formats}, dpi=dpi)


def readable_breakdown(table: pd.DataFrame, labels: Mapping[str, str], baseline: str) -> pd.DataFrame:
    """The breakdown with labels for names: one row per measure, class and method."""
    named = {"measure": "measure", "class": "class", "relevant": "relevant documents", "queries": "queries"}
    named |= {"share": "share", "method": "method", "mean": "mean"}
    named |= {"difference": f"difference from {labels.get(baseline, baseline)}"}
    named |= {"difference_low": "low", "difference_high": "high", "p": "p", "p_holm": "p (Holm)", "lacks": "note"}
    titles = table["measure"].map(lambda name: parse(name).title)
    return table[[*named]].assign(measure=titles, method=table["method"].replace(labels)).rename(columns=named)


def draw(
    table: pd.DataFrame,
    *,
    title: str,
    labels: Mapping[str, str],
    baseline: str,
    colours: Mapping[str, str] | None = None,
    level: float = 0.95,
) -> Any:
    """Draw one row of panels per measure, one panel per class: differences from the baseline with their intervals.

    Marks are open where Holm's p-value does not tell the difference from 0.

    Parameters
    ----------
    table : as from `qdrank.evaluation.difficulty.breakdown`
    labels, colours : of the methods; a method that has no colour is drawn in blue
    """
    rows = table[~table["class"].isin([ALL, NONE]) & (table["method"] != baseline)]
    rows = rows.assign(open=~(rows["p_holm"] < _SURE))
    measures, classes, methods = (list(rows[name].unique()) for name in ("measure", "class", "method"))
    looks = {name: Look(name, labels.get(name, name), (colours or {}).get(name, BLUE), "o") for name in methods}
    height = 0.9 + max(len(measures), 1) * height_of(max(len(methods), 2))
    shape = max(len(measures), 1), max(len(classes), 1)
    figure, panels = new_figure(*shape, height=height, squeeze=False, sharey=True)
    for line, measure in zip(panels, measures, strict=False):
        for axes, name in zip(line, classes, strict=True):
            of_class = where(rows, **{"measure": measure, "class": name})
            forest(axes, of_class, looks)
            axes.locator_params(axis="x", nbins=3)
            axes.tick_params(axis="x", labelsize="small")
            axes.set_title(_head(of_class), fontsize="small")
            label_axes(axes, parse(measure).title, "")
        label_rows(line[0], [look.label for look in looks.values()])
    base = labels.get(baseline, baseline)
    figure.suptitle(f"{title}: difference from {base} by difficulty, {level:.0%} intervals", fontsize="medium")
    figure.draw_without_rendering()  # long labels need a second round of the layout
    return figure


def _head(rows: pd.DataFrame) -> str:
    """The class of these rows, and its queries."""
    first = rows.iloc[0]
    queries = f"{first['queries']} {'query' if first['queries'] == 1 else 'queries'}, {first['share']:.0%}"
    head = f"{first['class']}\n{first['relevant']}\n{queries}"
    return f"{head}\ntoo few for intervals" if rows["difference_low"].isna().all() else head

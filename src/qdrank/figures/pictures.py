"""The two pictures that most figures are: rows with intervals, and lines along a setting.

Both draw `numbers` on axes: ``value`` is the column that is drawn, and ``ends`` what its interval's columns ``low`` and ``high``
begin with (None: it has none). ``looks`` are by the name of a method.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from textwrap import fill
from typing import Any

import numpy as np
import pandas as pd

from qdrank.figures.palette import Look
from qdrank.figures.style import error_bars, label_axes, new_figure

_WIDEST, _MANY = 34, 25
"""Letters in a line of a row's label, and rows from which on labels are smaller."""


def forest(
    axes: Any,
    rows: pd.DataFrame,
    looks: Mapping[str, Look] | Look,
    value: str = "difference",
    ends: str | None = "difference_",
    *,
    shift: float = 0.0,
) -> None:
    """A row for each of ``rows``, from the top; differences beside a line at 0.

    With one look for all, the legend has it. ``shift`` moves marks up, so that each row may have several. Marks are open where
    the column ``open`` says so.
    """
    for i, row in enumerate(rows.to_dict("records")):
        look, y = looks if isinstance(looks, Look) else looks[row["method"]], shift - i
        if ends is not None:
            axes.hlines(y, row[f"{ends}low"], row[f"{ends}high"], color=look.colour)
        face = "white" if row.get("open") else look.colour
        axes.plot(row[value], y, color=look.colour, marker=look.marker, markerfacecolor=face, linestyle="none")
    if isinstance(looks, Look):
        axes.plot([], [], **looks.marked | {"linestyle": "none"})
    axes.set_ylim(0.4 - len(rows), 0.6)
    axes.locator_params(axis="x", nbins=5)  # with more, labels of three digits touch
    if value != "mean":
        axes.axvline(0, color="black", linewidth=0.8)


def label_rows(axes: Any, labels: Sequence[str]) -> None:
    """Name the rows of a `forest`."""
    wrapped = [fill(label, _WIDEST) for label in labels]
    axes.set_yticks(-np.arange(len(labels)), wrapped, fontsize="small" if len(labels) < _MANY else "x-small")


def height_of(rows: float) -> float:
    """Inches of a figure of so many rows."""
    return 1.0 + (0.26 if rows < _MANY else 0.2) * rows


def forests(
    rows: pd.DataFrame, looks: Mapping[str, Look], title: str, *, mean: str, difference: str, labels: Sequence[str] = ()
) -> Any:
    """Means (left), and differences with their intervals (right); ``mean`` and ``difference`` name the axes."""
    figure, (left, right) = new_figure(1, 2, height=height_of(len(rows)), sharey=True)
    forest(left, rows, looks, "mean", "" if "low" in rows else None)
    forest(right, rows, looks)
    label_rows(left, labels or [looks[name].label for name in rows["method"]])
    label_axes(left, mean, "")
    label_axes(right, difference, "")
    figure.suptitle(title, fontsize="medium")
    return figure


def lines(
    axes: Any,
    rows: pd.DataFrame,
    x: str,
    looks: Mapping[str, Look],
    value: str = "mean",
    ends: str | None = None,
    *,
    by: str = "method",
    band: bool = False,
    joined: bool = True,
    tick: Callable[[Any], str] | None = None,
) -> None:
    """A line for each entry of the column ``by``, with bars, or a band, from end to end.

    With ``tick``, points are evenly spaced, and labelled by it. Bars stand side by side, so that none hides another.
    """
    from matplotlib.transforms import ScaledTranslation

    ticks, names = list(dict.fromkeys(rows[x])), list(dict.fromkeys(rows[by]))
    for i, name in enumerate(names):
        of = rows[rows[by] == name]
        place = of[x].map(ticks.index) if tick else of[x]
        look = looks[name].marked if joined else looks[name].marked | {"linestyle": "none"}
        if ends is None or band:
            axes.plot(place, of[value], **look)
        if ends is not None and band:
            axes.fill_between(place, of[f"{ends}low"], of[f"{ends}high"], color=look["color"], alpha=0.12, linewidth=0)
        elif ends is not None:
            low, high = of[f"{ends}low"], of[f"{ends}high"]
            beside = (i - (len(names) - 1) / 2) * min(3.0, 22 / len(names)) / 72
            moved = axes.transData + ScaledTranslation(beside, 0, axes.figure.dpi_scale_trans)
            axes.errorbar(place, of[value], error_bars(of[value], low, high), elinewidth=0.8, transform=moved, **look)
            # Matplotlib takes no limits from what is moved.
            for y in (of[value], low, high):
                axes.update_datalim(np.column_stack([place, y]))
            axes.autoscale_view()
    if tick:
        axes.set_xticks(range(len(ticks)), [tick(one) for one in ticks])
    if value == "difference":
        axes.axhline(0, color="black", linewidth=0.8)


def curves(
    rows: pd.DataFrame,
    x: str,
    looks: Mapping[str, Look],
    title: str,
    *,
    axis: str,
    mean: str,
    difference: str,
    base: str,
) -> Any:
    """Means along ``x`` (left), and differences from the method ``base`` with their intervals (right); 0 of ``x`` means all."""
    figure, (left, right) = new_figure(1, 2, height=3.4)
    tick: Callable[[Any], str] = lambda size: f"{size:g}" if size else "all"  # noqa: E731
    lines(left, rows, x, looks, tick=tick)
    lines(right, rows[rows["method"] != base], x, looks, "difference", "difference_", tick=tick)
    label_axes(left, axis, mean)
    label_axes(right, axis, difference)
    figure.suptitle(title, fontsize="medium")
    legend(figure)
    return figure


def around_mean(rows: pd.DataFrame) -> pd.DataFrame:
    """``rows`` whose ``low`` and ``high`` are the interval of the difference, laid around the mean."""
    other = rows["mean"] - rows["difference"]
    return rows.assign(low=other + rows["difference_low"], high=other + rows["difference_high"])


def legend(figure: Any) -> None:
    """One legend of all panels, below them, in as many columns as there is room for."""
    named = {
        label: handle for axes in figure.axes for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
    }
    columns = next(n for n in range(len(named), 0, -1) if n == 1 or _width(list(named), n) < _ROOM)
    figure.legend(named.values(), named.keys(), ncols=columns, loc="outside lower center", fontsize="small")


_ROOM = 455
"""Points across the page."""


def _width(labels: Sequence[str], columns: int) -> float:
    """Points that a legend takes: a letter is 4.2 wide, and each column has a mark and space."""
    return sum(33 + 4.2 * max(map(len, part)) for part in np.array_split(labels, columns))

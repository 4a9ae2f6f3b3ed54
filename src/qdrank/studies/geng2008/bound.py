"""The stability bound of Geng 2008 (theorem 1) beside the observed differences of loss."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from typing import Any

import numpy as np
import pyarrow as pa
from matplotlib.ticker import LogFormatterSciNotation, LogLocator, NullFormatter
from numpy.typing import NDArray

from qdrank.figures.style import label_axes, new_figure, say_instead
from qdrank.layout import FloatArray
from qdrank.studies.geng2008.methods import BY_NAME
from qdrank.studies.making import Inputs, Shown

#: Differences below the precision of training are drawn at this value, so that they do not stretch the axes.
PRECISION = 1e-4


def draw(inputs: Inputs, shown: Shown) -> tuple[Any, pa.Table]:
    """Draw observed against bound, one point per test query and k, and the mean of both against k."""
    bound = inputs.table("bounds", "figure")
    rows = {name: bound.column(name).to_numpy(zero_copy_only=False) for name in bound.column_names}
    drawn = np.isfinite(rows["bound"]) & (rows["bound"] > 0)
    title = f"{shown.title}: stability of the offline methods"
    if not drawn.any():
        return say_instead(title, "Every change ratio is 0: the offline methods use KNN Online's models."), bound
    figure, (left, right) = new_figure(1, 2, height=3.6)
    for method in dict.fromkeys(rows["method"].tolist()):
        of_method = drawn & (rows["method"] == method)
        look = BY_NAME[method]
        style = {"c": look.colour, "marker": look.marker, "label": look.label}
        left.scatter(
            rows["bound"][of_method],
            rows["observed"][of_method].clip(PRECISION),
            s=12,
            alpha=0.5,
            linewidths=0,
            **style,
        )
        if of_method.any():
            _draw_means(right, {name: column[of_method] for name, column in rows.items()}, method)
    _draw_diagonal(left, rows["bound"][drawn], rows["observed"][drawn].clip(PRECISION))
    left.legend(markerscale=1.5, fontsize="small")
    label_axes(left, "bound κ²γ/λ", "largest difference of hinge loss", "each test query and k")
    right.set_yscale("log")
    right.legend(fontsize="small")
    label_axes(right, "neighbours k, mean of the folds", "mean over test queries", "bound and observation")
    figure.suptitle(title, fontsize="medium")
    return figure, bound


def _draw_diagonal(axes: Any, bound: FloatArray, observed: FloatArray) -> None:
    """The line on which bound and observation are equal, and axes that fit the points and reach it."""
    x, y = (
        (bound.min() / 2, 2 * bound.max()),
        (min(observed.min(), bound.min()) / 2, 2 * max(bound.max(), observed.max())),
    )
    axes.plot(x, x, color="black", linestyle="--", linewidth=0.8, label="equal")
    axes.set(xscale="log", yscale="log", xlim=x, ylim=y)
    # By default Matplotlib labels every minor tick of a narrow axis, and the labels overlap.
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 3) if x[1] < 100 * x[0] else (1,), numticks=9))
    axes.xaxis.set_major_formatter(LogFormatterSciNotation(labelOnlyBase=False, minor_thresholds=(inf, inf)))
    axes.xaxis.set_minor_formatter(NullFormatter())


def _draw_means(axes: Any, rows: Mapping[str, Any], method: str) -> None:
    look = BY_NAME[method]
    place = _places(rows)
    ks = [rows["k"][place == i].mean() for i in np.unique(place)]
    for name, line in (("bound", "--"), ("observed", "-")):
        means = [rows[name][place == i].mean() for i in np.unique(place)]
        axes.plot(ks, means, color=look.colour, marker=look.marker, linestyle=line, label=f"{look.label}, {name}")


def _places(rows: Mapping[str, Any]) -> NDArray[np.int64]:
    """Index of each row's k among its fold's, counted from the largest, because folds differ a little in size."""
    place = np.empty(len(rows["k"]), dtype=np.int64)
    for fold in set(rows["fold"].tolist()):
        of_fold = rows["fold"] == fold
        ks, order = np.unique(rows["k"][of_fold], return_inverse=True)
        place[of_fold] = order - len(ks)
    return place

"""The stability bound of Geng 2008 (theorem 1) beside the differences of loss that are observed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from qdrank.figures.style import label_axes, new_figure
from qdrank.studies.geng2008.methods import BY_NAME
from qdrank.studies.making import Inputs, Shown

PRECISION = 1e-4


def draw(inputs: Inputs, shown: Shown) -> tuple[Any, pa.Table]:
    """Draw observed against bound, one point per test query and k, and the mean of both against k."""
    bound = inputs.table("bounds", "figure")
    figure, (left, right) = new_figure(1, 2, height=3.6)
    rows = {name: bound.column(name).to_numpy(zero_copy_only=False) for name in bound.column_names}
    for method in dict.fromkeys(rows["method"].tolist()):
        own = (rows["method"] == method) & np.isfinite(rows["bound"]) & (rows["bound"] > 0)
        look = BY_NAME[method]
        style = {"c": look.colour, "marker": look.marker, "label": look.label}
        left.scatter(rows["bound"][own], rows["observed"][own], s=5, alpha=0.35, linewidths=0, **style)
        _draw_means(right, {name: column[own] for name, column in rows.items()}, method)
    _draw_diagonal(left, rows)
    left.legend(markerscale=2, loc="upper left", fontsize="small")
    label_axes(left, "bound κ²γ/λ", "largest difference of hinge loss", "each test query and k")
    right.set_yscale("log")
    right.legend(fontsize="small")
    label_axes(right, "number of neighbours k", "mean over test queries", "bound and observation")
    figure.suptitle(f"{shown.title}: stability of the offline methods", fontsize="medium")
    return figure, bound


def _draw_diagonal(axes: Any, rows: Mapping[str, Any]) -> None:
    # Differences below the precision of training would stretch the axes over many decades.
    shown = np.concatenate([rows[name][np.isfinite(rows[name])] for name in ("bound", "observed")])
    shown = shown[shown > PRECISION]
    ends = [shown.min(initial=1.0), shown.max(initial=1.0)]
    axes.plot(ends, ends, color="black", linestyle="--", linewidth=0.8)
    axes.set(xscale="log", yscale="log", xlim=(ends[0] / 2, 2 * ends[1]), ylim=(ends[0] / 2, 2 * ends[1]))


def _draw_means(axes: Any, rows: Mapping[str, Any], method: str) -> None:
    look = BY_NAME[method]
    place = _places(rows)
    ks = [rows["k"][place == i].mean() for i in np.unique(place)]
    for name, line in (("bound", "--"), ("observed", "-")):
        means = [rows[name][place == i].mean() for i in np.unique(place)]
        axes.plot(ks, means, color=look.colour, linestyle=line, label=f"{look.label}, {name}")


def _places(rows: Mapping[str, Any]) -> NDArray[np.int64]:
    """Place of each row's k among those of its fold, counted from the largest: folds differ a little in size."""
    place = np.empty(len(rows["k"]), dtype=np.int64)
    for fold in set(rows["fold"].tolist()):
        own = rows["fold"] == fold
        ks, order = np.unique(rows["k"][own], return_inverse=True)
        place[own] = order - len(ks)
    return place

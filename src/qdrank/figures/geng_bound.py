"""The stability bound of Geng 2008 (theorem 1) beside the differences of loss that are observed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from qdrank.figures.geng import LOOKS, finish
from qdrank.figures.style import label_axes, new_figure


def draw(bound: pa.Table, paths: Mapping[str, str | Path], *, title: str, dpi: int) -> None:
    """Draw observed against bound, a point a test query and k, and the mean of both against k."""
    figure, (left, right) = new_figure(1, 2, height=3.6)
    rows = {name: bound.column(name).to_numpy(zero_copy_only=False) for name in bound.column_names}
    for method in dict.fromkeys(rows["method"].tolist()):
        own = (rows["method"] == method) & np.isfinite(rows["bound"]) & (rows["bound"] > 0)
        look = LOOKS[method]
        style = {"c": look.colour, "marker": look.marker, "label": look.label}
        left.scatter(rows["bound"][own], rows["observed"][own], s=5, alpha=0.35, linewidths=0, **style)
        _draw_means(right, {name: column[own] for name, column in rows.items()}, method)
    _draw_diagonal(left, rows)
    left.legend(markerscale=2, loc="upper left", fontsize="small")
    label_axes(left, "bound κ²γ/λ", "largest difference of hinge loss", "each test query and k")
    right.set_yscale("log")
    right.legend(fontsize="small")
    label_axes(right, "number of neighbours k", "mean over test queries", "bound and observation")
    figure.suptitle(f"{title}: stability of the offline methods", fontsize="medium")
    finish(figure, bound, paths, dpi)


def _draw_diagonal(axes: Any, rows: Mapping[str, Any]) -> None:
    positive = np.concatenate(
        [rows[name][np.isfinite(rows[name]) & (rows[name] > 0)] for name in ("bound", "observed")]
    )
    ends = [positive.min(initial=1.0), positive.max(initial=1.0)]
    axes.plot(ends, ends, color="black", linestyle="--", linewidth=0.8)
    axes.set_xscale("log")
    axes.set_yscale("log")


def _draw_means(axes: Any, rows: Mapping[str, Any], method: str) -> None:
    ks = np.unique(rows["k"])
    look = LOOKS[method]
    for name, line in (("bound", "--"), ("observed", "-")):
        means = [rows[name][rows["k"] == k].mean() for k in ks]
        axes.plot(ks, means, color=look.colour, linestyle=line, label=f"{look.label}, {name}")

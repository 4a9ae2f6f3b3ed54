"""Figure 9 of Geng 2008: the change ratio between the training sets of KNN Online and the offline methods."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from qdrank.evaluation.intervals import column_intervals
from qdrank.figures.style import error_bars, label_axes, new_figure
from qdrank.studies.geng2008.curves import curve
from qdrank.studies.geng2008.methods import BY_NAME, OFFLINE
from qdrank.studies.geng2008.shapes import SWEEP_SHAPE
from qdrank.studies.making import Inputs, Shown


def numbers(sweep: pa.Table, lam: float, interval: Mapping[str, Any]) -> pa.Table:
    """Mean, median and interval of the change ratio for both methods and every k; ``empty`` counts infinite ones."""
    rows: list[dict[str, Any]] = []
    for method in OFFLINE:
        swept = curve(sweep, method, "gamma", lam=lam)
        for k, share, gamma in zip(swept.k.tolist(), swept.share.tolist(), swept.values.T, strict=True):
            finite = gamma[np.isfinite(gamma)]
            low, high = column_intervals(finite[:, None], **interval)
            row = {"method": method, "k": k, "share": share, "mean": finite.mean(), "median": np.median(gamma)}
            rows.append(row | {"low": low[0], "high": high[0], "empty": int((~np.isfinite(gamma)).sum())})
    return pa.Table.from_pylist(rows)


def draw(inputs: Inputs, shown: Shown) -> tuple[Any, pa.Table]:
    """Draw the mean change ratio of both offline methods against k."""
    lam = shown.options["lam"]
    table = numbers(inputs.table("sweeps", SWEEP_SHAPE), lam, shown.interval)
    figure, axes = new_figure(height=3.2)
    for method in OFFLINE:
        rows = [row for row in table.to_pylist() if row["method"] == method]
        k, mean, low, high = (np.array([row[key] for row in rows]) for key in ("k", "mean", "low", "high"))
        bars = error_bars(mean, low, high)
        axes.errorbar(k, mean, bars, elinewidth=0.8, **BY_NAME[method].marked)
    axes.set_ylim(bottom=0)
    axes.legend()
    title = f"{shown.title}: change ratio of the training sets, λ = {lam:g}, {shown.interval['level']:.0%} intervals"
    k_of = "neighbours k" if len(shown.folds) == 1 else f"neighbours k, mean of {len(shown.folds)} folds"
    label_axes(axes, k_of, "change ratio γ, mean over test queries", title)
    return figure, table

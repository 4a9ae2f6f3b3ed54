"""Figure 2 of Lin 2011: MAP against the number of clusters, with the oracles and the controls of the upper bound."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from qdrank.evaluation.pairs import fit_values
from qdrank.evaluation.refits import column_ends
from qdrank.figures.palette import BLACK
from qdrank.figures.style import label_axes, new_figure
from qdrank.studies.lin2011.methods import BY_NAME, ORACLES, PAPER, RANKSVM
from qdrank.studies.lin2011.observations import as_fits
from qdrank.studies.making import Inputs, Shown

UPPER = tuple(method.name for method in ORACLES if method.name.startswith("upper-bound"))
LOWER = (*PAPER, *(f"{name}-random" for name in PAPER), "relevant-only")


def numbers(curve: pa.Table, interval: Mapping[str, Any]) -> pa.Table:
    """Mean over queries and seeds, the lowest and highest seed, and the interval of the difference from RankSVM."""
    present = set(curve.column("method").to_pylist())
    rows = []
    for m in sorted(set(curve.column("m").to_pylist())):
        of_m = curve.filter(pc.equal(curve.column("m"), m)).drop_columns(["m"])
        values = as_fits(of_m)
        for method in (name for name in (RANKSVM, *LOWER, *UPPER) if name in present):
            _, ap = fit_values(values, [method, RANKSVM], "ap")
            low, high = column_ends(ap[:, :, :1] - ap[:, :, 1:], **interval)
            seeds = _seed_means(of_m, method)
            row: dict[str, Any] = {"method": method, "m": m, "mean": float(ap[:, :, 0].mean())}
            row |= {"seed_least": min(seeds), "seed_most": max(seeds), "seeds": len(seeds)}
            row |= {"difference": float((ap[:, :, 0] - ap[:, :, 1]).mean())}
            rows.append(row | {"difference_low": float(low[0]), "difference_high": float(high[0])})
    return pa.Table.from_pylist(rows)


def _seed_means(curve: pa.Table, method: str) -> list[float]:
    of_method = curve.filter(pc.equal(curve.column("method"), method)).group_by("seed", use_threads=False)
    return [float(value) for value in of_method.aggregate([("ap", "mean")]).column("ap_mean").to_pylist()]


def draw(inputs: Inputs, shown: Shown) -> tuple[Any, pa.Table]:
    """Draw the oracles above and the methods below, each panel with its own scale; bands are the range of the seeds."""
    table = numbers(inputs.table("curve", "figure"), shown.interval)
    rows = table.to_pylist()
    figure, (upper, lower) = new_figure(2, 1, height=6.2, sharex=True)
    _draw_panel(upper, rows, UPPER)
    _draw_panel(lower, rows, LOWER)
    upper.set_title(f"{shown.title}: the best of all local models for each query, an oracle")
    lower.set_title("methods, and RelevantOnly")
    for axes in (upper, lower):
        axes.legend(fontsize="x-small", ncols=1, loc="center left", bbox_to_anchor=(1.0, 0.5))
        label_axes(axes, "", "MAP")
    lower.set_xlabel("number of clusters")
    return figure, table


def _draw_panel(axes: Any, rows: Sequence[Mapping[str, Any]], methods: Sequence[str]) -> None:
    single = [row for row in rows if row["method"] == RANKSVM]
    axes.axhline(single[0]["mean"], color=BLACK, linestyle="--", label="RankSVM")
    for method in methods:
        of_method = [row for row in rows if row["method"] == method]
        if not of_method:
            continue
        m, mean, low, high = (
            np.array([row[key] for row in of_method]) for key in ("m", "mean", "seed_least", "seed_most")
        )
        axes.plot(m, mean, linestyle=":" if "random" in method else "-", **BY_NAME[method].marked)
        axes.fill_between(m, low, high, color=BY_NAME[method].colour, alpha=0.12, linewidth=0)
    axes.set_xscale("log")
    ticks = [row["m"] for row in single]
    axes.set_xticks(ticks, [str(m) for m in ticks])
    axes.minorticks_off()

"""Figure 3 of Hoi and Jin 2008: MAP against gamma, with the interval of the difference from SER (gamma = 0)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from qdrank.evaluation.intervals import column_intervals
from qdrank.figures.style import label_axes, new_figure
from qdrank.studies.hoi2008.curves import gamma_curve
from qdrank.studies.hoi2008.methods import BY_NAME, TIES, with_ties
from qdrank.studies.making import Inputs, Shown

#: Curves of each panel: SSER, with C, theta and delta tuned, and without constant rankers.
METHODS = ("sser", "sser-tuned", "sser-varying")
#: Dashes for curves that may coincide with SSER's.
DASHES = {"sser-tuned": "--", "sser-varying": ":"}
_TITLES = {"half": "tied pairs count 1/2", "file": "ties in file order"}


def numbers(sweep: pa.Table, interval: Mapping[str, Any]) -> pa.Table:
    """MAP of the test queries for every method and gamma, and its difference from gamma = 0 with its interval."""
    rows = []
    for ties in TIES:
        for method in METHODS:
            curve = gamma_curve(sweep, with_ties(method, ties))
            apart = curve.values - curve.values[:, :1]
            low, high = column_intervals(apart, **interval)
            for i, gamma in enumerate(curve.x.tolist()):
                row = {"ties": ties, "method": method, "gamma": gamma, "queries": len(curve.values)}
                row |= {"mean": float(curve.values[:, i].mean()), "difference": float(apart[:, i].mean())}
                rows.append(row | {"difference_low": low[i], "difference_high": high[i]})
    return pa.Table.from_pylist(rows)


def draw(inputs: Inputs, shown: Shown) -> tuple[Any, pa.Table]:
    """One panel per rule for ties; a band is the interval of the difference from SER, laid around SER's value."""
    table = numbers(inputs.table("sweeps", "figure"), shown.interval)
    figure, panels = new_figure(1, 2, height=3.5, sharey=True)
    for axes, ties in zip(panels, TIES, strict=True):
        rows = [row for row in table.to_pylist() if row["ties"] == ties]
        _draw_panel(axes, rows, shown.options["gamma"])
        label_axes(axes, "gamma", "MAP" if ties == "half" else "", _TITLES[ties])
    figure.legend(*panels[0].get_legend_handles_labels(), ncols=2, loc="outside lower center", fontsize="small")
    figure.suptitle(f"{shown.title}: weight gamma of the query's own documents", fontsize="medium")
    return figure, table


def _draw_panel(axes: Any, rows: list[dict[str, Any]], fixed: float) -> None:
    gammas = sorted({row["gamma"] for row in rows})
    places = np.arange(len(gammas))  # evenly spaced, since gamma runs from 0 through 0.01 to 5
    for method in METHODS:
        of_method = [row for row in rows if row["method"] == method]
        mean, low, high = (
            np.array([row[key] for row in of_method]) for key in ("mean", "difference_low", "difference_high")
        )
        look = BY_NAME[method]
        if method != "sser":
            axes.plot(places, mean, color=look.colour, label=look.label, linestyle=DASHES[method], zorder=3)
        else:
            axes.plot(places, mean, **look.marked)
            axes.fill_between(places, mean[0] + low, mean[0] + high, color=look.colour, alpha=0.12, linewidth=0)
            axes.axhline(mean[0], color="black", linestyle="--", linewidth=0.8, label="SER (gamma = 0)")
    if fixed in gammas:
        axes.axvline(gammas.index(fixed), color="#999999", linewidth=0.8, linestyle=":")
    axes.set_xticks(places, [f"{gamma:g}" for gamma in gammas], rotation=45)

"""Figures 7 to 9 of Geng 2008: methods, numbers of neighbours, and change ratios; controls and differences have their own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from qdrank.figures.numbers import by_measure, chosen, numbers, where
from qdrank.figures.palette import BLACK
from qdrank.figures.pictures import around_mean, forests, legend, lines
from qdrank.figures.style import label_axes, new_figure
from qdrank.studies.geng2008.curves import along_k
from qdrank.studies.geng2008.methods import BY_NAME, KNN, MEASURE, OFFLINE, PAPER, controls
from qdrank.studies.making import Inputs, Shown

DRAWN_MEASURES = (*(f"ndcg@{k}/geng" for k in range(1, 11)), MEASURE)


def _compared(inputs: Inputs, shown: Shown, methods: Sequence[str], measures: Sequence[str]) -> pd.DataFrame:
    """Means of some methods, and their differences from Single."""
    values = chosen(by_measure(inputs.frame("measures", "measures"), measures), methods)
    return numbers(values, ["method", "measure"], "value", shown.interval, against={"method": "single"})


def _draw(inputs: Inputs, shown: Shown, methods: Sequence[str], which: str) -> tuple[Any, pd.DataFrame]:
    """Every measure of some methods."""
    rows = _compared(inputs, shown, methods, DRAWN_MEASURES)
    figure, axes = new_figure(height=3.8)
    places = {MEASURE: "mean"} | {name: name[4:].partition("/")[0] for name in DRAWN_MEASURES[:-1]}
    lines(axes, rows, "measure", BY_NAME, ends="", joined=False, tick=places.__getitem__)
    title = f"{shown.title}: {which}, {shown.interval['level']:.0%} intervals"
    label_axes(axes, "rank of the cut, and mean of NDCG@1 to @10", "NDCG (eq. 4 of the paper)", title)
    legend(figure)
    return figure, rows


def draw_methods(inputs: Inputs, shown: Shown) -> tuple[Any, pd.DataFrame]:
    """Draw the methods of the paper."""
    return _draw(inputs, shown, PAPER, "the methods of the paper")


def draw_controls(inputs: Inputs, shown: Shown) -> tuple[Any, pd.DataFrame]:
    """Draw the controls and baselines that the paper lacks, beside Single."""
    return _draw(inputs, shown, ["single", *controls(list(BY_NAME))], "controls and baselines")


def draw_differences(inputs: Inputs, shown: Shown) -> tuple[Any, pd.DataFrame]:
    """Draw mean NDCG of every method, and its paired difference from Single."""
    rows = _compared(inputs, shown, [*PAPER, *controls(list(BY_NAME))], [MEASURE])
    rows = rows[rows["method"] != "single"].reset_index(drop=True)
    words = {"mean": "mean NDCG", "difference": f"difference from Single, {shown.interval['level']:.0%}"}
    return forests(rows, BY_NAME, f"{shown.title}: differences from Single", **words), rows


def draw_neighbours(inputs: Inputs, shown: Shown) -> tuple[Any, pd.DataFrame]:
    """A panel for NDCG@5 and @10; a bar is the interval of the method's difference from Single, around the method's value."""
    lam, by = shown.options["lam"], ["method", "k", "share"]
    values = chosen(along_k(inputs.frame("values", "values")), ["single", *KNN, "knn-random"])
    single = {name: where(values, method="single")[name].iloc[0] for name in by}
    figure, panels = new_figure(1, 2, height=3.8)
    parts = []
    for axes, name in zip(panels, ("ndcg@5/geng", "ndcg@10/geng"), strict=True):
        rows = numbers(values, by, name, shown.interval, against=single).assign(measure=name)
        rows = pd.concat([where(rows, method="single"), around_mean(rows[rows["method"] != "single"])])
        axes.axhline(rows["mean"].iloc[0], color=BLACK, linestyle="--", label=f"Single (k = m = {single['k']:.0f})")
        axes.set_xscale("log")  # since most k are small
        lines(axes, rows[1:], "k", BY_NAME, ends="")
        _mark_neighbours(axes, sorted(set(rows["k"])))
        label_axes(axes, _k(shown), f"{name.partition('/')[0].upper()} (eq. 4 of the paper)")
        parts.append(rows[["measure", *by, "queries", "mean", "low", "high"]])
    legend(figure)
    bars = f"{shown.interval['level']:.0%} intervals of the difference from Single"
    figure.suptitle(f"{shown.title}: number of neighbours, λ = {lam:g}\n{bars}", fontsize="medium")
    return figure, pd.concat(parts)


def _k(shown: Shown) -> str:
    """Label of k. Folds differ a little in size, so one share of the training queries may be several k."""
    return "neighbours k" if len(shown.folds) == 1 else f"neighbours k (mean of {len(shown.folds)} folds)"


def _mark_neighbours(axes: Any, ks: list[float]) -> None:
    """Mark as many k on a logarithmic axis as there is room for."""
    kept = [ks[-1]]
    for k in reversed(ks):
        if k < kept[-1] / 1.7:
            kept.append(k)
    axes.set_xticks(kept, [f"{k:.0f}" for k in kept])
    axes.set_xticks([], minor=True)


def draw_ratios(inputs: Inputs, shown: Shown) -> tuple[Any, pd.DataFrame]:
    """Draw the mean change ratio of both offline methods against k; ``empty`` counts ratios that are not finite."""
    lam, by = shown.options["lam"], ["method", "k", "share"]
    values = chosen(along_k(inputs.frame("values", "values")), OFFLINE)
    finite = np.isfinite(values["gamma"])
    rows = numbers(values[finite], by, "gamma", shown.interval, apart=by).drop(columns="queries")
    groups = (
        values.assign(empty=~finite).groupby(by, sort=False).agg(median=("gamma", "median"), empty=("empty", "sum"))
    )
    rows = rows.merge(groups.reset_index(), on=by, validate="one_to_one")
    figure, axes = new_figure(height=3.5)
    lines(axes, rows, "k", BY_NAME, ends="")
    axes.set_ylim(bottom=0)
    legend(figure)
    title = f"{shown.title}: change ratio of the training sets, λ = {lam:g}, {shown.interval['level']:.0%} intervals"
    label_axes(axes, _k(shown), "change ratio γ, mean over test queries", title)
    return figure, rows[[*by, "mean", "median", "low", "high", "empty"]]

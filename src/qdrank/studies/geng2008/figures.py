"""Figures 1 and 7 to 9 of Geng 2008: queries, methods, numbers of neighbours, change ratios; and what the paper lacks."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.ticker import LogFormatterSciNotation, LogLocator, NullFormatter
from numpy.typing import NDArray

from qdrank.figures.numbers import by_measure, chosen, numbers, where
from qdrank.figures.palette import BLACK, COLOURS, MARKERS
from qdrank.figures.pictures import around_mean, forests, legend, lines
from qdrank.figures.style import label_axes, new_figure, say_instead
from qdrank.layout import FloatArray
from qdrank.queries.recipe import load_neighbours, load_queries
from qdrank.queries.vectors import principal_plane
from qdrank.studies.geng2008.methods import BY_NAME, KNN, MEASURE, OFFLINE, PAPER, controls
from qdrank.studies.geng2008.query_classes import CLASSES_SHAPE, K_MEANS, type_share
from qdrank.studies.geng2008.tables import along_k
from qdrank.studies.making import Inputs, Shown

#: Differences below the precision of training are drawn at this value, so that they do not stretch the axes.
PRECISION = 1e-4
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


def draw_bound(inputs: Inputs, shown: Shown) -> tuple[Any, pd.DataFrame]:
    """Draw observed differences of loss against the bound, for each test query and k, and the mean of both against k."""
    bound = inputs.frame("bounds", "figure")
    title = f"{shown.title}: stability of the offline methods"
    rows = bound[np.isfinite(bound["bound"]) & (bound["bound"] > 0)]
    if rows.empty:
        return say_instead(title, "Every change ratio is 0: the offline methods use KNN Online's models."), bound
    figure, (left, right) = new_figure(1, 2, height=3.6)
    for method, of in rows.groupby("method", sort=False):
        look = BY_NAME[str(method)]
        style = {"c": look.colour, "marker": look.marker, "label": look.label}
        left.scatter(of["bound"], of["observed"].clip(PRECISION), s=12, alpha=0.5, linewidths=0, **style)
        # folds differ a little in size, so their largest k belong together, their second largest, and so on
        place = of.groupby("fold")["k"].rank("dense", ascending=False).rename("place")
        means = of.groupby(place)[["k", "bound", "observed"]].mean().sort_values("k")
        for name, line in (("bound", "--"), ("observed", "-")):
            options = look.marked | {"linestyle": line, "label": f"{look.label}, {name}"}
            right.plot(means["k"], means[name], **options)
    _draw_diagonal(left, rows["bound"], rows["observed"].clip(PRECISION))
    left.legend(markerscale=1.5, fontsize="small")
    label_axes(left, "bound κ²γ/λ", "largest difference of hinge loss", "each test query and k")
    right.set_yscale("log")
    right.legend(fontsize="small")
    label_axes(right, "neighbours k, mean of the folds", "mean over test queries", "bound and observation")
    figure.suptitle(title, fontsize="medium")
    return figure, bound


def _draw_diagonal(axes: Any, bound: pd.Series, observed: pd.Series) -> None:
    """The line on which bound and observation are equal, and axes that fit the points and reach it."""
    x = (bound.min() / 2, 2 * bound.max())
    y = (min(observed.min(), bound.min()) / 2, 2 * max(bound.max(), observed.max()))
    axes.plot(x, x, color="black", linestyle="--", linewidth=0.8, label="equal")
    axes.set(xscale="log", yscale="log", xlim=x, ylim=y)
    # By default Matplotlib labels every minor tick of a narrow axis, and the labels overlap.
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 3) if x[1] < 100 * x[0] else (1,), numticks=9))
    axes.xaxis.set_major_formatter(LogFormatterSciNotation(labelOnlyBase=False, minor_thresholds=(inf, inf)))
    axes.xaxis.set_minor_formatter(NullFormatter())


def draw_queries(inputs: Inputs, shown: Shown) -> tuple[Any, pd.DataFrame]:
    """Draw the queries of the first fold in the plane of their first two principal components, coloured by class.

    If the data have classes, a second panel measures what the paper reads from the picture: how many of a query's
    nearest neighbours have its class. Classes found by K-means of the vectors lie together by construction.
    """
    queries, classes = load_queries(inputs.path("queries")), inputs.table("classes", CLASSES_SHAPE)
    kinds = classes.column("class").to_numpy(zero_copy_only=False)
    origin = classes.column("origin")[0].as_py().partition(";")[0]
    plane, explained = principal_plane(queries.vectors, queries.is_train)
    table = pd.DataFrame({"query_id": queries.query_id, "role": queries.role, "class": kinds})
    table["component_1"], table["component_2"] = plane[:, 0], plane[:, 1]
    figure: Any
    if K_MEANS in origin:
        figure, axes = new_figure(height=4.2)
    else:
        figure, (axes, right) = new_figure(1, 2, height=3.9)
        _, share, chance = type_share(queries, load_neighbours(inputs.path("neighbours"))[1], kinds)
        table["same_class_among_first_k"], table["chance"] = pd.Series(share.mean(axis=0)), chance.mean()
        _draw_locality(right, share.mean(axis=0), float(chance.mean()))
    _draw_plane(axes, plane, kinds, explained)
    figure.suptitle(f"{shown.title}: queries by class ({origin})", fontsize="medium")
    return figure, table


def _draw_plane(axes: Any, plane: FloatArray, kinds: NDArray[np.object_], explained: FloatArray) -> None:
    for i, kind in enumerate(sorted({kind for kind in kinds if kind is not None})):
        of_kind = kinds == kind
        look = {"c": COLOURS[i % len(COLOURS)], "marker": MARKERS[i % len(MARKERS)]}
        axes.scatter(*plane[of_kind].T, s=9, alpha=0.6, linewidths=0, label=kind, **look)
    names = [f"component {i + 1} ({share:.0%} of variance)" for i, share in enumerate(explained)]
    stretched = [
        _fit(scale, column) for scale, column in ((axes.set_xscale, plane[:, 0]), (axes.set_yscale, plane[:, 1]))
    ]
    names = [f"{name}{', asinh scale' if far else ''}" for name, far in zip(names, stretched, strict=False)]
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3, fontsize="small", markerscale=2)
    label_axes(axes, names[0], names[-1])


def _fit(set_scale: Any, column: FloatArray) -> bool:
    """Choose a scale that shows all points: if a few lie far out, one that is linear only near 0."""
    low, high = np.quantile(column, [0.02, 0.98])
    width = max(high - low, 1e-9)
    far = bool(np.ptp(column) > 3 * width)
    if far:
        set_scale("asinh", linear_width=width / 4)
    return far


def _draw_locality(axes: Any, share: FloatArray, chance: float) -> None:
    axes.plot(np.arange(1, len(share) + 1), share, color=COLOURS[0], label="k nearest training queries")
    axes.axhline(chance, color="black", linestyle="--", label="chance")
    axes.set_xscale("log")
    axes.set_ylim(0, 1)
    axes.legend()
    label_axes(axes, "number of neighbours k", "share with the class of the test query")

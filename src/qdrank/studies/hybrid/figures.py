"""The four figures: methods, measure against the weight, oracle beside noise, learning curve."""

from __future__ import annotations

from textwrap import fill
from typing import Any

import numpy as np
import pandas as pd

from qdrank.figures.numbers import chosen, numbers, where
from qdrank.figures.palette import BLACK, BLUE, GREY, ORANGE, VERMILION, Look
from qdrank.figures.pictures import curves, forest, forests, label_rows, legend, lines
from qdrank.figures.style import label_axes, new_figure, say_instead
from qdrank.studies.hybrid.methods import BY_NAME, CONTROLS, FIXED, GROUPS, LEARNED, MEASURE, METHODS, MOST_RUNS
from qdrank.studies.hybrid.tables import gathered_values, oracle_numbers
from qdrank.studies.making import Inputs, Shown

_NAME = "NDCG@10/linear"
#: Thirds of the queries by the margin of a run.
_GROUPS = {"all": Look("all", "all queries", BLACK, "")} | {
    name: Look(name, f"margin {name}", colour, "") for name, colour in zip(GROUPS, (ORANGE, GREY, BLUE), strict=True)
}


def draw_methods(inputs: Inputs, shown: Shown) -> tuple[Any, pd.DataFrame]:
    """Every method and its difference from tuned fixed weights, with its control's below it."""
    values = gathered_values(inputs)
    names = [name for method in METHODS for name in (method.name, CONTROLS.get(method.name)) if name]
    rows = numbers(chosen(values, names), ["method"], MEASURE, shown.interval, against={"method": FIXED}, means=False)
    controls = set(CONTROLS.values())
    labels = [("control: " if name in controls else "") + BY_NAME[name].label for name in rows["method"]]
    title = f"{shown.title}: weights per query against fixed weights"
    difference = f"from fixed weights, {shown.interval['level']:.0%}"
    return forests(rows, BY_NAME, title, mean=_NAME, difference=difference, labels=labels), rows


def draw_weights(inputs: Inputs, shown: Shown) -> tuple[Any, pd.DataFrame]:
    """Mean measure against the weight of a run, for thirds of the queries by the run's margin; a panel for each run."""
    values = inputs.frame("values", "values").rename(columns={"method": "run", "x": "weight"})
    values["run"] = values["run"].str.removeprefix("run ")
    runs = most_weighted(values)
    of_runs = chosen(values.dropna(subset="tuned"), runs, "run")
    groups = pd.concat([of_runs.assign(group="all"), chosen(of_runs, GROUPS, "group")])
    rows = numbers(groups, ["run", "group", "weight"], MEASURE, shown.interval, apart=["run", "group"])
    figure, panels = new_figure(1, len(runs), height=3.0, sharey=True, squeeze=False)
    for axes, run in zip(panels[0], runs, strict=True):
        lines(axes, where(rows, run=run), "weight", _GROUPS, ends="", by="group", band=True)
        axes.axvline(where(of_runs, run=run)["tuned"].mean(), color=BLACK, linewidth=0.8, linestyle=":")
        axes.set_title(fill(run, 22), fontsize="small")
        label_axes(axes, "weight", _NAME if run == runs[0] else "")
    legend(figure)
    figure.suptitle(f"{shown.title}: measure against the weight of a run (dotted: tuned)", fontsize="medium")
    return figure, rows


def most_weighted(values: pd.DataFrame) -> list[str]:
    """Up to four runs, in order: those that most folds weight highest; the tuned weight decides between equals."""
    weighted = values.groupby("run")["tuned"].agg(["count", "sum"]).sort_values(["count", "sum"], ascending=False)
    most = set(weighted.index[weighted["count"] > 0][:MOST_RUNS])
    return [run for run in values["run"].unique() if run in most]


def draw_oracle(inputs: Inputs, shown: Shown) -> tuple[Any, pd.DataFrame]:
    """Gain of the oracle beside what choosing among noise gains (left), and how far the rankings are apart (right)."""
    rows = oracle_numbers(inputs, shown.interval)
    figure, (left, right) = new_figure(1, 2, height=3.2, sharey=True, width_ratios=[1.6, 1])
    colours = [BLACK, VERMILION, *[GREY] * (len(rows) - 2)]
    looks = {name: Look(name, name, colour, "o") for name, colour in zip(rows["method"], colours, strict=True)}
    forest(left, rows, looks, "gain", "")
    forest(right, rows, looks, "from tuned", None)
    right.scatter(rows["between two"], -np.arange(len(rows)), c=colours, marker="x")
    label_rows(left, list(rows["method"]))
    label_axes(left, "gain on fixed weights, NDCG@10", "")
    label_axes(right, "from tuned (o), of two (x)", "")
    figure.suptitle(f"{shown.title}: choosing by the judgments, among weights and among noise", fontsize="medium")
    return figure, rows


def draw_learning(inputs: Inputs, shown: Shown) -> tuple[Any, pd.DataFrame]:
    """Difference from fixed weights tuned on as many judged queries, by their number; mean of the draws."""
    values = chosen(inputs.frame("values", "values"), LEARNED).rename(columns={"x": "size"}).astype({"size": int})
    along = values.groupby(["method", "size", "query_id"], sort=False, observed=True)[[MEASURE]].mean().reset_index()
    along = along.sort_values("size", key=lambda size: size.replace(0, np.inf), kind="stable")
    by, against = ["method", "size"], {"method": FIXED}
    rows = numbers(along, by, MEASURE, shown.interval, against=against, apart=["size"], means=False)
    title = f"{shown.title}: number of judged queries"
    if rows["size"].nunique() < 2:
        return say_instead(title, "There are fewer judged queries than the smallest number of the curve."), rows
    words = {"axis": "judged queries", "mean": _NAME, "difference": "difference from fixed weights", "base": FIXED}
    return curves(rows, "size", BY_NAME, title, **words), rows

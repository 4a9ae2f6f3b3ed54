"""The four figures: methods, measure against the weight, oracle beside noise, learning curve."""

from __future__ import annotations

from collections.abc import Mapping
from textwrap import fill
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from qdrank.evaluation.intervals import column_intervals
from qdrank.evaluation.pairs import differences_by_fit
from qdrank.evaluation.refits import column_ends
from qdrank.figures.palette import BLACK, BLUE, GREY, ORANGE, VERMILION
from qdrank.figures.style import label_axes, new_figure, say_instead
from qdrank.layout import FloatArray
from qdrank.studies.hybrid.methods import BY_NAME, CONTROLS, FIXED, METHODS
from qdrank.studies.hybrid.shown import DECLARED, GROUPS, LEARNED, MOST_RUNS, SENSITIVITY
from qdrank.studies.hybrid.values import by_query, gathered_values, known
from qdrank.studies.making import Inputs, Shown

_NAME = "NDCG@10/linear"


def _with_intervals(columns: FloatArray, interval: Mapping[str, Any]) -> tuple[FloatArray, FloatArray, FloatArray]:
    low, high = column_intervals(columns, **interval)
    return columns.mean(axis=0), low, high


def _bars(rows: list[dict[str, Any]], middle: str) -> FloatArray:
    return np.array([[row[middle] - row["low"], row["high"] - row[middle]] for row in rows]).T.clip(0)


# ---- methods -------------------------------------------------------------------------------------------------------


def draw_methods(inputs: Inputs, shown: Shown) -> tuple[Any, pa.Table]:
    """Difference of every method from tuned fixed weights, with its control's below it."""
    values = gathered_values(inputs)
    rows: list[dict[str, Any]] = []
    for name in known([method.name for method in METHODS], values):
        rows.append({"method": name, "shown": BY_NAME[name].label, "control": False})
        if CONTROLS.get(name) in values.of:
            rows.append({"method": CONTROLS[name], "shown": CONTROLS[name], "control": True})
    apart = differences_by_fit([(values.of[row["method"]], values.of[FIXED]) for row in rows])
    means, (lows, highs) = apart.mean(axis=(0, 1)), column_ends(apart, **shown.interval)
    for i, row in enumerate(rows):
        mean = float(values.of[row["method"]].mean())
        row |= {"mean": mean, "difference": float(means[i]), "low": float(lows[i]), "high": float(highs[i])}
    figure, axes = new_figure(height=0.24 * len(rows) + 1.2)
    places = np.arange(len(rows))[::-1]
    for place, row in zip(places, rows, strict=True):
        look = BY_NAME.get(row["method"])
        axes.errorbar(
            [row["difference"]],
            [place],
            xerr=_bars([row], "difference"),
            color=GREY if look is None else look.colour,
            marker="." if look is None else look.marker,
            elinewidth=1,
        )
    labels = [f"{'control: ' if row['control'] else ''}{row['shown']} ({row['mean']:.3f})" for row in rows]
    axes.set_yticks(places, labels, fontsize=6.5)
    axes.axvline(0, color=BLACK, linewidth=0.8)
    label_axes(axes, f"difference in {_NAME}, {shown.interval['level']:.0%} interval", "")
    figure.suptitle(f"{shown.title}: weights per query against fixed weights", fontsize="medium")
    return figure, pa.Table.from_pylist(rows)


# ---- measure against the weight ------------------------------------------------------------------------------------


def draw_weights(inputs: Inputs, shown: Shown) -> tuple[Any, pa.Table]:
    """Mean measure against the weight of a run, for thirds of the queries by the run's margin; a panel for each run."""
    table = inputs.table("weights", "figure")
    tags = run_tags(inputs)
    runs = most_weighted(table)
    figure, panels = new_figure(1, len(runs), height=3.0, sharey=True, squeeze=False)
    looks = dict(zip(("all", *GROUPS), (BLACK, ORANGE, GREY, BLUE), strict=True))
    rows: list[dict[str, Any]] = []
    for axes, run in zip(panels[0], runs, strict=True):
        of_run = table.filter(pc.equal(table.column("run"), run))
        for group, colour in looks.items():
            part = of_run if group == "all" else of_run.filter(pc.equal(of_run.column("group"), group))
            if not len(part):
                continue
            made = _group_rows(part, tags[run], group, shown.interval)
            x, y = (np.array([row[name] for row in made]) for name in ("weight", "mean"))
            axes.plot(x, y, color=colour, label=f"margin {group}" if group != "all" else "all queries")
            axes.fill_between(x, [r["low"] for r in made], [r["high"] for r in made], color=colour, alpha=0.12, lw=0)
            rows += made
        tuned = float(np.mean(of_run.column("tuned").to_numpy()))
        axes.axvline(tuned, color=BLACK, linewidth=0.8, linestyle=":")
        axes.set_title(fill(tags[run], 22), fontsize="small")
        label_axes(axes, "weight", _NAME if axes is panels[0][0] else "")
    figure.legend(*panels[0][0].get_legend_handles_labels(), ncols=4, loc="outside lower center", fontsize="small")
    figure.suptitle(f"{shown.title}: measure against the weight of a run (dotted: tuned)", fontsize="medium")
    return figure, pa.Table.from_pylist(rows)


def most_weighted(table: pa.Table) -> list[int]:
    """Up to four runs, in order: those that most folds weight highest; the tuned weight decides between equals."""
    run, tuned = table.column("run").to_numpy(), table.column("tuned").to_numpy()
    rows, total = np.bincount(run), np.bincount(run, tuned)
    order = np.lexsort((-total, -rows))
    return sorted(int(one) for one in order[:MOST_RUNS] if rows[one])


def run_tags(inputs: Inputs) -> list[str]:
    """Tags of the runs, in the order of their columns."""
    names = inputs.table("columns", "columns").column("name").to_pylist()
    return [name.removeprefix("min-max of ") for name in names if name.startswith("min-max of ")]


def _group_rows(part: pa.Table, tag: str, group: str, interval: Mapping[str, Any]) -> list[dict[str, Any]]:
    weights = sorted(set(part.column("weight").to_pylist()))
    ids = np.array(sorted(set(part.column("query_id").to_pylist())), dtype=object)
    columns = by_query(part, "weight", ids)
    matrix = np.stack([columns[weight] for weight in weights], axis=1)
    means, lows, highs = _with_intervals(matrix, interval)
    shared = {"run": tag, "group": group, "queries": len(ids)}
    return [
        {**shared, "weight": float(w), "mean": float(m), "low": float(a), "high": float(b)}
        for w, m, a, b in zip(weights, means, lows, highs, strict=True)
    ]


# ---- oracle --------------------------------------------------------------------------------------------------------


def oracle_numbers(table: pa.Table, interval: Mapping[str, Any]) -> pa.Table:
    """Gains on the tuned ranking of the oracle and of each form of noise oracle, with intervals and distances."""
    ids = np.array(sorted(set(table.column("query_id").to_pylist())), dtype=object)
    of = {
        name: by_query(table, "form", ids, name)
        for name in ("tuned", "oracle", "noise", "distance", "noise distance", "between", "noise between")
    }
    first = DECLARED.text
    gains = {"oracle over the weights": of["oracle"][first] - of["tuned"][first]}
    gains |= {
        f"noise: {form.text}": of["noise"][form.text] - of["tuned"][form.text] for form in (DECLARED, *SENSITIVITY)
    }
    means, lows, highs = _with_intervals(np.stack(list(gains.values()), axis=1), interval)
    rows = []
    for i, name in enumerate(gains):
        form, prefix = (first, "") if i == 0 else (name.removeprefix("noise: "), "noise ")
        row: dict[str, Any] = {"over": name, "gain": float(means[i]), "low": float(lows[i]), "high": float(highs[i])}
        row |= {"from tuned": float(of[f"{prefix}distance"][form].mean())}
        rows.append(row | {"between two": float(of[f"{prefix}between"][form].mean()), "queries": len(ids)})
    return pa.Table.from_pylist(rows)


def draw_oracle(inputs: Inputs, shown: Shown) -> tuple[Any, pa.Table]:
    """Gain of the oracle beside what choosing among noise gains (left), and how far the rankings are apart (right)."""
    table = oracle_numbers(inputs.table("oracle", "figure"), shown.interval)
    rows = table.to_pylist()
    figure, panels = new_figure(1, 2, height=3.2, sharey=True, width_ratios=[1.6, 1])
    places = np.arange(len(rows))[::-1]
    for place, row in zip(places, rows, strict=True):
        colour = BLACK if place == places[0] else VERMILION if place == places[1] else GREY
        panels[0].errorbar([row["gain"]], [place], xerr=_bars([row], "gain"), color=colour, marker="o", elinewidth=1)
        panels[1].plot([row["from tuned"]], [place], color=colour, marker="o", linestyle="none")
        panels[1].plot([row["between two"]], [place], color=colour, marker="x", linestyle="none")
    panels[0].axvline(0, color=BLACK, linewidth=0.8)
    panels[0].set_yticks(places, [fill(row["over"], 26) for row in rows], fontsize=7)
    label_axes(panels[0], f"gain on tuned fixed weights, {_NAME}", "")
    label_axes(panels[1], "from tuned (o), of two (x)", "")
    figure.suptitle(f"{shown.title}: choosing by the judgments, among weights and among noise", fontsize="medium")
    return figure, table


# ---- learning curve ------------------------------------------------------------------------------------------------


def draw_learning(inputs: Inputs, shown: Shown) -> tuple[Any, pa.Table]:
    """Difference from fixed weights tuned on as many judged queries, by their number."""
    table = learning_numbers(inputs.table("learning", "figure"), shown.interval)
    title = f"{shown.title}: number of judged queries"
    rows = table.to_pylist()
    sizes = list(dict.fromkeys(row["size"] for row in rows))
    if len(sizes) < 2:
        return say_instead(title, "There are fewer judged queries than the smallest number of the curve."), table
    figure, panels = new_figure(1, 2, height=3.2)
    for shift, method in enumerate(LEARNED):
        of_method, look = [row for row in rows if row["method"] == method], BY_NAME[method]
        places = np.arange(len(of_method))
        panels[0].plot(places, [row["mean"] for row in of_method], **look.marked)
        if method != FIXED:
            middle = [row["difference"] for row in of_method]
            panels[1].errorbar(
                places + 0.06 * (shift - 1.5), middle, _bars(of_method, "difference"), elinewidth=0.8, **look.marked
            )
    panels[1].axhline(0, color=BLACK, linewidth=0.8)
    for axes in panels:
        axes.set_xticks(np.arange(len(sizes)), ["all" if size == 0 else str(size) for size in sizes])
    label_axes(panels[0], "judged queries", _NAME)
    label_axes(panels[1], "judged queries", "difference from fixed weights")
    figure.legend(*panels[0].get_legend_handles_labels(), ncols=3, loc="outside lower center", fontsize="small")
    figure.suptitle(title, fontsize="medium")
    return figure, table


def learning_numbers(table: pa.Table, interval: Mapping[str, Any]) -> pa.Table:
    """Mean by method and number of judged queries (0: all), and the difference from fixed weights, mean of the draws."""
    ids = np.array(sorted(set(table.column("query_id").to_pylist())), dtype=object)
    sizes = sorted(set(table.column("size").to_pylist()), key=lambda size: (size == 0, size))
    rows = []
    for size in sizes:
        of_size = table.filter(pc.equal(table.column("size"), size))
        draws = sorted(set(of_size.column("draw").to_pylist()))
        each = [by_query(of_size.filter(pc.equal(of_size.column("draw"), draw)), "method", ids) for draw in draws]
        mean = {method: np.mean([one[method] for one in each], axis=0) for method in LEARNED}
        apart = np.stack([mean[method] - mean[FIXED] for method in LEARNED], axis=1)
        kept = np.isfinite(apart).all(axis=1)
        means, lows, highs = _with_intervals(apart[kept], interval)
        for i, method in enumerate(LEARNED):
            row: dict[str, Any] = {"method": method, "size": int(size), "mean": float(mean[method][kept].mean())}
            rows.append(row | {"difference": float(means[i]), "low": float(lows[i]), "high": float(highs[i])})
    return pa.Table.from_pylist(rows)

"""Figures 2 to 4 of Lin 2011.

Figure 2 is MAP against the number of clusters, with the oracles and the controls of the upper bound; Figure 3 the mean average
precision of the j-th best local model of each query, and where RankSVM stands; Figure 4 queries by their number of relevant
documents, and the classes of difficulty.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from qdrank.datasets.judged import load_judged
from qdrank.evaluation.difficulty import NONE, OTHER, Difficulty, difficulty
from qdrank.evaluation.pairs import fit_values
from qdrank.evaluation.refits import column_ends
from qdrank.figures.palette import BLACK, BLUE, GREEN, GREY, ORANGE, VERMILION
from qdrank.figures.style import label_axes, new_figure
from qdrank.layout import FloatArray
from qdrank.studies.lin2011.methods import BY_NAME, ORACLES, PAPER, RANKSVM
from qdrank.studies.lin2011.observations import as_fits, mean_ranked
from qdrank.studies.making import Inputs, Shown

UPPER = tuple(method.name for method in ORACLES if method.name.startswith("upper-bound"))
LOWER = (*PAPER, *(f"{name}-random" for name in PAPER), "relevant-only")


def cluster_numbers(curve: pa.Table, interval: Mapping[str, Any]) -> pa.Table:
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


def draw_clusters(inputs: Inputs, shown: Shown) -> tuple[Any, pa.Table]:
    """Draw the oracles above and the methods below, each panel with its own scale; bands are the range of the seeds."""
    table = cluster_numbers(inputs.table("curve", "figure"), shown.interval)
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
        axes.plot(m, mean, **BY_NAME[method].marked | {"linestyle": ":" if "random" in method else "-"})
        axes.fill_between(m, low, high, color=BY_NAME[method].colour, alpha=0.12, linewidth=0)
    axes.set_xscale("log")
    ticks = [row["m"] for row in single]
    axes.set_xticks(ticks, [str(m) for m in ticks])
    axes.minorticks_off()


#: Kinds of models: label, colour, line.
LINES = {
    "local": ("local models", BLUE, "-"),
    "local-perturbed": ("RankSVM perturbed at random, as good on average", ORANGE, "-"),
    "local-random": ("models of random clusters", GREY, ":"),
}


def place_of(means: FloatArray, value: float) -> float:
    """Place of ``value`` among falling ``means`` (m,), counted from 1, between two of them by interpolation."""
    return float(np.interp(-value, -means, np.arange(1, len(means) + 1)))


def place_numbers(ranked: pa.Table) -> pa.Table:
    """Mean over queries and seeds for every place and kind of model, RankSVM's mean, and its place."""
    present = set(ranked.column("models").to_pylist())
    rows = []
    for kind in (kind for kind in LINES if kind in present):
        _, best, single = mean_ranked(ranked, kind)
        means = best.mean(axis=0)
        head = {
            "models": kind,
            "single": float(single.mean()),
            "place_of_single": place_of(means, float(single.mean())),
        }
        head |= {"mean_of_models": float(means.mean())}
        rows += [{**head, "place": j + 1, "mean": float(mean)} for j, mean in enumerate(means)]
    return pa.Table.from_pylist(rows)


def _place(rows: Sequence[Mapping[str, Any]]) -> str:
    """Where RankSVM stands among the models, in words."""
    value, means = rows[0]["single"], [row["mean"] for row in rows]
    if value >= means[0]:
        return "above the best"
    return f"at place {rows[0]['place_of_single']:.0f}" if value > means[-1] else "below the worst"


def draw_places(inputs: Inputs, shown: Shown) -> tuple[Any, pa.Table]:
    """Draw a line per kind of model, and RankSVM."""
    table = place_numbers(inputs.table("ranked", "figure"))
    rows = table.to_pylist()
    figure, axes = new_figure(height=4.2)
    for kind in dict.fromkeys(row["models"] for row in rows):
        of_kind = [row for row in rows if row["models"] == kind]
        name, colour, line = LINES[kind]
        text = f"{name}: mean {of_kind[0]['mean_of_models']:.3f}, RankSVM {_place(of_kind)}"
        axes.plot(
            [row["place"] for row in of_kind],
            [row["mean"] for row in of_kind],
            color=colour,
            linestyle=line,
            label=text,
        )
    axes.axhline(rows[0]["single"], color=BLACK, linestyle="--", label=f"RankSVM: {rows[0]['single']:.3f}")
    local = [row for row in rows if row["models"] == "local"]
    if local[-1]["mean"] < local[0]["single"] < local[0]["mean"]:
        axes.plot(local[0]["place_of_single"], local[0]["single"], color=BLACK, marker="o", linestyle="none")
    figure.legend(fontsize="small", loc="outside lower center")
    count = max(row["place"] for row in rows)
    label_axes(
        axes,
        f"place j among the {count} models of a query, best first",
        "mean AP of the j-th best",
        f"{shown.title}: local models of a query, sorted by AP",
    )
    return figure, table


_COLOURS = (VERMILION, ORANGE, GREEN, BLUE)
#: Numbers of relevant documents above this share one bar, so that the other bars can be told apart.
_MOST = 60


def difficulty_numbers(classes: Difficulty) -> pa.Table:
    """Number of queries for every number of relevant documents, with the class it falls into."""
    counts = np.bincount(classes.relevant)
    name = {int(r): str(n) for r, n in zip(classes.relevant, classes.name, strict=True)}
    held = np.flatnonzero(counts)
    return pa.table({"relevant": held, "queries": counts[held], "class": [name[int(r)] for r in held]})


def draw_difficulty(inputs: Inputs, shown: Shown) -> tuple[Any, pa.Table]:
    """Draw a bar per number of relevant documents, in the colour of its class."""
    classes = difficulty(load_judged(inputs.path("judged"), []), shown.options["classes"])
    table = difficulty_numbers(classes)
    figure, axes = new_figure(height=3.2)
    relevant, queries = (table.column(name).to_numpy() for name in ("relevant", "queries"))
    class_of = np.array(table.column("class").to_pylist(), dtype=object)
    place, total = np.minimum(relevant, _MOST), len(classes.relevant)
    colours = {NONE: GREY, OTHER: GREY} | dict(zip(classes.bounds, _COLOURS, strict=False))
    for name in classes.present:
        n = int(queries[class_of == name].sum())
        text = f"{name} ({classes.meaning(name)}): {n}, {n / total:.0%}"
        heights = np.bincount(place[class_of == name], weights=queries[class_of == name], minlength=_MOST + 1)
        axes.bar(np.arange(len(heights)), heights, color=colours.get(name, BLUE), width=0.9, label=text)
    last = int(place.max())
    axes.set_xlim(-1, last + 1)
    if relevant.max() > _MOST:
        axes.text(
            _MOST - 1,
            axes.get_ylim()[1] * 0.3,
            f"{_MOST} or more",
            rotation=90,
            ha="right",
            va="bottom",
            fontsize="small",
        )
    axes.legend(fontsize="small")
    label_axes(
        axes, "relevant documents of a query", "queries", f"{shown.title}: queries by number of relevant documents"
    )
    return figure, table

"""Figures 2 to 4 of Lin 2011.

Figure 2 is MAP against the number of clusters, with the oracles and the controls of the upper bound; Figure 3 the mean average
precision of the j-th best local model of each query, and where RankSVM stands; Figure 4 queries by their number of relevant
documents, and the classes of difficulty.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from qdrank.datasets.judged import load_judged
from qdrank.evaluation.difficulty import NONE, OTHER, Difficulty, difficulty
from qdrank.figures.numbers import chosen, numbers, where
from qdrank.figures.palette import BLACK, BLUE, GREEN, GREY, ORANGE, VERMILION, Look
from qdrank.figures.pictures import legend, lines
from qdrank.figures.style import label_axes, new_figure
from qdrank.studies.lin2011.methods import BY_NAME, ORACLES, PAPER, RANKSVM
from qdrank.studies.making import Inputs, Shown

UPPER = tuple(method.name for method in ORACLES if method.name.startswith("upper-bound"))
LOWER = (*PAPER, *(f"{name}-random" for name in PAPER), "relevant-only")


def cluster_numbers(values: pd.DataFrame, interval: Mapping[str, Any]) -> pd.DataFrame:
    """Mean over queries and seeds, the lowest and highest seed, and the interval of the difference from RankSVM."""
    values = chosen(
        values.dropna(subset="x").astype({"x": int}).rename(columns={"x": "m"}).sort_values("m"),
        [RANKSVM, *LOWER, *UPPER],
    )
    by, against = ["m", "method"], {"method": RANKSVM}
    rows = numbers(values, by, "ap", interval, against=against, apart=["m"], means=False)
    seeds = values.groupby([*by, "fit"])["ap"].mean().groupby(by).agg(["min", "max", "size"])
    seeds = seeds.set_axis(["seed_least", "seed_most", "seeds"], axis=1).reset_index()
    return rows.merge(seeds, on=by, validate="one_to_one")


def draw_clusters(inputs: Inputs, shown: Shown) -> tuple[Any, pd.DataFrame]:
    """Draw the oracles above and the methods below, each panel with its own scale; bands are the range of the seeds."""
    rows = cluster_numbers(inputs.frame("values", "values"), shown.interval)
    figure, panels = new_figure(2, 1, height=6.2, sharex=True)
    titles = (f"{shown.title}: the best of all local models for each query, an oracle", "methods, and RelevantOnly")
    ranges = rows.rename(columns={"seed_least": "low", "seed_most": "high"})
    for axes, methods, title in zip(panels, (UPPER, LOWER), titles, strict=True):
        axes.axhline(where(rows, method=RANKSVM)["mean"].iloc[0], color=BLACK, linestyle="--", label="RankSVM")
        lines(axes, chosen(ranges, methods), "m", BY_NAME, ends="", band=True)
        label_axes(axes, "", "MAP", title)
    ms = rows["m"].unique()
    panels[1].set_xscale("log")
    panels[1].set_xticks(ms, [str(m) for m in ms])
    panels[1].set_xticks([], minor=True)
    panels[1].set_xlabel("number of clusters")
    legend(figure)
    return figure, rows


#: Kinds of models: label, colour, line.
LINES = {
    "local": ("local models", BLUE, "-"),
    "local-perturbed": ("RankSVM perturbed at random, as good on average", ORANGE, "-"),
    "local-random": ("models of random clusters", GREY, ":"),
}


def place_of(means: Any, value: float) -> float:
    """Place of ``value`` among falling ``means`` (m,), counted from 1, between two of them by interpolation."""
    return float(np.interp(-value, -np.asarray(means), np.arange(1, len(means) + 1)))


def place_numbers(ranked: pd.DataFrame) -> pd.DataFrame:
    """Mean over queries and seeds for every place and kind of model, RankSVM's mean, and its place."""
    parts = []
    for kind, of in chosen(ranked, LINES, "models").groupby("models", sort=False):
        means = np.mean(np.stack(list(of["ap"])), axis=0)
        single = of["single"].mean()
        head = {"models": kind, "single": single, "place_of_single": place_of(means, single)}
        head |= {"mean_of_models": means.mean()}
        parts.append(pd.DataFrame({**head, "place": range(1, len(means) + 1), "mean": means}))
    return pd.concat(parts)


def _look(of_kind: pd.DataFrame) -> Look:
    """How the line of a kind looks; its label says where RankSVM stands among the models."""
    first, (name, colour, line) = of_kind.iloc[0], LINES[of_kind["models"].iloc[0]]
    at = f"at place {first['place_of_single']:.0f}"
    at = "above the best" if first["single"] >= first["mean"] else at
    at = "below the worst" if first["single"] <= of_kind["mean"].iloc[-1] else at
    return Look(name, f"{name}: mean {first['mean_of_models']:.3f}, RankSVM {at}", colour, "", line)


def draw_places(inputs: Inputs, shown: Shown) -> tuple[Any, pd.DataFrame]:
    """Draw a line per kind of model, and RankSVM."""
    rows = place_numbers(inputs.frame("ranked", "figure"))
    figure, axes = new_figure(height=4.2)
    looks = {str(kind): _look(of) for kind, of in rows.groupby("models", sort=False)}
    lines(axes, rows, "place", looks, by="models")
    local = where(rows, models="local")
    single, place = local["single"].iloc[0], local["place_of_single"].iloc[0]
    axes.axhline(single, color=BLACK, linestyle="--", label=f"RankSVM: {single:.3f}")
    if local["mean"].iloc[-1] < single < local["mean"].iloc[0]:
        axes.plot(place, single, color=BLACK, marker="o", linestyle="none")
    legend(figure)
    title = f"{shown.title}: local models of a query, sorted by AP"
    count = rows["place"].max()
    label_axes(axes, f"place j among the {count} models of a query, best first", "mean AP of the j-th best", title)
    return figure, rows


_COLOURS = (VERMILION, ORANGE, GREEN, BLUE)
#: Numbers of relevant documents above this share one bar, so that the other bars can be told apart.
_MOST = 60


def difficulty_numbers(classes: Difficulty) -> pd.DataFrame:
    """Number of queries for every number of relevant documents, with the class it falls into."""
    of = pd.DataFrame({"relevant": classes.relevant, "class": classes.name}).groupby("relevant")["class"]
    return of.agg(["size", "first"]).set_axis(["queries", "class"], axis=1).reset_index()


def draw_difficulty(inputs: Inputs, shown: Shown) -> tuple[Any, pd.DataFrame]:
    """Draw a bar per number of relevant documents, in the colour of its class."""
    classes = difficulty(load_judged(inputs.path("judged"), []), shown.options["classes"])
    rows = difficulty_numbers(classes)
    figure, axes = new_figure(height=3.2)
    colours = {NONE: GREY, OTHER: GREY} | dict(zip(classes.bounds, _COLOURS, strict=False))
    for name in classes.present:
        of = where(rows, **{"class": name})
        bars = of.groupby(of["relevant"].clip(upper=_MOST))["queries"].sum()
        n = bars.sum()
        text = f"{name} ({classes.meaning(name)}): {n}, {n / rows['queries'].sum():.0%}"
        axes.bar(bars.index, bars, color=colours.get(name, BLUE), width=0.9, label=text)
    axes.set_xlim(-1, min(rows["relevant"].max(), _MOST) + 1)
    if rows["relevant"].max() > _MOST:
        place = {"rotation": 90, "ha": "right", "va": "bottom", "fontsize": "small"}
        axes.text(_MOST - 1, axes.get_ylim()[1] * 0.3, f"{_MOST} or more", **place)
    axes.legend(fontsize="small")
    title = f"{shown.title}: queries by number of relevant documents"
    label_axes(axes, "relevant documents of a query", "queries", title)
    return figure, rows

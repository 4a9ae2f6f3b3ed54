"""Figures 1 to 3 of Hoi and Jin 2008, the learning curve and the weights of the rankers."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from qdrank.figures.numbers import ALONE, by_measure, chosen, numbers, where
from qdrank.figures.palette import BLACK, BLUE, SKY, VERMILION, Look
from qdrank.figures.pictures import around_mean, curves, forest, forests, label_rows, legend, lines
from qdrank.figures.style import label_axes, new_figure
from qdrank.rankers import FIRST_STAGES
from qdrank.studies.hoi2008.methods import BY_NAME, GAMMA, ON_CURVE, PAPER, STACKED_METHODS, TIES, with_ties
from qdrank.studies.hoi2008.shapes import ENSEMBLES_SHAPE
from qdrank.studies.making import Inputs, Shown

#: The paper's seven methods, then SER and SSER with ties in file order, ensembles of methods, and first stages.
_STACKED = [method.name for method in STACKED_METHODS]
_SHOWN = (*PAPER, "ser-file", "sser-file", *_STACKED, *FIRST_STAGES)
_TITLES = {"half": "tied pairs count 1/2", "file": "ties in file order"}
_OF_WEIGHTS = {"ser": "SER, one mark per fold", "sser": "SSER, test queries of a fold: mean, and 5 to 95 %"}
#: Curves along gamma: SSER, with C, theta and delta tuned, and without constant rankers; dashes where they may coincide.
_ALONG = {
    name: Look(name, BY_NAME[name].label, BY_NAME[name].colour, marker, line)
    for name, marker, line in (("sser", "o", "-"), ("sser-tuned", "", "--"), ("sser-varying", "", ":"))
}


def draw_methods(inputs: Inputs, shown: Shown) -> tuple[Any, pd.DataFrame]:
    """MAP with intervals, and the paired differences from SER."""
    values = by_measure(chosen(inputs.frame("measures", "measures"), _SHOWN), ["ap"])
    rows = numbers(values, ["method", "measure"], "value", shown.interval, against={"method": "ser"})
    title, level = f"{shown.title}: MAP of all methods", f"{shown.interval['level']:.0%}"
    return forests(
        rows, BY_NAME, title, mean=f"MAP, {level} interval", difference=f"difference from SER, {level}"
    ), rows


def draw_precision(inputs: Inputs, shown: Shown) -> tuple[Any, pd.DataFrame]:
    """Precision at ranks 1 to 10, and SSER minus every other method at ranks 1 and 2."""
    measured = chosen(inputs.frame("measures", "measures"), _SHOWN)
    values = by_measure(measured, [f"p@{k}/letor4" for k in range(1, 11)])
    by, interval = ["method", "measure"], shown.interval
    rows = numbers(values, by, "value", interval, against={"method": "ser"})
    figure, (left, right) = new_figure(1, 2, height=4.4, width_ratios=[3, 2])
    lines(left, rows[~rows["method"].isin(_STACKED)], "measure", BY_NAME, tick=lambda name: name[2:].partition("/")[0])
    label_axes(left, "rank k", "precision at k")
    parts = [rows]
    for i, (ties, k) in enumerate((ties, k) for ties in TIES for k in (1, 2)):
        sser = with_ties("sser", ties)
        of_rank = chosen(where(values, measure=f"p@{k}/letor4"), [*PAPER[:-2], with_ties("ser", ties), sser])
        gains = numbers(of_rank, by, "value", interval, against={"method": sser}, means=False)[:-1]
        gains = gains.rename(columns={"method": "against"} | ALONE).assign(method=sser).drop(columns="mean")
        gains[["difference", "low", "high"]] = -gains[["difference", "high", "low"]].to_numpy()
        look = Look("", f"gain at rank {k}, {_TITLES[ties]}", BLUE if ties == "half" else SKY, "os"[k - 1])
        forest(right, gains, look, ends="", shift=0.27 - 0.18 * i)
        parts.append(gains)
    label_rows(right, [BY_NAME[name].label for name in [*PAPER[:-2], "ser"] if name in set(rows["method"])])
    label_axes(right, f"SSER minus the other, {interval['level']:.0%}", "")
    figure.suptitle(f"{shown.title}: precision at ranks 1 to 10", fontsize="medium")
    legend(figure)
    return figure, pd.concat(parts)


def draw_gammas(inputs: Inputs, shown: Shown) -> tuple[Any, pd.DataFrame]:
    """One panel per rule for ties; a band is the interval of the difference from SER, laid around SER's value."""
    sweep = inputs.frame("values", "values").rename(columns={"x": "gamma"}).sort_values("gamma")
    values = chosen(sweep, [with_ties(name, ties) for ties in TIES for name in _ALONG])
    values = values.assign(ties=np.where(values["method"].str.endswith("-file"), "file", "half"))
    values = values.assign(method=values["method"].str.removesuffix("-file"))
    rows = numbers(values, ["ties", "method", "gamma"], "ap", shown.interval, against={"gamma": 0.0}, means=False)
    figure, panels = new_figure(1, 2, height=3.5, sharey=True)
    for axes, ties in zip(panels, TIES, strict=True):
        of_ties = around_mean(rows[rows["ties"] == ties])
        sser, gammas = of_ties["method"] == "sser", sorted(set(of_ties["gamma"]))
        lines(axes, of_ties[sser], "gamma", _ALONG, ends="", band=True, tick="{:g}".format)
        lines(axes, of_ties[~sser], "gamma", _ALONG, tick="{:g}".format)
        axes.axhline(of_ties["mean"].iloc[0], color=BLACK, linestyle="--", linewidth=0.8, label="SER (gamma = 0)")
        if GAMMA in gammas:
            axes.axvline(gammas.index(GAMMA), color="#999999", linewidth=0.8, linestyle=":")
        label_axes(axes, "gamma", "MAP" if ties == "half" else "", _TITLES[ties])
    figure.suptitle(f"{shown.title}: weight gamma of the query's own documents", fontsize="medium")
    legend(figure)
    return figure, rows


def draw_sizes(inputs: Inputs, shown: Shown) -> tuple[Any, pd.DataFrame]:
    """MAP of four methods by the number of training queries, mean over the repeats, and their paired differences from SER."""
    values = inputs.frame("curves", "values").rename(columns={"x": "size"}).astype({"size": int})
    along = values.groupby(["method", "size", "query_id"], sort=False, observed=True)[["ap"]].mean().reset_index()
    along = along.sort_values("size", key=lambda size: size.replace(0, np.inf), kind="stable")
    rows = numbers(chosen(along, ON_CURVE), ["method", "size"], "ap", shown.interval, against={"method": "ser"})
    words = {"axis": "training queries", "mean": "MAP"}
    words |= {"difference": f"difference from SER, {shown.interval['level']:.0%} interval", "base": "ser"}
    return curves(rows, "size", BY_NAME, f"{shown.title}: number of training queries", **words), rows


def weight_numbers(weights: pd.DataFrame, names: list[str], gamma: float) -> pd.DataFrame:
    """Share of each ranker in the sum of weights: for SER by fold, for SSER with the fixed gamma over the test queries.

    ``queries`` is the number of programs, ``used`` the share of them in which the ranker has weight.
    """
    parts = []
    for ties, fold in product(TIES, dict.fromkeys(weights["fold"])):
        for method, role, at in (("ser", "train", 0.0), ("sser", "test", gamma)):
            of = where(weights, fold=fold, method=with_ties(method, ties), role=role, gamma=at)
            W = np.stack(list(of["weights"]))
            share = W / np.maximum(W.sum(axis=1, keepdims=True), 1e-300)
            low, high = np.quantile(share, [0.05, 0.95], axis=0)
            columns = {"number": range(1, len(names) + 1), "ranker": names, "queries": len(W)}
            columns |= {"share": share.mean(axis=0), "low": low, "high": high, "used": (W > 0).mean(axis=0)}
            parts.append(pd.DataFrame({"ties": ties, "fold": fold, "method": method, **columns}))
    return pd.concat(parts)


def draw_weights(inputs: Inputs, shown: Shown) -> tuple[Any, pd.DataFrame]:
    """One panel per rule for ties: folds side by side, SSER as the 5 to 95 % range over the test queries."""
    names = inputs.frame("columns", "columns")["name"].tolist()
    of_folds = zip(shown.folds, inputs.tables("weights", ENSEMBLES_SHAPE), strict=True)
    weights = pd.concat([table.to_pandas().assign(fold=fold) for fold, table in of_folds])
    rows = weight_numbers(weights, names, GAMMA)
    figure, panels = new_figure(2, 1, height=6.4, sharex=True)
    width = 0.7 / len(shown.folds)
    for axes, ties in zip(panels, TIES, strict=True):
        for (i, fold), (method, words) in product(enumerate(shown.folds), _OF_WEIGHTS.items()):
            of, ser = where(rows, ties=ties, fold=fold, method=method), method == "ser"
            x = of["number"] - 1 + (i - (len(shown.folds) - 1) / 2) * width + (-width if ser else width) / 6
            look = {"color": VERMILION if ser else BLUE, "label": None if i else words}
            if not ser:
                axes.vlines(x, of["low"], of["high"], color=BLUE, linewidth=1)
            axes.plot(x, of["share"], "o" if ser else "_", markersize=2.5, **look)
        label_axes(axes, "", "share of all weights", f"{shown.title}: weights of the rankers, {_TITLES[ties]}")
    panels[1].set_xticks(np.arange(len(names)), names, rotation=90, fontsize=7 if len(names) < 30 else 5)
    legend(figure)
    return figure, rows

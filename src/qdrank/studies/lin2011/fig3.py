"""Figure 3 of Lin 2011: mean average precision of the j-th best local model of each query, and where RankSVM stands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from qdrank.figures.palette import BLACK, BLUE, GREY, ORANGE
from qdrank.figures.style import label_axes, new_figure
from qdrank.layout import FloatArray
from qdrank.studies.lin2011.observations import mean_ranked
from qdrank.studies.making import Inputs, Shown

#: Kinds of models: label, colour, line.
LINES = {
    "local": ("local models", BLUE, "-"),
    "local-perturbed": ("RankSVM perturbed at random, as good on average", ORANGE, "-"),
    "local-random": ("models of random clusters", GREY, ":"),
}


def place_of(means: FloatArray, value: float) -> float:
    """Place of ``value`` among falling ``means`` (m,), counted from 1, between two of them by interpolation."""
    return float(np.interp(-value, -means, np.arange(1, len(means) + 1)))


def numbers(ranked: pa.Table) -> pa.Table:
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


def draw(inputs: Inputs, shown: Shown) -> tuple[Any, pa.Table]:
    """Draw a line per kind of model, and RankSVM."""
    table = numbers(inputs.table("ranked", "figure"))
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

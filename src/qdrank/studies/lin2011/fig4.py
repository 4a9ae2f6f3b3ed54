"""Figure 4 of Lin 2011: queries by their number of relevant documents, and the classes of difficulty."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from qdrank.datasets.judged import load_judged
from qdrank.evaluation.difficulty import NONE, OTHER, Difficulty, difficulty
from qdrank.figures.palette import BLUE, GREEN, GREY, ORANGE, VERMILION
from qdrank.figures.style import label_axes, new_figure
from qdrank.studies.making import Inputs, Shown

_COLOURS = (VERMILION, ORANGE, GREEN, BLUE)
#: Numbers of relevant documents above this share one bar, so that the other bars can be told apart.
_MOST = 60


def numbers(classes: Difficulty) -> pa.Table:
    """Number of queries for every number of relevant documents, with the class it falls into."""
    counts = np.bincount(classes.relevant)
    name = {int(r): str(n) for r, n in zip(classes.relevant, classes.name, strict=True)}
    held = np.flatnonzero(counts)
    return pa.table({"relevant": held, "queries": counts[held], "class": [name[int(r)] for r in held]})


def draw(inputs: Inputs, shown: Shown) -> tuple[Any, pa.Table]:
    """Draw a bar per number of relevant documents, in the colour of its class."""
    classes = difficulty(load_judged(inputs.path("judged"), []), shown.options["classes"])
    table = numbers(classes)
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

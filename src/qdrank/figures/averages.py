"""One figure a study: the effect that its main claim is about on every independent set, and their average last."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
import pyarrow as pa

from qdrank.evaluation.deciding import QUERIES, SETS, SOURCES, independent, pooled_contrasts
from qdrank.evaluation.declared import Rules
from qdrank.figures.palette import BLUE, GREY, VERMILION, Look
from qdrank.figures.pictures import forest, height_of, label_rows, legend
from qdrank.figures.style import label_axes, new_figure, save_figure, say_instead
from qdrank.store import read

_LOOKS = {"set": Look("set", "a set", BLUE, "o"), "average": Look("average", "their average", VERMILION, "D")}


def has_average(verdicts: pa.Table, study: str, claim: str) -> bool:
    """Whether a claim was decided on enough sets for an average."""
    return any((row["study"], row["claim"], row["analysis"]) == (study, claim, SETS) for row in verdicts.to_pylist())


def forest_of_sets(verdicts: pa.Table, study: str, claim: str, titles: Mapping[str, str]) -> Any:
    """The effect on each set and the average with that of a new set, at the level of the claim; ``titles`` of data sets by name."""
    rows = [row for row in verdicts.to_pylist() if (row["study"], row["claim"]) == (study, claim)]
    average = next((row for row in rows if row["analysis"] == SETS), None)
    if average is None:
        return say_instead(f"{study}: {claim}", f"an average needs {Rules().sets} independent sets")
    sets = independent(rows)
    drawn = pd.DataFrame([*sets, average]).assign(method=["set"] * len(sets) + ["average"])
    drawn = drawn.assign(open=drawn["low"].isna()).astype({"low": float, "high": float})
    figure, axes = new_figure(height=height_of(len(drawn)) + 0.6)
    forest(axes, drawn, _LOOKS, "effect", "")
    low, high = next(iter(pooled_contrasts(rows, Rules()).values())).new_set(average["level"])
    axes.hlines(-len(sets), low, high, color=VERMILION, linestyle=":", label="a new set")
    margins: dict[float, str | None] = {average["margin"]: f"margin {average['margin']:g}"}
    margins |= {-average["margin"]: None} if average["kind"] == "equivalence" else {}
    for margin, said in margins.items():
        axes.axvline(margin, color=GREY, linestyle="--", linewidth=0.8, label=said)
    units = {QUERIES: "queries", SOURCES: "sources"}
    names = [f"{titles.get(row['dataset'], row['dataset'])}, {row['n']:,} {units[row['analysis']]}" for row in sets]
    label_rows(axes, [*names, f"average of {len(sets)} sets"])
    level = f"intervals at {100 * (1 - average['level']):.4g} %"
    label_axes(axes, f"effect ({average['unit']}), {level}{_unguarded(drawn)}", "")
    axes.set_title(f"{average['paper']}: {average['text']}: {average['verdict']}")
    legend(figure)
    return figure


def _unguarded(drawn: pd.DataFrame) -> str:
    return "; open: too little to judge" if drawn["open"].any() else ""


def draw_average(
    files: Mapping[str, str], out: Mapping[str, str], *, study: str, claim: str, titles: Mapping[str, str]
) -> None:
    """Draw the sets of a study's main claim, from the verdicts of a run."""
    save_figure(forest_of_sets(read(files["claims"], "verdicts"), study, claim, titles), out)

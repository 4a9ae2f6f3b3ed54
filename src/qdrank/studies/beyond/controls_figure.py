"""Gain of each ranker over its control, which knows nothing of the query; also without near-duplicate queries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from qdrank.evaluation.refits import column_ends
from qdrank.figures.style import label_axes, new_figure
from qdrank.studies.beyond.methods import BY_NAME, CHOSEN, CONTROLS, GATED, OF_CHOSEN, OTHER_GATE, WITH_EVIDENCE
from qdrank.studies.beyond.values import Key, Values, gathered_values, thresholds
from qdrank.studies.making import Inputs, Shown


def numbers(values: Values, interval: Mapping[str, Any]) -> pa.Table:
    """Difference of every ranker from its control, with its interval; ``near`` is 0 if no query is left out."""
    pairs: list[tuple[Key, Key]] = [((CHOSEN, 0.0), (OF_CHOSEN, 0.0))]
    pairs += [((name, 0.0), (control, 0.0)) for name, control in CONTROLS.items()]
    pairs.append(((GATED, 0.0), (OTHER_GATE, 0.0)))
    pairs += [((name, near), (CONTROLS[name], near)) for name in WITH_EVIDENCE for near in thresholds(values)]
    apart = values.by_fit(pairs)
    low, high = column_ends(apart, **interval)
    columns = {
        "method": [a[0] for a, _ in pairs],
        "control": [b[0] for _, b in pairs],
        "near": [a[1] for a, _ in pairs],
    }
    return pa.table(columns | {"difference": apart.mean(axis=(0, 1)), "low": low, "high": high})


def draw(inputs: Inputs, shown: Shown) -> tuple[Any, pa.Table]:
    """Rankers against their controls (left), and evidence against the prior without near-duplicates (right)."""
    values = gathered_values(inputs.table("measures", "measures"), inputs.table("controls", "figure"))
    table = numbers(values, shown.interval)
    rows = table.to_pylist()
    figure, panels = new_figure(1, 2, height=4.4, width_ratios=[1.3, 1])
    plain = [row for row in rows if not row["near"]]
    for place, row in zip(np.arange(len(plain))[::-1], plain, strict=True):
        _bar(panels[0], row, place, BY_NAME[row["method"]])
    panels[0].set_yticks(np.arange(len(plain))[::-1], [_label(row) for row in plain], fontsize=6.5)
    panels[0].axvline(0, color="black", linewidth=0.8)
    panels[0].locator_params(axis="x", nbins=4)
    label_axes(panels[0], "gain on the control, MAP", "")
    figure.suptitle(f"{shown.title}: rankers against their controls", fontsize="medium")
    by_threshold = {name: [row for row in rows if row["method"] == name] for name in WITH_EVIDENCE}
    if any(row["low"] or row["high"] for of_method in by_threshold.values() for row in of_method):
        _draw_near(panels[1], by_threshold)
        figure.legend(*panels[1].get_legend_handles_labels(), ncols=2, loc="outside lower center", fontsize="small")
    else:
        panels[1].axis("off")
        panels[1].text(0.5, 0.5, "Evidence and prior\nrank every query alike.", ha="center")
    return figure, table


def _draw_near(axes: Any, by_threshold: Mapping[str, list[dict[str, Any]]]) -> None:
    """Gain of evidence over the prior, by the similarity from which queries are left out."""
    for shift, (name, of_method) in enumerate(by_threshold.items()):
        bars = np.array(
            [[row["difference"] - row["low"], row["high"] - row["difference"]] for row in of_method]
        ).T.clip(0)
        places = np.arange(len(of_method)) + 0.1 * shift
        axes.errorbar(places, [row["difference"] for row in of_method], bars, elinewidth=1, **BY_NAME[name].marked)
    axes.set_xticks(
        np.arange(len(of_method)), ["all" if not row["near"] else f"< {row['near']:g}" for row in of_method]
    )
    axes.axhline(0, color="black", linewidth=0.8)
    label_axes(axes, "similarity of queries used", "gain of evidence on prior, MAP", "without near-duplicates")


def _bar(axes: Any, row: Mapping[str, Any], place: float, look: Any) -> None:
    bars = np.array([[row["difference"] - row["low"]], [row["high"] - row["difference"]]]).clip(0)
    axes.errorbar([row["difference"]], [place], xerr=bars, color=look.colour, marker=look.marker, elinewidth=1)


def _label(row: Mapping[str, Any]) -> str:
    """Ranker and control, without repeating what they share."""
    words = "its own control" if row["control"] == OF_CHOSEN else row["control"]
    for cut in (", ", " with "):
        words = words.rpartition(cut)[2]
    return f"{BY_NAME[row['method']].label}\nagainst {words}"

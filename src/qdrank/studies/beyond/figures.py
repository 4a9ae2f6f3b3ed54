"""The ladder of rankers, and their gains over their controls.

The ladder has MAP of every ranker, and its gain over Single and over LambdaMART. A control knows nothing of the query; the gain
over it is also drawn without near-duplicate queries.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import isnan
from textwrap import fill
from typing import Any

import numpy as np
import pyarrow as pa

from qdrank.evaluation.refits import column_ends
from qdrank.figures.style import label_axes, new_figure
from qdrank.studies.beyond.methods import (
    BY_NAME,
    CHOSEN,
    CONTROLS,
    GATED,
    METHODS,
    OF_CHOSEN,
    OTHER_GATE,
    SINGLE,
    TREES,
    WITH_EVIDENCE,
)
from qdrank.studies.beyond.values import Key, Values, gathered_values, thresholds
from qdrank.studies.making import Inputs, Shown


def ladder_numbers(values: Values, interval: Mapping[str, Any]) -> pa.Table:
    """MAP of every ranker, and its paired differences from Single and LambdaMART with their intervals."""
    means = [float(values.of[method.name, 0.0].mean()) for method in METHODS]
    columns: dict[str, Any] = {"method": [method.name for method in METHODS], "mean": means}
    for name, other in (("single", SINGLE), ("lambdamart", TREES)):
        apart = values.by_fit([((method.name, 0.0), (other, 0.0)) for method in METHODS])
        low, high = column_ends(apart, **interval)
        columns |= {f"from_{name}": apart.mean(axis=(0, 1)), f"from_{name}_low": low, f"from_{name}_high": high}
    return pa.table(columns)


def draw_ladder(inputs: Inputs, shown: Shown) -> tuple[Any, pa.Table]:
    """MAP (left) and the two differences (right), one row for each ranker."""
    values = gathered_values(inputs.table("measures", "measures"), inputs.table("values", "values"))
    table = ladder_numbers(values, shown.interval)
    figure, panels = new_figure(1, 2, height=4.2, sharey=True, width_ratios=[1, 1.6])
    rows = table.to_pylist()
    places = np.arange(len(rows))[::-1]
    for place, row in zip(places, rows, strict=True):
        look = BY_NAME[row["method"]]
        panels[0].plot(row["mean"], place, color=look.colour, marker=look.marker, markersize=6, linestyle="none")
        for name, colour, shift in (("single", "black", 0.13), ("lambdamart", "#999999", -0.13)):
            middle, low, high = (row[f"from_{name}{end}"] for end in ("", "_low", "_high"))
            bars = np.array([[middle - low], [high - middle]]).clip(0)
            panels[1].errorbar([middle], [place + shift], xerr=bars, color=colour, marker="o", elinewidth=1)
    panels[1].axvline(0, color="black", linewidth=0.8)
    panels[0].set_yticks(places, [fill(BY_NAME[row["method"]].label, 22) for row in rows], fontsize=7)
    for name, colour in (("from Single", "black"), ("from LambdaMART", "#999999")):
        panels[1].plot([], [], color=colour, marker="o", linestyle="none", label=name)
    panels[0].locator_params(axis="x", nbins=3)
    panels[1].locator_params(axis="x", nbins=5)
    label_axes(panels[0], "MAP", "")
    figure.suptitle(f"{shown.title}: rankers from plain to query-dependent", fontsize="medium")
    label_axes(panels[1], f"difference in MAP, {shown.interval['level']:.0%} interval", "")
    figure.legend(*panels[1].get_legend_handles_labels(), ncols=2, loc="outside lower center", fontsize="small")
    return figure, table


def control_numbers(values: Values, interval: Mapping[str, Any]) -> pa.Table:
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


def draw_controls(inputs: Inputs, shown: Shown) -> tuple[Any, pa.Table]:
    """Rankers against their controls (left), and evidence against the prior without near-duplicates (right)."""
    values = gathered_values(inputs.table("measures", "measures"), inputs.table("values", "values"))
    table = control_numbers(values, shown.interval)
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
    if any(row["difference"] or not isnan(row["low"]) for of_method in by_threshold.values() for row in of_method):
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
    words = "its own control" if row["control"] == OF_CHOSEN else BY_NAME[row["control"]].label
    for cut in (", ", " with "):
        words = words.rpartition(cut)[2]
    return f"{BY_NAME[row['method']].label}\nagainst {words}"

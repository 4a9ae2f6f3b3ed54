"""Which rankers get weight: SER's weights in every fold, and SSER's over the test queries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from qdrank.figures.palette import BLUE, VERMILION
from qdrank.figures.style import label_axes, new_figure
from qdrank.store.lists import list_matrix
from qdrank.studies.hoi2008.methods import TIES, with_ties
from qdrank.studies.hoi2008.shapes import ENSEMBLES_SHAPE
from qdrank.studies.making import Inputs, Shown

_TITLES = {"half": "tied pairs count 1/2", "file": "ties in file order"}


def numbers(tables: Sequence[pa.Table], folds: Sequence[str], names: Sequence[str], gamma: float) -> pa.Table:
    """Share of each ranker in the sum of weights: for SER by fold, for SSER with the fixed gamma over the test queries.

    ``queries`` is the number of programs, ``used`` the share of them in which the ranker has weight.
    """
    rows = []
    for ties in TIES:
        for fold, table in zip(folds, tables, strict=True):
            for method in ("ser", "sser"):
                W = _weights(table, with_ties(method, ties), gamma if method == "sser" else 0.0)
                share = W / np.maximum(W.sum(axis=1, keepdims=True), 1e-300)
                low, high = np.quantile(share, [0.05, 0.95], axis=0)
                for j, name in enumerate(names):
                    row: dict[str, Any] = {
                        "ties": ties,
                        "fold": fold,
                        "method": method,
                        "number": j + 1,
                        "ranker": name,
                        "queries": len(W),
                    }
                    row |= {"share": float(share[:, j].mean()), "low": low[j], "high": high[j]}
                    rows.append(row | {"used": float((W[:, j] > 0).mean())})
    return pa.Table.from_pylist(rows)


def _weights(table: pa.Table, method: str, gamma: float) -> Any:
    role = "train" if method.startswith("ser") else "test"
    columns = {name: table.column(name).to_numpy(zero_copy_only=False) for name in ("method", "role", "gamma")}
    rows = (columns["method"] == method) & (columns["role"] == role) & (columns["gamma"] == gamma)
    return list_matrix(table.column("weights"))[rows]


def draw(inputs: Inputs, shown: Shown) -> tuple[Any, pa.Table]:
    """One panel per rule for ties: folds side by side, SSER as the 5 to 95 % range over the test queries."""
    names = inputs.table("columns", "columns").column("name").to_pylist()
    table = numbers(inputs.tables("weights", ENSEMBLES_SHAPE), shown.folds, names, shown.options["gamma"])
    figure, panels = new_figure(2, 1, height=6.4, sharex=True)
    for axes, ties in zip(panels, TIES, strict=True):
        rows = [row for row in table.to_pylist() if row["ties"] == ties]
        _draw_panel(axes, rows, shown.folds)
        label_axes(axes, "", "share of all weights", f"{shown.title}: weights of the rankers, {_TITLES[ties]}")
    panels[1].set_xticks(np.arange(len(names)), names, rotation=90, fontsize=7 if len(names) < 30 else 5)
    figure.legend(*panels[0].get_legend_handles_labels(), ncols=2, loc="outside upper center", fontsize="small")
    return figure, table


def _draw_panel(axes: Any, rows: list[dict[str, Any]], folds: Sequence[str]) -> None:
    width = 0.7 / max(1, len(folds))
    for method, colour, shift in (("ser", VERMILION, -0.5), ("sser", BLUE, 0.5)):
        for i, fold in enumerate(folds):
            shown_rows = [row for row in rows if row["method"] == method and row["fold"] == fold]
            x = (
                np.array([row["number"] for row in shown_rows])
                - 1
                + (i - (len(folds) - 1) / 2) * width
                + shift * width / 3
            )
            label = (
                {"ser": "SER, one mark per fold", "sser": "SSER, test queries of a fold"}[method] if i == 0 else None
            )
            if method == "sser":
                axes.vlines(
                    x,
                    [row["low"] for row in shown_rows],
                    [row["high"] for row in shown_rows],
                    color=colour,
                    linewidth=1,
                    label=label,
                )
            mark = "o" if method == "ser" else "_"
            shown = {"label": label} if method == "ser" else {}
            axes.plot(x, [row["share"] for row in shown_rows], mark, color=colour, markersize=2.5, **shown)

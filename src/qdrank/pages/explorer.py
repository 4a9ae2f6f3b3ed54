"""The map of the queries: its drawing as a Vega-Lite specification, and its data as the page carries them."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from qdrank.figures.palette import COLOURS
from qdrank.pages.queries import AP

_BLUES = ["#dcebf7", "#8fc1e3", "#3182bd", "#08407a"]


def explored(table: pa.Table) -> dict[str, Any]:
    """A data set's artifact ``map`` by columns, with neighbours as numbers of rows where they are shown."""
    ids = table.column("query_id").to_pylist()
    place = {name: row for row, name in enumerate(ids)}
    methods = [name for name in table.column_names if name.startswith(AP)]
    first = {name: table.column(name)[0].as_py() if len(table) else "" for name in ("queries", "explained")}
    return {
        "total": int(first["queries"] or 0),
        "explained": [float(share) for share in first["explained"].split()],
        **{name: _column(table, name) for name in ("part", "text", "type", "documents", "relevant")},
        "id": ids,
        **{name: [round(value, 3) for value in table.column(name).to_pylist()] for name in ("x", "y")},
        "near": [[place.get(name, name) for name in names] for names in table.column("neighbours").to_pylist()],
        "ap": {name.removeprefix(AP): _rounded(table.column(name)) for name in methods},
    }


def _column(table: pa.Table, name: str) -> list[Any] | None:
    """Values of a column; None where no row has one."""
    column = table.column(name)
    return None if column.null_count == len(column) else column.to_pylist()


def _rounded(column: pa.ChunkedArray) -> list[float | None]:
    # Per mille as whole numbers: short, and as exact as a picture can show.
    return [None if value is None or value != value else round(1000 * value) for value in column.to_pylist()]


def specification() -> dict[str, Any]:
    """The drawing: dots at ``x``, ``y`` coloured by ``c``; lines from a chosen query to its neighbours; a ring around it."""
    where = {
        name: {
            "field": name,
            "type": "quantitative",
            "scale": {"zero": False},
            "axis": {"title": f"{place} principal component", "labels": False},
        }
        for name, place in (("x", "first"), ("y", "second"))
    }
    dots = {
        "name": "dots",
        "data": {"name": "queries"},
        "params": [{"name": "view", "select": "interval", "bind": "scales"}],
        "mark": {"type": "circle", "cursor": "pointer", "invalid": "show"},
        "encoding": {
            **where,
            "size": {"condition": {"test": "datum.c === null", "value": 14}, "value": 44},
            "opacity": {"condition": {"test": "datum.m", "value": 0.85}, "value": 0.06},
            "color": colours()["nominal"],
        },
    }
    ends = {"x2": {"field": "x2"}, "y2": {"field": "y2"}}
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
        "width": "container",
        "height": 430,
        "autosize": {"type": "fit", "contains": "padding"},
        "datasets": {"queries": [], "edges": [], "chosen": []},
        "layer": [
            {
                "data": {"name": "edges"},
                "mark": {"type": "rule", "strokeWidth": 1.5, "color": "#444"},
                "encoding": where | ends,
            },
            dots,
            {
                "data": {"name": "chosen"},
                "mark": {"type": "point", "size": 160, "strokeWidth": 2.5, "color": "#111", "filled": False},
                "encoding": where,
            },
        ],
        "config": {"view": {"stroke": "#ddd"}, "axis": {"grid": False, "domain": False, "ticks": False}},
    }


def colours() -> dict[str, Any]:
    """Encodings of the colour, by the kind of what is shown."""
    legend = {"title": None, "orient": "top", "labelLimit": 220, "symbolOpacity": 1, "gradientLength": 220}
    field = {"field": "c", "legend": legend}
    return {
        "nominal": field | {"type": "nominal", "scale": {"range": list(COLOURS)}},
        "amount": field | {"type": "quantitative", "scale": {"range": _BLUES}},
        "gain": field
        | {
            "type": "quantitative",
            "scale": {"domainMid": 0, "range": ["#b2182b", "#ef8a62", "#e6e6e6", "#67a9cf", "#2166ac"]},
        },
    }

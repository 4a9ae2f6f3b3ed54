"""The map of a data set's queries: what is known of each (the artifact ``map``), and its drawing on the page, in Vega-Lite."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from qdrank.datasets.judged import Judged, load_judged
from qdrank.figures.palette import COLOURS
from qdrank.layout import IntArray
from qdrank.queries.recipe import load_neighbours, load_queries
from qdrank.queries.vectors import principal_plane
from qdrank.store import read, write

#: Queries of a data set that are shown, at most; nearest queries that are named; letters of a query's words.
_MOST, NEAREST, _LETTERS = 10_000, 5, 120
#: What the columns of average precisions begin with; the method's name follows.
AP = "ap of "

_Texts = NDArray[np.object_]


def query_map(
    judged: Judged,
    topics: pa.Table,
    folds: Sequence[tuple[str | Path, str | Path]],
    measures: Sequence[pa.Table],
    *,
    most: int = _MOST,
) -> pa.Table:
    """The artifact ``map``: one row per query, in the order of the first fold.

    Parameters
    ----------
    judged : the data set; neither names nor features of documents are needed
    topics : its artifact ``topics``
    folds : paths of the artifacts ``queries`` and ``neighbours`` of every fold; the first decides the place in the plane
    measures : artifacts ``measures`` with a column ``ap``
    most : with more queries than this, every n-th is kept, so that about as many remain
    """
    first = load_queries(folds[0][0])
    kept = evenly(len(first.query_id), most)
    ids = first.query_id[kept]
    plane, explained = principal_plane(first.vectors, first.is_train)
    columns = {
        "query_id": pa.array(ids, pa.string()),
        "type": pa.array(first.type[kept], pa.string()),
        "x": pa.array(plane[kept, 0].round(4)),
        "y": pa.array(plane[kept, 1].round(4)),
        **_about(judged, topics, ids),
        "neighbours": _nearest(ids, folds),
        **_precisions(measures, ids),
    }
    about = {"queries": str(len(first.query_id)), "explained": " ".join(f"{share:.4f}" for share in explained)}
    return pa.table({**columns, **{name: pa.array([text] * len(ids), pa.string()) for name, text in about.items()}})


def write_map(files: Mapping[str, Any], path: str) -> None:
    """Write the map of the queries of a data set."""
    folds = list(zip(files["queries"], files["neighbours"], strict=True))
    measures = [read(file, "measures") for file in files["measures"]]
    write(path, "map", query_map(load_judged(files["judged"], []), read(files["topics"], "topics"), folds, measures))


def evenly(n: int, most: int) -> IntArray:
    """Numbers below ``n``, all of them or ``most``, evenly spaced."""
    return np.arange(n) if n <= most else (np.arange(most) * n) // most


def _about(judged: Judged, topics: pa.Table, ids: _Texts) -> dict[str, pa.Array]:
    """Words, part, numbers of documents and of relevant ones, of the queries ``ids``."""
    place = {name: row for row, name in enumerate(judged.query_id)}
    rows = np.array([place[name] for name in ids], dtype=np.int64)
    relevant = judged.n_relevant
    words = dict(zip(topics.column("query_id").to_pylist(), topics.column("text").to_pylist(), strict=True))
    return {
        "part": pa.array(judged.part[rows], pa.string()),
        "text": pa.array([_short(words.get(name)) for name in ids], pa.string()),
        "documents": pa.array(np.diff(judged.offsets)[rows]),
        "relevant": pa.array(relevant[rows]),
    }


def _short(words: str | None) -> str | None:
    if not words:
        return None
    words = " ".join(words.split())
    return words if len(words) <= _LETTERS else words[: _LETTERS - 1].rstrip() + "…"


def _nearest(ids: _Texts, folds: Sequence[tuple[str | Path, str | Path]]) -> pa.Array:
    """Nearest training queries of each query, nearest first: of the fold in which it is tested, else of the first."""
    trained: dict[str, list[str]] = {}
    tested: dict[str, list[str]] = {}
    for queries_path, neighbours_path in folds:
        queries = load_queries(queries_path)
        train = queries.query_id[queries.is_train]
        names, nearest = load_neighbours(neighbours_path)
        roles = dict(zip(queries.query_id, queries.role, strict=True))
        for name, row in zip(names, nearest[:, : NEAREST + 1], strict=True):
            near = [train[i] for i in row if i >= 0 and train[i] != name][:NEAREST]
            (tested if roles[name] == "test" else trained).setdefault(name, near)
    return pa.array([tested.get(name, trained.get(name, [])) for name in ids], pa.list_(pa.string()))


def _precisions(measures: Sequence[pa.Table], ids: _Texts) -> Mapping[str, pa.Array]:
    """Average precision of the test queries under every method; null where a query is never tested."""
    place = pa.table({"query_id": pa.array(ids, pa.string()), "row": np.arange(len(ids))})
    columns: dict[str, pa.Array] = {}
    for table in measures:
        means = table.group_by(["method", "query_id"], use_threads=False).aggregate([("ap", "mean")])
        for method in pc.unique(means.column("method")).to_pylist():
            of_method = means.filter(pc.equal(means.column("method"), method)).drop_columns("method")
            joined = place.join(of_method, "query_id").sort_by("row")
            columns.setdefault(f"{AP}{method}", pc.round(joined.column("ap_mean"), 4))
    return columns


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

"""A data set's queries in the plane, with what is known of each: the artifact ``map``, from which the page draws its map."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from qdrank.datasets.judged import Judged, load_judged
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

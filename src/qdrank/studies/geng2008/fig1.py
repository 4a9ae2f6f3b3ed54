"""Figure 1 of Geng 2008: queries in the plane of their first two principal components, coloured by type.

Beside it what the paper claims of the picture: how many of a query's nearest neighbours have its type.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from qdrank.figures.palette import COLOURS, MARKERS
from qdrank.figures.style import label_axes, new_figure
from qdrank.groups import FloatArray
from qdrank.queries.artifacts import Queries, load_neighbours, load_queries
from qdrank.queries.types import type_share
from qdrank.queries.vectors import PrincipalComponents
from qdrank.studies.making import Inputs, Shown


def principal_plane(vectors: FloatArray, train: NDArray[np.bool_]) -> tuple[FloatArray, FloatArray]:
    """Queries in the first two principal components of the training queries, (n_queries, 2), and explained shares."""
    found = PrincipalComponents(components=min(2, vectors.shape[1])).fit(vectors[train])
    plane = np.zeros((len(vectors), 2))
    plane[:, : found.components] = found.transform(vectors)
    return plane, found.explained_


def locality(queries: Queries, nearest: NDArray[np.int32], classes: NDArray[np.object_]) -> tuple[FloatArray, float]:
    """Share of the k nearest training queries that have the class of a test query, for every k, and chance."""
    rows = np.flatnonzero((queries.role == "test") & np.array([kind is not None for kind in classes]))
    return type_share(nearest[rows], classes[queries.is_train], classes[rows])


def draw(inputs: Inputs, shown: Shown) -> tuple[Any, pa.Table]:
    """Draw the plane and the locality curve of the first fold."""
    queries = load_queries(inputs.path("queries"))
    _, nearest, _ = load_neighbours(inputs.path("neighbours"))
    classes = inputs.table("classes", "classes")
    kinds = classes.column("class").to_numpy(zero_copy_only=False)
    plane, explained = principal_plane(queries.vectors, queries.is_train)
    share, chance = locality(queries, nearest, kinds)
    figure, (left, right) = new_figure(1, 2, height=3.9)
    _draw_plane(left, plane, kinds, explained)
    _draw_locality(right, share, chance)
    origin = classes.column("origin")[0].as_py().partition(";")[0]
    figure.suptitle(f"{shown.title}: queries by class ({origin})", fontsize="medium")
    points = {"query_id": queries.query_id, "role": queries.role, "class": kinds}
    table = pa.table({name: pa.array(values, pa.string()) for name, values in points.items()})
    for name, column in (("component_1", plane[:, 0]), ("component_2", plane[:, 1])):
        table = table.append_column(name, pa.array(column))
    # The curve goes with the points, one value per row as long as it lasts.
    curve = np.full(len(table), np.nan)
    curve[: len(share)] = share[: len(table)]
    table = table.append_column("same_class_among_first_k", pa.array(curve))
    return figure, table.append_column("chance", pa.array(np.full(len(table), chance)))


def _draw_plane(axes: Any, plane: FloatArray, kinds: NDArray[np.object_], explained: FloatArray) -> None:
    for i, kind in enumerate(sorted({kind for kind in kinds if kind is not None})):
        own = kinds == kind
        look = {"c": COLOURS[i % len(COLOURS)], "marker": MARKERS[i % len(MARKERS)]}
        axes.scatter(*plane[own].T, s=7, alpha=0.6, linewidths=0, label=kind, **look)
    # The few queries far outside would leave no room for the rest.
    for put, column in ((axes.set_xlim, plane[:, 0]), (axes.set_ylim, plane[:, 1])):
        low, high = np.quantile(column, [0.005, 0.995])
        room = 0.05 * (high - low) + 1e-9
        put(low - room, high + room)
    names = [f"component {i + 1} ({part:.0%} of variance)" for i, part in enumerate(explained)]
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3, fontsize="small", markerscale=2)
    label_axes(axes, names[0], names[-1])


def _draw_locality(axes: Any, share: FloatArray, chance: float) -> None:
    axes.plot(np.arange(1, len(share) + 1), share, color=COLOURS[0], label="k nearest training queries")
    axes.axhline(chance, color="black", linestyle="--", label="chance")
    axes.set_xscale("log")
    axes.set_ylim(0, 1)
    axes.legend()
    label_axes(axes, "k", "share with the class of the test query")

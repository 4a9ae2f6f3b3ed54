"""Figure 1 of Geng 2008: queries in the plane of their first two principal components, coloured by type.

Beside it what the paper claims of the picture: how many of a query's nearest neighbours have its type.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from qdrank.figures.style import COLOURS, MARKERS, label_axes, new_figure
from qdrank.groups import FloatArray
from qdrank.queries.artifacts import Queries
from qdrank.queries.types import type_share
from qdrank.studies.geng2008.methods import finish


def principal_plane(vectors: FloatArray, train: NDArray[np.bool_]) -> tuple[FloatArray, FloatArray]:
    """Queries in the first two principal components of the training queries, (n_queries, 2), and explained shares."""
    centre = vectors[train].mean(axis=0)
    _, singular, axes = np.linalg.svd(vectors[train] - centre, full_matrices=False)
    axes, share = axes[:2], singular**2 / max(float((singular**2).sum()), 1e-300)
    axes = axes * np.sign(axes[np.arange(len(axes)), np.abs(axes).argmax(axis=1)])[:, None]
    plane = np.zeros((len(vectors), 2))
    plane[:, : len(axes)] = (vectors - centre) @ axes.T
    return plane, share[:2]


def locality(queries: Queries, nearest: NDArray[np.int32], classes: NDArray[np.object_]) -> tuple[FloatArray, float]:
    """Share of the k nearest training queries that have the class of a test query, for every k, and chance."""
    rows = np.flatnonzero((queries.role == "test") & np.array([kind is not None for kind in classes]))
    return type_share(nearest[rows], classes[queries.is_train], classes[rows])


def draw(
    queries: Queries,
    nearest: NDArray[np.int32],
    classes: pa.Table,
    paths: Mapping[str, str | Path],
    *,
    title: str,
    dpi: int,
) -> None:
    """Draw the plane and the locality curve of one fold."""
    kinds = classes.column("class").to_numpy(zero_copy_only=False)
    plane, explained = principal_plane(queries.vectors, queries.is_train)
    share, chance = locality(queries, nearest, kinds)
    figure, (left, right) = new_figure(1, 2, height=3.9)
    _draw_plane(left, plane, kinds, explained)
    _draw_locality(right, share, chance)
    origin = classes.column("origin")[0].as_py().partition(";")[0]
    figure.suptitle(f"{title}: queries by class ({origin})", fontsize="medium")
    points = {"query_id": queries.query_id, "role": queries.role, "class": kinds}
    table = pa.table({name: pa.array(values, pa.string()) for name, values in points.items()})
    for name, column in (("component_1", plane[:, 0]), ("component_2", plane[:, 1])):
        table = table.append_column(name, pa.array(column))
    # The curve goes with the points, a value a row as long as it lasts.
    curve = np.full(len(table), np.nan)
    curve[: len(share)] = share[: len(table)]
    table = table.append_column("same_class_among_first_k", pa.array(curve))
    finish(figure, table.append_column("chance", pa.array(np.full(len(table), chance))), paths, dpi)


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

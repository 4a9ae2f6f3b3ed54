"""Figure 1 of Geng 2008: queries in the plane of their first two principal components, coloured by type.

A second panel measures what the paper reads from the picture: how many of a query's nearest neighbours have its type.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from qdrank.figures.palette import COLOURS, MARKERS
from qdrank.figures.style import label_axes, new_figure
from qdrank.layout import FloatArray
from qdrank.queries.artifacts import Queries, load_neighbours, load_queries
from qdrank.queries.vectors import principal_plane
from qdrank.studies.geng2008.query_classes import CLASSES_SHAPE, K_MEANS, type_share
from qdrank.studies.making import Inputs, Shown


def locality(queries: Queries, nearest: NDArray[np.int32], classes: NDArray[np.object_]) -> tuple[FloatArray, float]:
    """Share of the k nearest training queries that have the class of a test query, for every k, and chance."""
    rows = np.flatnonzero((queries.role == "test") & np.array([kind is not None for kind in classes]))
    return type_share(nearest[rows], classes[queries.is_train], classes[rows])


def draw(inputs: Inputs, shown: Shown) -> tuple[Any, pa.Table]:
    """Draw the plane of the first fold and, if the data have classes, the locality curve.

    Classes found by K-means of the vectors lie together by construction, so their curve would show nothing.
    """
    queries = load_queries(inputs.path("queries"))
    classes = inputs.table("classes", CLASSES_SHAPE)
    kinds = classes.column("class").to_numpy(zero_copy_only=False)
    origin = classes.column("origin")[0].as_py().partition(";")[0]
    plane, explained = principal_plane(queries.vectors, queries.is_train)
    points = {"query_id": queries.query_id, "role": queries.role, "class": kinds}
    table = pa.table({name: pa.array(values, pa.string()) for name, values in points.items()})
    for name, column in (("component_1", plane[:, 0]), ("component_2", plane[:, 1])):
        table = table.append_column(name, pa.array(column))
    figure: Any
    if K_MEANS in origin:
        figure, axes = new_figure(height=4.2)
    else:
        figure, (axes, right) = new_figure(1, 2, height=3.9)
        _, nearest = load_neighbours(inputs.path("neighbours"))
        share, chance = locality(queries, nearest, kinds)
        _draw_locality(right, share, chance)
        table = _with_curve(table, share, chance)
    _draw_plane(axes, plane, kinds, explained)
    figure.suptitle(f"{shown.title}: queries by class ({origin})", fontsize="medium")
    return figure, table


def _with_curve(table: pa.Table, share: FloatArray, chance: float) -> pa.Table:
    """Add the curve to the table of points, one value per row until it ends."""
    curve = np.full(len(table), np.nan)
    curve[: len(share)] = share[: len(table)]
    table = table.append_column("same_class_among_first_k", pa.array(curve))
    return table.append_column("chance", pa.array(np.full(len(table), chance)))


def _draw_plane(axes: Any, plane: FloatArray, kinds: NDArray[np.object_], explained: FloatArray) -> None:
    for i, kind in enumerate(sorted({kind for kind in kinds if kind is not None})):
        of_kind = kinds == kind
        look = {"c": COLOURS[i % len(COLOURS)], "marker": MARKERS[i % len(MARKERS)]}
        axes.scatter(*plane[of_kind].T, s=9, alpha=0.6, linewidths=0, label=kind, **look)
    names = [f"component {i + 1} ({share:.0%} of variance)" for i, share in enumerate(explained)]
    stretched = [
        _fit(scale, column) for scale, column in ((axes.set_xscale, plane[:, 0]), (axes.set_yscale, plane[:, 1]))
    ]
    names = [f"{name}{', asinh scale' if far else ''}" for name, far in zip(names, stretched, strict=False)]
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3, fontsize="small", markerscale=2)
    label_axes(axes, names[0], names[-1])


def _fit(set_scale: Any, column: FloatArray) -> bool:
    """Choose a scale that shows all points: if a few lie far out, one that is linear only near 0."""
    low, high = np.quantile(column, [0.02, 0.98])
    width = max(high - low, 1e-9)
    far = bool(np.ptp(column) > 3 * width)
    if far:
        set_scale("asinh", linear_width=width / 4)
    return far


def _draw_locality(axes: Any, share: FloatArray, chance: float) -> None:
    axes.plot(np.arange(1, len(share) + 1), share, color=COLOURS[0], label="k nearest training queries")
    axes.axhline(chance, color="black", linestyle="--", label="chance")
    axes.set_xscale("log")
    axes.set_ylim(0, 1)
    axes.legend()
    label_axes(axes, "number of neighbours k", "share with the class of the test query")

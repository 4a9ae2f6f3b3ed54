"""What is fitted on the training queries of a fold, and the k-NN graph, as artifacts: metric, neighbours."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from qdrank.datasets.judged import Judged, load_judged
from qdrank.datasets.scaling import column_moments, inverse_deviation, scaled
from qdrank.layout import FloatArray
from qdrank.queries import METRICS
from qdrank.queries.metrics import Euclidean, preference_directions
from qdrank.queries.neighbours import Search, TrainingQueries
from qdrank.queries.recipe import Queries, fitted_rows, load_queries
from qdrank.queries.sizes import stored_neighbours
from qdrank.store import read, write
from qdrank.store.tables import list_column, list_matrix

#: Number of queries per neighbour search.
_TOGETHER = 2048


def fitted_metric(name: str, vectors: FloatArray, train: Judged | None = None) -> Euclidean:
    """The metric ``name``, fitted on the training queries.

    Parameters
    ----------
    name : as in the configuration
    vectors : (n_train, n_columns) vectors of the training queries
    train : documents of the same queries, in the same order; only a supervised metric uses them
    """
    metric: Euclidean = METRICS[name]()
    if not metric.supervised:
        return metric.fit(vectors)
    assert train is not None, f"the metric {name} learns from documents"
    return metric.fit(vectors, ranking_targets(train))


def ranking_targets(train: Judged) -> FloatArray:
    """What a supervised metric learns to predict, (n_train, n_features): how better documents differ from worse ones.

    In standard deviations of each feature over the training documents; a missing value counts as the mean.
    """
    mean, deviation = column_moments(train.X)
    X = np.nan_to_num(scaled(train.X, mean, inverse_deviation(mean, deviation)))
    return preference_directions(X, train.y, train.offsets)


@dataclass(frozen=True, kw_only=True)
class GraphOptions:
    """Section ``neighbours`` of the configuration."""

    metric: str
    largest: int | None
    search: Search


def neighbours_table(
    queries: Queries, options: GraphOptions, documents: Judged | None = None
) -> tuple[pa.Table, Euclidean]:
    """The artifact ``neighbours`` of a fold, and the metric fitted for it.

    ``documents`` are those of the training queries, for a supervised metric.
    """
    train = queries.vectors[queries.is_train]
    metric = fitted_metric(options.metric, train, documents)
    k = min(options.largest or len(train), len(train))
    rows, train_index = np.empty((len(queries.vectors), k), dtype=np.int32), queries.train_index.astype(np.int64)
    space = TrainingQueries(train, queries.query_id[queries.is_train], metric)
    for start in range(0, len(rows), _TOGETHER):  # distances take twice the memory of the rows, and are not kept
        block = slice(start, start + _TOGETHER)
        rows[block] = space.nearest(queries.vectors[block], k, train_index[block], search=options.search).rows
    columns = [pa.array(queries.query_id, pa.string()), pa.array(queries.role, pa.string()), list_column(rows)]
    return pa.table(columns, names=["query_id", "role", "neighbours"]), metric


def metric_table(name: str, metric: Euclidean) -> pa.Table:
    """The artifact ``fitted`` of the metric ``name``; a metric that learns nothing has one row without numbers."""
    learned: FloatArray = getattr(metric, "map_", np.zeros((1, 0)))
    return fitted_rows(name, "map", learned)


def load_metric(path: str | os.PathLike[str]) -> Euclidean:
    """The metric that `metric_table` stored."""
    table = read(path, "fitted")
    return metric_with(table.column("kind")[0].as_py(), list_matrix(table.column("numbers")))


def metric_with(name: str, learned: FloatArray) -> Euclidean:
    """The metric ``name`` with its learned map, shape (n_columns, rank); of size 0 if it learns nothing."""
    metric: Euclidean = METRICS[name]()
    if learned.size:
        metric.map_ = learned  # type: ignore[attr-defined]
    return metric


def write_neighbours(
    files: Mapping[str, str], out: Mapping[str, str], fold: str, *, options: Mapping[str, Any], used: Iterable[float]
) -> None:
    """Write the nearest training queries of every query of a fold, and what the metric learned.

    ``files`` has ``judged`` if the metric learns from documents; ``used`` are the sizes of neighbourhoods that the run uses.
    """
    queries, wanted = load_queries(files["queries"]), GraphOptions(**options)
    train = load_judged(files["judged"], ["features"]).of_role(fold, "train") if "judged" in files else None
    if wanted.largest is None:
        wanted = replace(wanted, largest=stored_neighbours(used, int(queries.is_train.sum())))
    table, metric = neighbours_table(queries, wanted, train)
    write(out["neighbours"], "neighbours", table)
    write(out["metric"], "fitted", metric_table(wanted.metric, metric))

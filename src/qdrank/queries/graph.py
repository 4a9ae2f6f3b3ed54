"""The metric fitted on the training queries of a fold, and the k-NN graph, as artifacts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from qdrank.datasets.judged import Judged
from qdrank.datasets.scaling import column_moments, inverse_deviation, scaled
from qdrank.layout import FloatArray
from qdrank.queries import METRICS
from qdrank.queries.artifacts import Queries
from qdrank.queries.metrics import Euclidean, preference_directions
from qdrank.queries.neighbours import Search, neighbours
from qdrank.store.lists import list_column

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
    for start in range(0, len(rows), _TOGETHER):  # distances take twice the memory of the rows, and are not kept
        block = slice(start, start + _TOGETHER)
        rows[block] = neighbours(
            queries.vectors[block],
            train,
            k,
            train_index=train_index[block],
            ids=queries.query_id[queries.is_train],
            metric=metric,
            search=options.search,
        ).rows
    columns = [pa.array(queries.query_id, pa.string()), pa.array(queries.role, pa.string()), list_column(rows)]
    return pa.table(columns, names=["query_id", "role", "neighbours"]), metric

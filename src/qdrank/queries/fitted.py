"""What was fitted on the training queries, as artifacts: the scale of their vectors, and the metric."""

from __future__ import annotations

import os

import numpy as np
import pyarrow as pa

from qdrank.layout import FloatArray
from qdrank.queries import METRICS
from qdrank.queries.metrics import Euclidean
from qdrank.queries.vectors import Standardiser
from qdrank.store import read
from qdrank.store.lists import list_matrix, open_list_column


def scale_table(scaler: Standardiser) -> pa.Table:
    """The artifact ``fitted`` of a standardiser."""
    kind = "zscore" if scaler.scale else "none"
    return pa.concat_tables(
        [_rows(kind, "mean", scaler.mean_[None, :]), _rows(kind, "deviation", scaler.scale_[None, :])]
    )


def load_scale(path: str | os.PathLike[str]) -> Standardiser:
    """The standardiser that `scale_table` stored."""
    table = read(path, "fitted")
    scaler = Standardiser(scale=table.column("kind")[0].as_py() == "zscore")
    scaler.mean_, scaler.scale_ = list_matrix(table.column("numbers"))
    return scaler


def metric_table(name: str, metric: Euclidean) -> pa.Table:
    """The artifact ``fitted`` of the metric ``name``; a metric that learns nothing has one row without numbers."""
    learned: FloatArray = getattr(metric, "map_", np.zeros((1, 0)))
    return _rows(name, "map", learned)


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


def _rows(kind: str, name: str, matrix: FloatArray) -> pa.Table:
    n = len(matrix)
    columns = {"kind": pa.array([kind] * n, pa.string()), "name": pa.array([name] * n, pa.string())}
    columns |= {"row": pa.array(np.arange(n, dtype=np.int32)), "numbers": open_list_column(matrix.astype(np.float64))}
    return pa.table(columns)

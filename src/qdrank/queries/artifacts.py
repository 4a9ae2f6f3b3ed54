"""Queries of a fold as artifacts: their vectors, and their neighbours among the training queries."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from qdrank.datasets.folds import ROLES
from qdrank.datasets.judged import Judged
from qdrank.datasets.letor.features import minmax_per_query
from qdrank.errors import InputError
from qdrank.groups import FloatArray
from qdrank.queries.vectors import Missing, Standardiser, query_vectors
from qdrank.store import read


@dataclass(frozen=True)
class Queries:
    """Queries of a fold: training queries first, then validation, then test.

    Attributes
    ----------
    query_id, role, type : (n_queries,) texts; type is None where it is not known
    train_index : (n_queries,) number among the training queries, -1 for the others
    vectors : (n_queries, n_columns)
    """

    query_id: NDArray[np.object_]
    role: NDArray[np.object_]
    type: NDArray[np.object_]
    train_index: NDArray[np.int32]
    vectors: FloatArray

    @property
    def is_train(self) -> NDArray[np.bool_]:
        """Which queries are training queries."""
        return self.train_index >= 0


def load_queries(path: str | os.PathLike[str]) -> Queries:
    """Read the artifact ``queries``."""
    table = read(path, "queries")
    text = {name: table.column(name).to_numpy(zero_copy_only=False) for name in ("query_id", "role", "type")}
    return Queries(
        **text, train_index=table.column("train_index").to_numpy(), vectors=list_matrix(table.column("vector"))
    )


def load_neighbours(path: str | os.PathLike[str]) -> tuple[NDArray[np.object_], NDArray[np.int32], FloatArray]:
    """Read the artifact ``neighbours``: query ids (n_queries,), neighbours and distances (n_queries, k)."""
    table = read(path, "neighbours")
    ids = table.column("query_id").to_numpy(zero_copy_only=False)
    return ids, list_matrix(table.column("neighbours")), list_matrix(table.column("distances"))


def list_matrix(column: pa.ChunkedArray) -> NDArray[Any]:
    """A column of fixed-size lists as a matrix."""
    flat = column.combine_chunks()
    width = column.type.list_size
    return np.asarray(flat.flatten().to_numpy(zero_copy_only=False)).reshape(len(column), width)


def list_column(matrix: NDArray[Any]) -> pa.FixedSizeListArray:
    """A matrix as a column of fixed-size lists."""
    kind = pa.list_(pa.field("item", pa.from_numpy_dtype(matrix.dtype), nullable=False), matrix.shape[1])
    return pa.FixedSizeListArray.from_arrays(pa.array(np.ascontiguousarray(matrix).ravel()), type=kind)


def queries_table(judged: Judged, topics: pa.Table, reference: int, fold: str, options: Mapping[str, Any]) -> pa.Table:
    """The artifact ``queries`` of a fold.

    Parameters
    ----------
    judged : the data set
    topics : its artifact ``topics``, joined on query id
    reference : column of the reference feature, counted from 0
    fold : name of the fold
    options : ``top``, ``pooling``, ``view``, ``query_columns`` and ``scale`` of the configuration
    """
    parts = [judged.of_role(fold, role) for role in ROLES]
    vectors = np.concatenate([_pooled(part, reference, options) for part in parts])
    ids = np.concatenate([part.query_id for part in parts])
    place = _rows_of(ids, topics)
    if options["query_columns"]:
        vectors = np.hstack([vectors, np.array(topics.column("columns").to_pylist())[place]])
    n_train = parts[0].n_queries
    scaler = Standardiser(scale=options["scale"] == "zscore").fit(vectors[:n_train])
    index = np.full(len(ids), -1, dtype=np.int32)
    index[:n_train] = np.arange(n_train, dtype=np.int32)
    roles = np.repeat(np.array(ROLES, dtype=object), [part.n_queries for part in parts])
    columns = [pa.array(ids, pa.string()), pa.array(roles, pa.string()), topics.column("type").take(place)]
    columns += [pa.array(index), list_column(scaler.transform(vectors))]
    return pa.table(columns, names=["query_id", "role", "type", "train_index", "vector"])


def _pooled(part: Judged, reference: int, options: Mapping[str, Any]) -> FloatArray:
    scores = part.X[:, reference]
    X = minmax_per_query(part.X, part.offsets) if options["view"] == "minmax" else part.X
    # Ranks that a system did not give are missing by nature; they are left out of the statistics.
    missing: Missing = "omit" if np.isnan(X).any() else "error"
    return query_vectors(X, part.offsets, scores, top=options["top"], pooling=options["pooling"], missing=missing)


def _rows_of(ids: NDArray[np.object_], topics: pa.Table) -> NDArray[np.int64]:
    """Row of each query in ``topics``."""
    row = {query: i for i, query in enumerate(topics.column("query_id").to_pylist())}
    try:
        return np.array([row[query] for query in ids], dtype=np.int64)
    except KeyError as error:
        raise InputError(f"query {error} has judged documents, but is not among the topics") from None

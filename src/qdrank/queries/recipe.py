"""How a query becomes a vector: the queries of a fold as artifacts, and the recipe that rankers keep, so that new queries are treated the same."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from qdrank.datasets.columns import reference_column
from qdrank.datasets.folds import ROLES
from qdrank.datasets.judged import Judged, load_judged
from qdrank.datasets.scaling import minmax_per_query
from qdrank.errors import InputError
from qdrank.layout import FloatArray, IntArray, rows_of
from qdrank.queries.vectors import Missing, Pooling, Standardiser, query_vectors
from qdrank.store import read, write
from qdrank.store.tables import list_column, list_matrix, open_list_column


@dataclass(frozen=True, kw_only=True)
class VectorOptions:
    """Section ``queries`` of the configuration: how a query becomes a point."""

    top: int
    pooling: Pooling
    view: Literal["given", "minmax"]
    query_columns: bool
    scale: Literal["zscore", "none"]


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

    def of(self, query_id: NDArray[np.object_]) -> FloatArray:
        """Vectors of the queries with these names, (n_names, n_columns)."""
        return self.vectors[rows_of(query_id, self.query_id)]


def load_queries(path: str | os.PathLike[str]) -> Queries:
    """Read the artifact ``queries``."""
    table = read(path, "queries")
    text = {name: table.column(name).to_numpy(zero_copy_only=False) for name in ("query_id", "role", "type")}
    return Queries(
        **text, train_index=table.column("train_index").to_numpy(), vectors=list_matrix(table.column("vector"))
    )


def load_neighbours(path: str | os.PathLike[str]) -> tuple[NDArray[np.object_], NDArray[np.int32]]:
    """Read the artifact ``neighbours``: query ids (n_queries,) and neighbours (n_queries, k), nearest first."""
    table = read(path, "neighbours")
    ids = table.column("query_id").to_numpy(zero_copy_only=False)
    return ids, list_matrix(table.column("neighbours"))


def describe_queries(
    judged: Judged, topics: pa.Table, reference: int, fold: str, options: VectorOptions
) -> tuple[pa.Table, Standardiser]:
    """The artifact ``queries`` of a fold, and what standardised its vectors.

    Parameters
    ----------
    judged : the data set
    topics : its artifact ``topics``, joined on query id
    reference : column of the reference feature, counted from 0
    fold : name of the fold
    options : how a query becomes a point
    """
    parts = [judged.of_role(fold, role) for role in ROLES]
    vectors = np.concatenate([_pooled(part, reference, options) for part in parts])
    ids = np.concatenate([part.query_id for part in parts])
    place = rows_of(ids, topics.column("query_id").to_numpy(zero_copy_only=False), among="the topics")
    if options.query_columns:
        vectors = np.hstack([vectors, np.array(topics.column("query_columns").to_pylist())[place]])
    if not vectors.shape[1]:
        fix = "set queries.pooling to mean, or give the queries columns of their own and set queries.query_columns to true"
        raise InputError(
            "the queries have no vectors: nothing of their documents, and no columns of their own", fix=fix
        )
    n_train = parts[0].n_queries
    scaler = Standardiser(scale=options.scale == "zscore").fit(vectors[:n_train])
    index = np.full(len(ids), -1, dtype=np.int32)
    index[:n_train] = np.arange(n_train, dtype=np.int32)
    roles = np.repeat(np.array(ROLES, dtype=object), [part.n_queries for part in parts])
    columns = [pa.array(ids, pa.string()), pa.array(roles, pa.string()), topics.column("type").take(place)]
    columns += [pa.array(index), list_column(scaler.transform(vectors))]
    return pa.table(columns, names=["query_id", "role", "type", "train_index", "vector"]), scaler


def _pooled(part: Judged, reference: int, options: VectorOptions) -> FloatArray:
    scores = part.X[:, reference]
    X = minmax_per_query(part.X, part.offsets) if options.view == "minmax" else part.X
    # A system leaves out many documents, so ranks are often missing; they are left out of the statistics.
    missing: Missing = "omit" if np.isnan(X).any() else "error"
    return query_vectors(X, part.offsets, scores, top=options.top, pooling=options.pooling, missing=missing)


def scale_table(scaler: Standardiser) -> pa.Table:
    """The artifact ``fitted`` of a standardiser."""
    kind = "zscore" if scaler.scale else "none"
    return pa.concat_tables(
        [fitted_rows(kind, "mean", scaler.mean_[None, :]), fitted_rows(kind, "deviation", scaler.scale_[None, :])]
    )


def load_scale(path: str | os.PathLike[str]) -> Standardiser:
    """The standardiser that `scale_table` stored."""
    table = read(path, "fitted")
    scaler = Standardiser(scale=table.column("kind")[0].as_py() == "zscore")
    scaler.mean_, scaler.scale_ = list_matrix(table.column("numbers"))
    return scaler


def fitted_rows(kind: str, name: str, matrix: FloatArray) -> pa.Table:
    """Rows of the artifact ``fitted``: a matrix that the standardiser or metric ``kind`` calls ``name``."""
    n = len(matrix)
    columns = {"kind": pa.array([kind] * n, pa.string()), "name": pa.array([name] * n, pa.string())}
    columns |= {"row": pa.array(np.arange(n, dtype=np.int32)), "numbers": open_list_column(matrix.astype(np.float64))}
    return pa.table(columns)


class Recipe(Protocol):
    """A way to turn queries into vectors."""

    def vectors(
        self, X: NDArray[np.float32], offsets: IntArray, query_columns: NDArray[Any] | None, text: Sequence[str] | None
    ) -> FloatArray:
        """Vectors (n_queries, n_columns) from documents (n_documents, n_features) and query columns or texts."""
        ...


@dataclass(frozen=True, kw_only=True, eq=False)
class DocumentVectors:
    """Vectors from the top documents and own columns of a query, standardised like those of the training queries.

    Attributes
    ----------
    reference : column of the feature that says which documents are on top, counted from 0
    top, pooling, view : as in the section ``queries`` of the configuration
    missing : whether values of features may be missing
    own_columns : number of columns of the query itself, after those of its documents
    standardise : whether to scale the deviation of the training queries to 1
    mean, deviation : (n_columns,) of the training queries
    """

    NAME: ClassVar[str] = "document-vectors"

    reference: int
    top: int
    pooling: Pooling
    view: Literal["given", "minmax"]
    missing: bool
    own_columns: int
    standardise: bool
    mean: FloatArray
    deviation: FloatArray

    def vectors(
        self,
        X: NDArray[np.float32],
        offsets: IntArray,
        query_columns: NDArray[Any] | None = None,
        text: Sequence[str] | None = None,  # noqa: ARG002
    ) -> FloatArray:
        """Vectors of queries, (n_queries, n_columns)."""
        scaler = Standardiser(scale=self.standardise)
        scaler.mean_, scaler.scale_ = self.mean, self.deviation
        return scaler.transform(self.pooled(X, offsets, query_columns))

    def pooled(
        self, X: NDArray[np.float32], offsets: IntArray, query_columns: NDArray[Any] | None = None
    ) -> FloatArray:
        """The vectors before standardising."""
        shown = minmax_per_query(X, offsets) if self.view == "minmax" else X
        missing: Literal["omit", "error"] = "omit" if self.missing else "error"
        made = query_vectors(shown, offsets, X[:, self.reference], top=self.top, pooling=self.pooling, missing=missing)
        return (
            np.hstack([made, checked_columns(query_columns, len(made), self.own_columns)]) if self.own_columns else made
        )


def document_vectors(
    options: VectorOptions, scaler: Standardiser, topics: pa.Table, *, reference: int, missing: bool
) -> DocumentVectors:
    """The recipe of a fold whose queries became vectors with these options and this fitted standardiser."""
    return DocumentVectors(
        reference=reference,
        top=options.top,
        pooling=options.pooling,
        view=options.view,
        missing=missing,
        own_columns=len(topics.column("query_columns")[0]) if options.query_columns else 0,
        standardise=scaler.scale,
        mean=scaler.mean_,
        deviation=scaler.scale_,
    )


def load_document_vectors(files: Mapping[str, str], options: Mapping[str, Any], *, missing: bool) -> DocumentVectors:
    """The recipe of a fold from its artifacts: ``files`` has the paths ``columns``, ``topics`` and ``scale``.

    ``options`` is the section ``queries`` of the configuration; ``missing`` says whether values of features are.
    """
    topics, reference = read(files["topics"], "topics"), reference_column(files["columns"])
    return document_vectors(
        VectorOptions(**options), load_scale(files["scale"]), topics, reference=reference, missing=missing
    )


def write_queries(files: Mapping[str, str], out: Mapping[str, str], fold: str, *, options: Mapping[str, Any]) -> None:
    """Write the query vectors of a fold, and what standardised them; ``options`` as for `load_document_vectors`."""
    judged, reference = load_judged(files["judged"], ["features"]), reference_column(files["columns"])
    table, scaler = describe_queries(judged, read(files["topics"], "topics"), reference, fold, VectorOptions(**options))
    write(out["queries"], "queries", table)
    write(out["scale"], "fitted", scale_table(scaler))


def checked_columns(columns: NDArray[Any] | None, n_queries: int, wanted: int) -> NDArray[Any]:
    """Columns of the queries themselves, (n_queries, wanted); raise if they are not given."""
    if columns is None or columns.shape != (n_queries, wanted):
        raise InputError(
            f"these models need {wanted} columns of the query itself",
            found="none" if columns is None else f"an array of shape {columns.shape}",
            fix="give them (query_columns=..., or --topics), or train with queries: {query_columns: false}",
        )
    return columns


def topics_of(topics: pa.Table, query_id: Sequence[str]) -> tuple[FloatArray, list[str] | None]:
    """From the artifact ``topics``: columns of queries, (n_queries, own_columns), and their texts, None if one has none."""
    place = rows_of(
        np.array(query_id, dtype=object), topics.column("query_id").to_numpy(zero_copy_only=False), among="the topics"
    )
    rows = topics.take(pa.array(place))
    columns = np.array(rows.column("query_columns").to_pylist(), dtype=np.float64).reshape(len(rows), -1)
    text = rows.column("text").to_pylist()
    return columns, None if None in text else text

"""How a query becomes a vector. Rankers that use vectors keep the recipe, so that new queries are treated the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from qdrank.datasets.columns import reference_column
from qdrank.datasets.judged import load_judged
from qdrank.datasets.scaling import minmax_per_query
from qdrank.errors import InputError
from qdrank.layout import FloatArray, IntArray, rows_of
from qdrank.queries.artifacts import VectorOptions, describe_queries, load_scale, scale_table
from qdrank.queries.vectors import Pooling, Standardiser, query_vectors
from qdrank.store import read, write


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

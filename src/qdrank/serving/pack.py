"""Everything that the rankers of a fold need to rank new queries, in one artifact.

The artifact ``rankers`` is a table of named rows: a vector is one row, a matrix has one row for each of its rows, and what
is not an array is JSON in the row ``terms``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from qdrank.datasets.letor.features import minmax_per_query
from qdrank.groups import FloatArray, IntArray, rows_of
from qdrank.queries.fitted import metric_with
from qdrank.queries.metrics import Euclidean
from qdrank.queries.vectors import Pooling, Standardiser, query_vectors
from qdrank.rankers.knn import Alikeness
from qdrank.rankers.sizes import Setting
from qdrank.store.lists import list_matrix, open_list_column

#: Ways to find the model that serves a query: one for all, that of the most similar neighbourhood, that of the nearest.
READY = ("single", "offline1", "offline2")
#: With that which trains the query's own model.
SERVED = (*READY, "online")


@dataclass(frozen=True, kw_only=True)
class Terms:
    """How documents and queries were represented in training.

    Attributes
    ----------
    n_features : number of features
    missing : whether their values may be missing
    minmax : whether models see them scaled to [0, 1] within each query
    reference, top, pooling, view, scale : of the query vectors; ``reference`` counts from 0
    own_columns : columns of the query itself behind those of its documents
    metric : name of the metric
    largest : number of neighbours of each query that the study stored
    choice : what makes two neighbourhoods alike for Offline-1
    chosen : number of neighbours and lambda of each method
    training : fold, scale, penalty and tol of local models, for KNN Online; None where it is not served
    """

    n_features: int
    missing: bool
    minmax: bool
    reference: int
    top: int
    pooling: Pooling
    view: str
    scale: str
    own_columns: int
    metric: str
    largest: int
    choice: Alikeness
    chosen: Mapping[str, Setting]
    training: Mapping[str, Any] | None = None

    def pooled(self, X: NDArray[np.float32], offsets: IntArray, own: FloatArray | None = None) -> FloatArray:
        """Query vectors before they are standardised, shape (n_queries, n_columns).

        ``own`` (n_queries, own_columns) are the columns of the queries themselves.
        """
        seen = minmax_per_query(X, offsets) if self.view == "minmax" else X
        vectors = query_vectors(
            seen,
            offsets,
            X[:, self.reference],
            top=self.top,
            pooling=self.pooling,
            missing="omit" if self.missing else "error",
        )
        return np.hstack([vectors, own]) if self.own_columns and own is not None else vectors

    def to_json(self) -> str:
        """The text that the artifact keeps; numbers lose no digits."""
        return json.dumps(asdict(self), sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> Terms:
        """The inverse of `to_json`."""
        terms = json.loads(text)
        return cls(**terms | {"chosen": {method: Setting(*of) for method, of in terms["chosen"].items()}})


@dataclass(frozen=True, kw_only=True, eq=False)
class Packed:
    """The rankers of a fold.

    Attributes
    ----------
    fill : (n_features,) the value that replaces a missing one
    mean, deviation : (n_columns,) of the training queries' vectors
    map : (n_columns, rank) learned by the metric; (0, 0) where it learns nothing
    train_id : (m,) ids of the training queries
    vectors : (m, n_columns) their vectors, standardised
    pairs : (m,) their document pairs
    neighbours : (m, k) their neighbours, as far as Offline-1 needs them
    weights : by method, (n_features,) for Single and (m, n_features) for the others
    """

    terms: Terms
    fill: FloatArray
    mean: FloatArray
    deviation: FloatArray
    map: FloatArray
    train_id: NDArray[np.object_]
    vectors: FloatArray
    pairs: IntArray
    neighbours: NDArray[np.int32]
    weights: Mapping[str, FloatArray]

    def standardiser(self) -> Standardiser:
        """The standardiser of the query vectors, as it was fitted."""
        scaler = Standardiser(scale=self.terms.scale == "zscore")
        scaler.mean_, scaler.scale_ = self.mean, self.deviation
        return scaler

    def metric(self) -> Euclidean:
        """The metric, as it was fitted."""
        return metric_with(self.terms.metric, self.map)

    def to_table(self) -> pa.Table:
        """The artifact ``rankers``."""
        parts = [
            _rows("terms", np.zeros((1, 0)), text=[self.terms.to_json()]),
            *(_rows(name, getattr(self, name)[None, :]) for name in ("fill", "mean", "deviation", "pairs")),
            _rows("map", self.map),
            _rows("train", self.vectors, text=self.train_id.tolist()),
            _rows("neighbours", np.zeros((len(self.neighbours), 0)), wholes=self.neighbours),
            *(_rows(method, np.atleast_2d(weights)) for method, weights in self.weights.items()),
        ]
        return pa.concat_tables(parts).combine_chunks()

    @classmethod
    def from_table(cls, table: pa.Table) -> Packed:
        """The inverse of `to_table`."""
        rows = dict(_parts(table))
        numbers = {name: list_matrix(part.column("numbers")) for name, part in rows.items()}
        weights = {method: numbers[method] for method in READY if method in rows}
        return cls(
            terms=Terms.from_json(rows["terms"].column("text")[0].as_py()),
            **{name: numbers[name][0] for name in ("fill", "mean", "deviation")},
            map=numbers.get("map", np.zeros((0, 0))),
            train_id=rows["train"].column("text").to_numpy(zero_copy_only=False),
            vectors=numbers["train"],
            pairs=numbers["pairs"][0].astype(np.int64),
            neighbours=list_matrix(rows["neighbours"].column("wholes")),
            weights=weights | {"single": weights["single"][0]},
        )


def _rows(
    part: str, numbers: NDArray[Any], *, wholes: NDArray[np.int32] | None = None, text: list[str] | None = None
) -> pa.Table:
    """A matrix as rows of the artifact."""
    n = len(numbers)
    columns = {
        "part": pa.array([part] * n, pa.string()),
        "row": pa.array(np.arange(n, dtype=np.int32)),
        "text": pa.nulls(n, pa.string()) if text is None else pa.array(text, pa.string()),
        "numbers": open_list_column(numbers.astype(np.float64)),
        "wholes": open_list_column(np.zeros((n, 0), dtype=np.int32) if wholes is None else wholes),
    }
    return pa.table(columns)


def _parts(table: pa.Table) -> Iterator[tuple[str, pa.Table]]:
    """Runs of rows of the same part."""
    names = table.column("part").to_numpy(zero_copy_only=False)
    starts = [0, *(np.flatnonzero(names[1:] != names[:-1]) + 1).tolist(), len(names)]
    for a, b in pairwise(starts):
        yield names[a], table.slice(a, b - a)


def own_columns(topics: pa.Table, query_id: Sequence[str]) -> FloatArray:
    """Columns of the queries themselves from the artifact ``topics``, shape (n_queries, own_columns)."""
    known = topics.column("query_id").to_numpy(zero_copy_only=False)
    place = rows_of(np.array(query_id, dtype=object), known, among="the topics")
    return np.array(topics.column("query_columns").take(place).to_pylist(), dtype=np.float64)

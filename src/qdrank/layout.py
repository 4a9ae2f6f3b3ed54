"""Documents with those of a query together: the one layout that every room of the library shares.

Judged documents come as parallel arrays in which the documents of a query are together. The bounds of the
queries are kept as *offsets*: query ``i`` owns the rows ``offsets[i]`` to ``offsets[i + 1] - 1``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from qdrank.errors import InputError

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]

#: Score of a document that comes behind all others; minus infinity would take it off the list.
LAST = float(np.finfo(np.float32).min)


def query_offsets(query: NDArray[Any]) -> IntArray:
    """Bounds of the runs of equal ids in ``query``, shape (n_documents,) to (n_queries + 1,).

    Raises `InputError` if a query's documents are in two places.
    """
    query = np.asarray(query)
    if query.ndim != 1:
        raise InputError(f"query ids must be one-dimensional, not of shape {query.shape}")
    if len(query) == 0:
        return np.zeros(1, dtype=np.int64)
    starts = np.flatnonzero(query[1:] != query[:-1]) + 1
    offsets = np.concatenate([[0], starts, [len(query)]]).astype(np.int64)
    heads = query[offsets[:-1]]
    names, counts = np.unique(heads, return_counts=True)
    if len(names) < len(heads):
        raise InputError(
            f"the documents of query {names[counts > 1][0]} stand in two places",
            fix="sort the rows so that each query's documents stand together",
        )
    return offsets


def query_index(offsets: IntArray) -> IntArray:
    """For every document the number of its query, shape (n_documents,)."""
    return np.repeat(np.arange(len(offsets) - 1, dtype=np.int64), np.diff(offsets))


def rows_of_queries(offsets: IntArray, queries: IntArray) -> tuple[IntArray | slice, IntArray]:
    """Rows of the documents of some queries, in the order given, and the bounds of the queries among them.

    For consecutive queries the rows are a slice, which copies nothing.
    """
    sizes = np.diff(offsets)[queries]
    bounds = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    if len(queries) and (np.diff(queries) == 1).all():
        return slice(int(offsets[queries[0]]), int(offsets[queries[-1] + 1])), bounds
    return np.arange(bounds[-1]) + np.repeat(offsets[queries] - bounds[:-1], sizes), bounds


@dataclass(frozen=True, eq=False)
class JoinedFeatures:
    """Features of documents and, after them, the vector of their query: joined for the rows that are asked for.

    For learners that take rows in batches. ``np.asarray`` makes the whole table, at web size most of a job's memory.

    Attributes
    ----------
    X : (n_documents, n_features) float32
    vectors : (n_queries, n_columns) float32
    query : (n_documents,) number of each document's query
    """

    X: NDArray[np.float32]
    vectors: NDArray[np.float32]
    query: IntArray

    ndim: ClassVar[int] = 2

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of documents and of columns."""
        return len(self.X), self.X.shape[1] + self.vectors.shape[1]

    @property
    def dtype(self) -> np.dtype[np.float32]:
        """Type of the values."""
        return self.X.dtype

    def __len__(self) -> int:
        return len(self.X)

    def __getitem__(self, rows: Any) -> NDArray[np.float32]:
        return np.concatenate([self.X[rows], self.vectors[self.query[rows]]], axis=-1)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return self[:].astype(dtype or self.dtype, copy=False)


def padded(lists: Sequence[IntArray]) -> IntArray:
    """Lists of different length as one matrix, padded with -1; at least one column."""
    table = np.full((len(lists), max([1, *map(len, lists)])), -1, dtype=np.int64)
    for row, items in zip(table, lists, strict=True):
        row[: len(items)] = items
    return table


def pair_counts(y: NDArray[Any], offsets: IntArray) -> IntArray:
    """Document pairs of different grade of every query: the instances it adds to a training set, (n_queries,)."""
    y = np.asarray(y)
    n = np.diff(offsets)
    equal = np.zeros(len(n), dtype=np.int64)
    for grade in np.unique(y):
        same = np.add.reduceat((y == grade).astype(np.int64), offsets[:-1])
        equal += same * (same - 1) // 2
    different: IntArray = n * (n - 1) // 2 - equal
    return different


def rows_of(ids: NDArray[Any], known: NDArray[Any], *, what: str = "query", among: str = "the known ones") -> IntArray:
    """Place of each of ``ids`` in ``known``, shape (n_ids,).

    Raises `InputError` if one is not there; ``what`` and ``among`` are the words of the message.
    """
    place = {name: i for i, name in enumerate(known.tolist())}
    try:
        return np.array([place[name] for name in ids.tolist()], dtype=np.int64)
    except KeyError as error:
        raise InputError(f"{what} {error} is not among {among}") from None


def shuffled_within(offsets: IntArray, seed: int) -> IntArray:
    """Order of the rows, shape (n_documents,), that keeps the queries in place and shuffles the documents of each.

    Measures keep tied documents in row order. If the rows are sorted by grade, a ranker that ties all documents looks
    perfect: a constant feature in AdaRank, the first round of a booster on validation data. So learners shuffle rows.
    """
    noise = np.random.default_rng(seed).random(int(offsets[-1]))
    return np.lexsort((noise, query_index(offsets))).astype(np.int64)

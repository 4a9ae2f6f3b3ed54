"""Judged documents in memory: the form of a data set that all later steps work with."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import ArrayLike, NDArray

from qdrank.datasets.folds import ROLES, fold_names, roles
from qdrank.errors import InputError
from qdrank.layout import FloatArray, IntArray, JoinedFeatures, pair_counts, query_index, query_offsets, rows_of_queries
from qdrank.registry import did_you_mean, refuse_unknown
from qdrank.store import open_artifact
from qdrank.store.tables import list_column

TextArray = NDArray[np.object_]

COLUMNS = ("query_id", "doc_id", "label", "part", "features")
#: Optional column: grades of the relevant documents of a query that are not among the documents to rank.
MISSED = "missed"
#: Optional column: the names of these documents.
MISSED_ID = "missed_id"


@dataclass(frozen=True, eq=False)
class Judged:
    """Judged documents, grouped by query.

    Attributes
    ----------
    query_id : (n_queries,) names
    part : (n_queries,) part of the data set, S1 to S5 or train, vali, test
    offsets : (n_queries + 1,) int64; query ``i`` owns the rows ``offsets[i]`` to ``offsets[i + 1] - 1``
    doc_id : (n_documents,) names; (0,) if they were not loaded
    y : (n_documents,) int64 grades
    X : (n_documents, n_features) float32, NaN where a value is missing; (n_documents, 0) if not loaded
    missed : (n_queries,) for every query the grades of its relevant documents that are not among the documents here;
        None where the data are all there is to rank
    missed_id : (n_queries,) their names; None if they were not loaded, or are not known
    text : (n_queries,) words of the queries, for what compares them; None if they were not loaded, or are not known
    """

    query_id: TextArray
    part: TextArray
    offsets: IntArray
    doc_id: TextArray
    y: IntArray
    X: NDArray[np.float32]
    missed: TextArray | None = field(default=None)
    missed_id: TextArray | None = field(default=None)
    text: TextArray | None = field(default=None)

    @classmethod
    def from_arrays(
        cls, X: ArrayLike, y: ArrayLike, query: ArrayLike, doc_id: ArrayLike | None = None, part: str = "all"
    ) -> Judged:
        """Build from arrays: features (n_documents, n_features), grades and query ids, both (n_documents,).

        The rows of each query must be together. Documents without names are numbered within their query; all queries
        are in ``part``.
        """
        features, grades, ids = np.ascontiguousarray(X, dtype=np.float32), np.asarray(y), np.asarray(query)
        offsets = query_offsets(ids)
        if features.ndim != 2 or grades.shape != ids.shape or len(features) != len(ids):
            problem = f"features {features.shape}, grades {grades.shape} and query ids {ids.shape} do not match"
            raise InputError(problem, fix="give one grade and one query id per row of features")
        whole = grades.astype(np.int64)
        if (whole != grades).any() or (whole < 0).any():
            raise InputError("the grades must be whole numbers, 0 or more", fix="give grades such as 0, 1 or 2")
        numbers = np.arange(len(ids)) - np.repeat(offsets[:-1], np.diff(offsets))
        names = numbers + 1 if doc_id is None else np.asarray(doc_id)
        if names.shape != ids.shape:
            raise InputError(f"{len(names)} names do not fit {len(ids)} documents", fix="give every document a name")
        _refuse_twice(ids, names)
        query_id = ids[offsets[:-1]].astype(str).astype(object)
        parts = np.full(len(query_id), part, dtype=object)
        return cls(query_id, parts, offsets, names.astype(str).astype(object), whole, features)

    @property
    def n_queries(self) -> int:
        """Number of queries."""
        return len(self.query_id)

    @property
    def n_documents(self) -> int:
        """Number of documents."""
        return len(self.y)

    @property
    def query(self) -> TextArray:
        """For every document the name of its query, shape (n_documents,)."""
        return np.repeat(self.query_id, np.diff(self.offsets))

    @property
    def query_index(self) -> IntArray:
        """For every document the number of its query, shape (n_documents,)."""
        return query_index(self.offsets)

    @property
    def pairs(self) -> IntArray:
        """Document pairs of different grade of every query, shape (n_queries,)."""
        return pair_counts(self.y, self.offsets)

    @property
    def n_relevant(self) -> IntArray:
        """Number of relevant documents of every query, missed ones included, shape (n_queries,)."""
        here = np.bincount(self.query_index, weights=self.y > 0, minlength=self.n_queries).astype(np.int64)
        return here if self.missed is None else here + np.array([len(grades) for grades in self.missed], dtype=np.int64)

    @property
    def unranked(self) -> tuple[IntArray, IntArray] | None:
        """Grades and offsets of the missed documents, as `qdrank.measures.compute.measure` takes them."""
        if self.missed is None:
            return None
        grades = [np.asarray(one, dtype=np.int64) for one in self.missed]
        return np.concatenate([*grades, np.empty(0, dtype=np.int64)]), np.cumsum([0, *map(len, grades)], dtype=np.int64)

    @property
    def relevant(self) -> tuple[IntArray, TextArray, IntArray]:
        """Query, name and grade of every relevant document, (n_relevant,) each; missed ones with names come last."""
        here = np.flatnonzero(self.y > 0)
        query, names, grades = self.query_index[here], self.doc_id[here], self.y[here]
        if self.missed_id is None or self.unranked is None:
            return query, names, grades
        missed, offsets = self.unranked
        missed_id = np.array([name for ids in self.missed_id for name in ids], dtype=object)
        return (
            np.concatenate([query, query_index(offsets)]),
            np.concatenate([names, missed_id]),
            np.concatenate([grades, missed]),
        )

    @property
    def parts(self) -> list[str]:
        """Parts in order of their first query."""
        return list(dict.fromkeys(self.part.tolist()))

    @property
    def folds(self) -> list[str]:
        """Folds that the parts make."""
        return fold_names(self.parts)

    def take(self, queries: IntArray) -> Judged:
        """Queries with the given numbers, in that order.

        If the queries follow each other in the data, their documents share memory with these.
        """
        queries = np.asarray(queries, dtype=np.int64)
        rows, offsets = rows_of_queries(self.offsets, queries)
        return Judged(
            query_id=self.query_id[queries],
            part=self.part[queries],
            offsets=offsets,
            doc_id=self.doc_id[rows] if len(self.doc_id) else self.doc_id,
            y=self.y[rows],
            X=self.X[rows],
            missed=None if self.missed is None else self.missed[queries],
            missed_id=None if self.missed_id is None else self.missed_id[queries],
            text=None if self.text is None else self.text[queries],
        )

    def select(self, parts: Sequence[str]) -> Judged:
        """Queries of the given parts, one part after the other, as LETOR concatenates them."""
        known = self.parts
        for part in parts:
            if part not in known:
                raise InputError(f"there is no part {part!r} in these data", fix=did_you_mean(part, known))
        numbers = [np.flatnonzero(self.part == part) for part in parts]
        return self.take(np.concatenate([*numbers, np.empty(0, dtype=np.int64)]))

    def of_role(self, fold: str, role: str) -> Judged:
        """Queries that have the given role (train, vali or test) in a fold."""
        by_role = roles(self.parts, fold)
        refuse_unknown("role", role, by_role)
        return self.select(by_role[role])

    def with_features(self, X: NDArray[np.floating[Any]] | JoinedFeatures) -> Judged:
        """Return the same documents with other features, shape (n_documents, any).

        Features that are joined on demand stay so, for a learner that takes rows in batches.
        """
        if len(X) != self.n_documents:
            raise InputError(f"features of {len(X)} documents do not fit {self.n_documents} documents")
        kept = isinstance(X, JoinedFeatures)
        return replace(self, X=cast("NDArray[np.float32]", X) if kept else np.ascontiguousarray(X, dtype=np.float32))

    def ranked_instead(self, query: IntArray, doc_id: TextArray) -> Judged:
        """Return the same queries with other documents to rank: what a retriever found in the whole collection.

        A document that is relevant to its query has its grade, any other one grade 0; relevant documents that are not
        among the given ones are missed.

        Parameters
        ----------
        query : (n_rows,) numbers of the queries, in order
        doc_id : (n_rows,) names of their documents, each once in a query
        """
        owner, names, grades = self.relevant
        _, code = np.unique(np.concatenate([names, doc_id]).astype(str), return_inverse=True)
        size = int(code.max(initial=0)) + 1
        known, rows = owner * size + code[: len(names)], np.asarray(query) * size + code[len(names) :]
        order = np.argsort(known, kind="stable")
        place = np.minimum(np.searchsorted(known[order], rows), max(len(known) - 1, 0))
        hit = known[order][place] == rows if len(known) else np.zeros(len(rows), dtype=bool)
        y = np.zeros(len(rows), dtype=np.int64)
        y[hit] = grades[order][place[hit]]
        absent = np.flatnonzero(~np.isin(known, rows))
        absent = absent[np.lexsort((names[absent].astype(str), -grades[absent], owner[absent]))]
        bounds = np.searchsorted(owner[absent], np.arange(self.n_queries + 1))
        return Judged(
            query_id=self.query_id,
            part=self.part,
            offsets=np.searchsorted(query, np.arange(self.n_queries + 1)).astype(np.int64),
            doc_id=doc_id,
            y=y,
            X=np.empty((len(rows), 0), dtype=np.float32),
            missed=_lists(grades[absent], bounds),
            missed_id=_lists(names[absent], bounds),
            text=self.text,
        )

    def to_table(self) -> pa.Table:
        """Return the artifact ``judged`` as an Arrow table."""
        names = pa.array(self.query_id, pa.string()).take(pa.array(self.query_index))
        parts = pa.array(self.part, pa.string()).take(pa.array(self.query_index))
        table = judged_table(names, pa.array(self.doc_id, pa.string()), self.y, parts, self.X)
        return table if self.missed is None else with_missed(table, self.missed, self.offsets, self.missed_id)


def _refuse_twice(query: NDArray[Any], doc_id: NDArray[Any]) -> None:
    pairs = list(zip(query.tolist(), doc_id.tolist(), strict=True))
    if len(set(pairs)) < len(pairs):
        name, document = next(pair for pair, times in Counter(pairs).items() if times > 1)
        fix = "keep one row of each document in a query"
        raise InputError(f"document {document} comes twice in query {name}", fix=fix)


def _lists(values: NDArray[Any], bounds: IntArray) -> TextArray:
    """Values between each two bounds, as tuples, shape (n_queries,)."""
    lists = np.empty(len(bounds) - 1, dtype=object)
    lists[:] = [tuple(values[a:b].tolist()) for a, b in pairwise(bounds.tolist())]
    return lists


def judged_table(
    query_id: pa.Array, doc_id: pa.Array, label: NDArray[np.integer[Any]], part: pa.Array, X: NDArray[np.float32]
) -> pa.Table:
    """Columns of the artifact ``judged``, shape (n_documents,) each, from Arrow strings and arrays."""
    label = pa.array(label).cast(pa.int8())
    return pa.table([query_id, doc_id, label, part, list_column(X)], names=list(COLUMNS))


def with_missed(
    table: pa.Table,
    missed: Sequence[Sequence[int]] | TextArray,
    offsets: IntArray,
    missed_id: Sequence[Sequence[str]] | TextArray | None = None,
) -> pa.Table:
    """``table`` with the columns of missed grades and names: those of each query, (n_queries,), in the query's first row."""
    table = table.append_column(MISSED, _in_first_rows(missed, offsets, pa.int8()))
    return (
        table if missed_id is None else table.append_column(MISSED_ID, _in_first_rows(missed_id, offsets, pa.string()))
    )


def _in_first_rows(values: Sequence[Sequence[Any]] | TextArray, offsets: IntArray, kind: pa.DataType) -> pa.Array:
    """Lists of queries, (n_queries,), as a column of documents: each in the first row of its query."""
    rows: list[Sequence[Any]] = [()] * int(offsets[-1])
    for start, of_query in zip(offsets[:-1].tolist(), values, strict=True):
        rows[start] = list(of_query)
    return pa.array(rows, pa.list_(kind))


def load_judged(path: str | os.PathLike[str], columns: Sequence[str] | None = None) -> Judged:
    """Read the artifact ``judged``, row group by row group into place.

    Parameters
    ----------
    path : the artifact
    columns : of ``doc_id`` and ``features``, those to load; the others are always there. Default: both
    """
    with_names, with_features = _wanted(columns)
    with open_artifact(path, "judged") as file:
        heads = _without_features(file, with_names)
        return _with_features(file, heads, [np.arange(heads.n_queries)])[0] if with_features else heads


def load_roles(
    path: str | os.PathLike[str], fold: str, wanted: Sequence[str] = ROLES, columns: Sequence[str] | None = None
) -> dict[str, Judged]:
    """Read the queries of some roles of a fold, by role; features of other queries are not read.

    The other parameters are those of `load_judged`.
    """
    with_names, with_features = _wanted(columns)
    for role in wanted:
        refuse_unknown("role", role, ROLES)
    with open_artifact(path, "judged") as file:
        heads = _without_features(file, with_names)
        parts = {role: names for role, names in roles(heads.parts, fold).items() if role in wanted}
        numbers = [np.flatnonzero(np.isin(heads.part, names)) for names in parts.values()]
        each = _with_features(file, heads, numbers) if with_features else [heads.take(queries) for queries in numbers]
    return {role: one.select(names) for one, (role, names) in zip(each, parts.items(), strict=True)}


def _wanted(columns: Sequence[str] | None) -> tuple[bool, bool]:
    """Whether to load the documents' names, and their features."""
    wanted = set(COLUMNS) if columns is None else set(columns)
    if not wanted <= set(COLUMNS):
        raise InputError(f"judged has no column {min(wanted - set(COLUMNS))!r}", fix="columns: " + ", ".join(COLUMNS))
    return "doc_id" in wanted, "features" in wanted


def _columns(file: pq.ParquetFile, with_names: bool) -> list[str]:
    wanted = [MISSED, MISSED_ID] if with_names else [MISSED]
    missed = [name for name in wanted if name in file.schema_arrow.names]
    return ["query_id", "part", "label", *missed] + ["doc_id"] * with_names


def _matrix(features: pa.ChunkedArray) -> NDArray[np.float32]:
    """Values of a column of fixed-size lists, shape (n_documents, n_features)."""
    flat: NDArray[np.float32] = features.combine_chunks().flatten().to_numpy()
    return flat.reshape(-1, features.type.list_size)


def _without_features(file: pq.ParquetFile, with_names: bool) -> Judged:
    """All queries and documents, without features."""
    n = file.metadata.num_rows
    y, doc_id = np.empty(n, dtype=np.int64), np.empty(n if with_names else 0, dtype=object)
    heads: list[pa.Table] = []
    for start, table in _row_groups(file, _columns(file, with_names)):
        rows = slice(start, start + len(table))
        heads.append(_heads(table, start))
        y[rows] = table["label"].to_numpy()
        if with_names:
            doc_id[rows] = table["doc_id"].to_numpy()
    query_id, part, offsets, *missed = _queries(pa.concat_tables(heads), n)
    return Judged(query_id, part, offsets, doc_id, y, np.empty((n, 0), dtype=np.float32), *missed)


def _with_features(file: pq.ParquetFile, whole: Judged, selections: Sequence[IntArray]) -> list[Judged]:
    """Selections of the queries, each in the order of the data set, with their features.

    Each has a table of its own, so that it can be freed alone. At most one row group is held twice, each is read once,
    and those without such queries not at all.
    """
    width = file.schema_arrow.field("features").type.list_size
    wanted = [_rows_wanted(whole, queries) for queries in selections]
    tables = [np.empty((int(rows.sum()), width), dtype=np.float32) for rows in wanted]
    start, filled = 0, [0] * len(tables)
    for row_group in range(file.num_row_groups):
        end = start + file.metadata.row_group(row_group).num_rows
        here = [rows[start:end] for rows in wanted]
        if any(rows.any() for rows in here):
            features = _matrix(file.read_row_group(row_group, columns=["features"], use_threads=False)["features"])
            for i, rows in enumerate(here):
                n = int(rows.sum())
                tables[i][filled[i] : filled[i] + n] = features if n == len(features) else features[rows]
                filled[i] += n
        start = end
    return [replace(whole.take(queries), X=X) for queries, X in zip(selections, tables, strict=True)]


def _rows_wanted(whole: Judged, queries: IntArray) -> NDArray[np.bool_]:
    """Whether each document is one of these queries'."""
    wanted = np.zeros(whole.n_queries, dtype=bool)
    wanted[queries] = True
    return np.repeat(wanted, np.diff(whole.offsets))


def _row_groups(file: pq.ParquetFile, columns: list[str]) -> Iterator[tuple[int, pa.Table]]:
    """Row groups, each with the number of its first row."""
    start = 0
    for row_group in range(file.num_row_groups):
        table = file.read_row_group(row_group, columns=columns, use_threads=False)
        yield start, table
        start += len(table)


def _heads(table: pa.Table, start: int) -> pa.Table:
    """Name, part, missed grades and row number of the first row of every run of rows of the same query."""
    codes = table["query_id"].combine_chunks().dictionary_encode().indices.to_numpy()
    heads = np.flatnonzero(np.concatenate([[True], codes[1:] != codes[:-1]])).astype(np.int64)
    kept = [name for name in ("query_id", "part", MISSED, MISSED_ID) if name in table.column_names]
    return table.select(kept).take(pa.array(heads)).append_column("start", pa.array(heads + start))


def _queries(
    heads: pa.Table, n_documents: int
) -> tuple[TextArray, TextArray, IntArray, TextArray | None, TextArray | None]:
    """Names, parts, offsets, missed grades and missed names of queries.

    A query that is split between row groups has two heads: the first counts.
    """
    names = heads["query_id"].to_numpy()
    keep = np.concatenate([np.ones(min(1, len(names)), dtype=bool), names[1:] != names[:-1]])
    query_offsets(names[keep])  # each query in one place
    offsets = np.append(heads["start"].to_numpy()[keep], n_documents).astype(np.int64)
    missed, missed_id = (_tuples(heads, name, keep) for name in (MISSED, MISSED_ID))
    return names[keep], heads["part"].to_numpy()[keep], offsets, missed, missed_id


def _tuples(heads: pa.Table, name: str, keep: NDArray[np.bool_]) -> TextArray | None:
    """Lists of a column as tuples, of the rows to ``keep``; None if the column is not there."""
    if name not in heads.column_names:
        return None
    lists = np.empty(len(heads), dtype=object)
    lists[:] = [tuple(items) for items in heads[name].to_pylist()]
    return lists[keep]


def scores_table(documents: Judged, scores: FloatArray) -> pa.Table:
    """The artifact ``scores`` of documents, shape (n_documents,) scores."""
    return pa.table(_names(documents) | {"score": scores})


def refits_table(documents: Judged, scores: Sequence[FloatArray]) -> pa.Table:
    """The artifact ``refits``: scores (n_documents,) of the documents from each further fit of a method, the first being fit 1."""
    fits = [
        pa.table({"fit": np.full(documents.n_documents, fit, dtype=np.int64), **_names(documents), "score": one})
        for fit, one in enumerate(scores, start=1)
    ]
    return pa.concat_tables(fits)


def _names(documents: Judged) -> dict[str, pa.Array]:
    ids = {"query_id": documents.query, "doc_id": documents.doc_id}
    return {name: pa.array(values, pa.string()) for name, values in ids.items()}

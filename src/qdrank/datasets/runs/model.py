"""Runs and judgments in memory; runs side by side, with scores made comparable within each query."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from qdrank.layout import FloatArray, IntArray, query_index, query_offsets

if TYPE_CHECKING:
    from qdrank.datasets.judged import Judged


@dataclass(frozen=True, eq=False)
class _Lists:
    """Documents grouped by query: ids, each of shape (n_documents,)."""

    query: NDArray[Any]
    doc: NDArray[Any]

    @cached_property
    def offsets(self) -> IntArray:
        """Bounds of the queries, shape (n_queries + 1,)."""
        return query_offsets(self.query)

    @cached_property
    def place(self) -> dict[str, int]:
        """From each query to its number, in their order."""
        return {query: i for i, query in enumerate(self.query[self.offsets[:-1]].tolist())}


@dataclass(frozen=True, eq=False)
class Run(_Lists):
    """Scored documents: their scores, (n_documents,), the name of the run, and the form in which it was written, in words."""

    score: FloatArray
    tag: str
    form: str = "arrays"


@dataclass(frozen=True, eq=False)
class Qrels(_Lists):
    """Judged documents: their grades, (n_documents,), and the form in words."""

    grade: IntArray
    form: str = "arrays"

    @property
    def words(self) -> str:
        """What they are, and how many."""
        return f"{self.form}: {len(self.place):,} queries, {len(self.doc):,} judged documents"

    @cached_property
    def by_query(self) -> dict[str, dict[str, int]]:
        """Grades of each query's judged documents, in the order of the file."""
        docs, grades, offsets = self.doc.tolist(), self.grade.tolist(), self.offsets.tolist()
        bounds = zip(self.place, pairwise(offsets), strict=True)
        return {query: dict(zip(docs[a:b], grades[a:b], strict=True)) for query, (a, b) in bounds}


def together(query: NDArray[Any]) -> IntArray | None:
    """Rows grouped by query, queries in order of first appearance; None if they are grouped already.

    ``query`` has shape (n_rows,), ids or numbers of the queries.
    """
    starts = np.flatnonzero(np.concatenate([[True], query[1:] != query[:-1]]))
    heads = query[starts].tolist()
    place = {name: i for i, name in enumerate(dict.fromkeys(heads))}
    if len(place) == len(heads):
        return None
    sizes = np.diff(np.append(starts, len(query)))
    return np.argsort(np.repeat([place[name] for name in heads], sizes), kind="stable")


def system_runs(ranks: Judged, best: str = "low") -> Iterator[Run]:
    """The systems of a rank-aggregation set: one run for each column of ranks, ``system-1`` and so on; without any rank none.

    A document without a rank is not retrieved. With ``best`` "low" minus the rank is the score; "high" is for files whose best document has the highest number.
    """
    sign = 1.0 if best == "high" else -1.0
    for system, rank in enumerate(ranks.X.T, 1):
        rows = np.flatnonzero(~np.isnan(rank))
        if len(rows):
            score = sign * rank[rows].astype(np.float64)
            yield Run(ranks.query[rows], ranks.doc_id[rows], score, f"system-{system}", "ranks of a system")


def judgments_of(ranks: Judged) -> Qrels:
    """The judgments of all documents."""
    return Qrels(ranks.query, ranks.doc_id, ranks.y, "judgments of a LETOR file")


#: Names of a run's columns; the tag follows.
COLUMNS = ("min-max of", "z-score of", "rank in", "1/rank in", "retrieved by")


def min_max(scores: FloatArray, rank: IntArray, offsets: IntArray) -> FloatArray:  # noqa: ARG001
    """Scores of each query from 0 to 1, all 1 where they are equal; shape (n_documents,)."""
    low, high = _ends(scores, offsets)
    scaled: FloatArray = np.divide(scores - low, high - low, out=np.ones(len(scores)), where=high > low)
    return scaled


def z_score(scores: FloatArray, rank: IntArray, offsets: IntArray) -> FloatArray:  # noqa: ARG001
    """Scores of each query with mean 0 and variance 1, all 0 where they are equal; shape (n_documents,)."""
    of_query, n = query_index(offsets), np.diff(offsets)
    low, high = _ends(scores, offsets)
    centred = scores - (np.bincount(of_query, weights=scores, minlength=len(n)) / n)[of_query]
    deviation = np.sqrt(np.bincount(of_query, weights=centred**2, minlength=len(n)) / n)[of_query]
    scaled: FloatArray = np.divide(centred, deviation, out=np.zeros(len(scores)), where=high > low)
    return scaled


def by_rank(scores: FloatArray, rank: IntArray, offsets: IntArray) -> FloatArray:  # noqa: ARG001
    """1 for the first of n documents, 1 - 1/n for the second, 1/n for the last; shape (n_documents,)."""
    n = np.diff(offsets)[query_index(offsets)]
    return 1 - (rank - 1) / n


def _ends(scores: FloatArray, offsets: IntArray) -> tuple[FloatArray, FloatArray]:
    """Lowest and highest score of each document's query."""
    sizes = np.diff(offsets)
    low, high = (ufunc.reduceat(scores, offsets[:-1]) for ufunc in (np.minimum, np.maximum))
    return np.repeat(low, sizes), np.repeat(high, sizes)


def run_ranks(run: Run) -> IntArray:
    """Rank of each document in its query, from 1: by descending score, ties by descending id; shape (n_documents,)."""
    of_query = query_index(run.offsets)
    _, docno = np.unique(run.doc.astype(str), return_inverse=True)
    order = np.lexsort((-docno, -run.score, of_query))
    ranks = np.empty(len(order), dtype=np.int64)
    ranks[order] = np.arange(len(order)) - run.offsets[:-1][of_query] + 1
    return ranks


def alone(X: NDArray[Any]) -> FloatArray:
    """Each run's own ranking from the columns of runs, (n_documents, n_runs): 1/rank, minus infinity where it lacks the document."""
    first = X[:, COLUMNS.index("1/rank in") :: len(COLUMNS)].astype(np.float64)
    return np.where(first > 0, first, -np.inf)


class Union(NamedTuple):
    """All documents that any run returns: ids in order, query and document of each pair, and the pairs of each run's rows."""

    queries: NDArray[Any]
    docs: NDArray[Any]
    of_query: IntArray
    docno: IntArray
    rows: list[IntArray]


def union_of(runs: Sequence[Run]) -> Union:
    """Join runs on query and document; queries in order of first appearance, documents by their ids."""
    queries = list(dict.fromkeys(name for run in runs for name in run.place))
    place = {name: i for i, name in enumerate(queries)}
    docs, docno = np.unique(np.concatenate([run.doc.astype(str) for run in runs]), return_inverse=True)
    of_query = [np.array([place[name] for name in run.place])[query_index(run.offsets)] for run in runs]
    pairs, row = np.unique(np.concatenate(of_query) * len(docs) + docno, return_inverse=True)
    rows = np.split(row, np.cumsum([len(run.doc) for run in runs])[:-1])
    names = np.array(queries, dtype=object), docs.astype(object)
    return Union(*names, pairs // len(docs), pairs % len(docs), rows)

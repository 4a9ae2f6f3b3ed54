"""Runs and judgments in memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from qdrank.layout import FloatArray, IntArray, query_offsets

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

"""Runs and judgments in memory."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qdrank.layout import FloatArray, IntArray, query_offsets


@dataclass(frozen=True, eq=False)
class Run:
    """Scored documents, grouped by query.

    Attributes
    ----------
    query, doc : (n_documents,) ids
    score : (n_documents,)
    tag : name of the run
    form : the form in which it was written, in words
    """

    query: NDArray[Any]
    doc: NDArray[Any]
    score: FloatArray
    tag: str
    form: str = "arrays"

    @cached_property
    def offsets(self) -> IntArray:
        """Bounds of the queries, shape (n_queries + 1,)."""
        return query_offsets(self.query)

    @cached_property
    def place(self) -> dict[str, int]:
        """From each query to its number, in the order of the run."""
        return {query: i for i, query in enumerate(self.query[self.offsets[:-1]].tolist())}


@dataclass(frozen=True, eq=False)
class Qrels:
    """Judged documents, grouped by query: ids and grades, each of shape (n_documents,), and the form in words."""

    query: NDArray[Any]
    doc: NDArray[Any]
    grade: IntArray
    form: str = "arrays"

    @cached_property
    def by_query(self) -> dict[str, dict[str, int]]:
        """Grades of each query's judged documents, in the order of the file."""
        offsets = query_offsets(self.query)
        docs, grades = self.doc.tolist(), self.grade.tolist()
        bounds = zip(self.query[offsets[:-1]].tolist(), offsets[:-1].tolist(), offsets[1:].tolist(), strict=True)
        return {query: dict(zip(docs[a:b], grades[a:b], strict=True)) for query, a, b in bounds}


def together(query: list[str]) -> IntArray | None:
    """Rows grouped by query, queries in order of first appearance; None if they are grouped already."""
    place = {name: i for i, name in enumerate(dict.fromkeys(query))}
    codes = np.fromiter(map(place.__getitem__, query), dtype=np.int64, count=len(query))
    return None if (codes[1:] >= codes[:-1]).all() else np.argsort(codes, kind="stable")

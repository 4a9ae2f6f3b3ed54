"""Runs against judgments, as trec_eval takes them: pooled judgments, some documents judged and some ranked."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain, repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qdrank.datasets.runs.model import Qrels, Run
from qdrank.errors import AnyPath, InputError
from qdrank.layout import FloatArray, IntArray
from qdrank.measures.compute import measure


@dataclass(frozen=True, eq=False)
class JudgedRun:
    """A run's documents of the judged queries, in the judgments' order.

    Attributes
    ----------
    query_id : (n_queries,) all judged queries
    grade, judged, score, doc_id : (n_documents,) grade (0 without a judgment), whether it is judged, score and id of each document
    offsets : (n_queries + 1,) bounds of the queries; a query that the run lacks has no documents
    unranked : grades and bounds of the judged documents that the run does not return
    n_other : queries of the run that have no judgments
    """

    query_id: list[str]
    grade: IntArray
    judged: NDArray[np.bool_]
    score: FloatArray
    doc_id: NDArray[Any]
    offsets: IntArray
    unranked: tuple[IntArray, IntArray]
    n_other: int

    def measured(self, names: Iterable[str]) -> dict[str, FloatArray]:
        """Values of measures, by name, each of shape (n_queries,)."""
        ids = {"doc_ids": self.doc_id, "judged": self.judged}
        return measure(names, self.grade, self.score, self.offsets, unranked=self.unranked, **ids)

    @property
    def n_missing(self) -> int:
        """Judged queries for which the run has no document."""
        return int((np.diff(self.offsets) == 0).sum())


def judged_run(run: Run, qrels: Qrels, *, file: AnyPath | None = None) -> JudgedRun:
    """Join a run with judgments. As in trec_eval, a document with a negative grade counts as not judged.

    Raises
    ------
    InputError
        If the two have no query in common, or no document of a common query: judgments of another collection.
    """
    grades, sizes, rest, rows = [], [], [], []
    docs, offsets = run.doc.tolist(), run.offsets.tolist()
    for query, judged in qrels.by_query.items():
        place = run.place.get(query)
        a, b = (0, 0) if place is None else (offsets[place], offsets[place + 1])
        returned = docs[a:b]
        grades.append(list(map(judged.get, returned, repeat(-1))))
        rows.append(np.arange(a, b))
        sizes.append(b - a)
        missed = judged.keys() - set(returned)
        rest.append([grade for doc, grade in judged.items() if grade >= 0 and doc in missed])
    level = np.array([*chain.from_iterable(grades)], dtype=np.int64)
    at = np.concatenate(rows)
    _refuse_another_collection(run, qrels, level, file)
    unranked = np.array([*chain.from_iterable(rest)], dtype=np.int64), _bounds(list(map(len, rest)))
    joined = np.maximum(level, 0), level >= 0, run.score[at], run.doc[at], _bounds(sizes)
    n_other = len(run.place.keys() - qrels.by_query.keys())
    return JudgedRun(list(qrels.by_query), *joined, unranked, n_other)


def _refuse_another_collection(run: Run, qrels: Qrels, level: IntArray, file: AnyPath | None) -> None:
    fix = "give the judgments of the collection that the run was made on"
    if not run.place.keys() & qrels.by_query.keys():
        both = f"query {next(iter(run.place))} in the run, {next(iter(qrels.by_query))} in the judgments"
        raise InputError("the run has none of the judged queries", file=file, found=both, fix=fix)
    known = {doc for judged in qrels.by_query.values() for doc in judged} if (level < 0).all() else set()
    if known and not known & set(run.doc.tolist()):
        both = f"document {run.doc[0]} in the run, {qrels.doc[0]} in the judgments"
        raise InputError("the run has none of the judged documents", file=file, found=both, fix=fix)


def measure_run(names: Iterable[str], run: Run, qrels: Qrels) -> tuple[list[str], dict[str, FloatArray]]:
    """Measures of a run for every judged query.

    A document without a judgment, or with a negative one, counts as not relevant; a relevant document that the run
    does not return still counts in average precision and in the ideal order. A judged query that is not in
    the run counts as an empty list (trec_eval's ``-c``); queries without judgments are left out.

    Returns
    -------
    ids of the queries, in the judgments' order, and from each name to its values, shape (n_queries,)
    """
    joined = judged_run(run, qrels)
    return joined.query_id, joined.measured(names)


def _bounds(sizes: list[int]) -> IntArray:
    return np.cumsum([0, *sizes], dtype=np.int64)

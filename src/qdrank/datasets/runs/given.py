"""Runs and judgments as Python has them: paths, dictionaries, DataFrames."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from qdrank.datasets.runs.model import Qrels, Run, together
from qdrank.datasets.runs.reading import read_qrels, read_run
from qdrank.errors import InputError
from qdrank.layout import FloatArray

if TYPE_CHECKING:
    import pandas as pd

    Given = str | os.PathLike[str] | Mapping[str, Mapping[str, float]] | pd.DataFrame | Run | Qrels

#: Names of columns in PyTerrier, ir_datasets, trec_eval's readers and BEIR.
_QUERY = ("query_id", "qid", "query", "q_id", "query-id", "topic")
_DOCUMENT = ("doc_id", "docno", "docid", "document", "did", "pid", "corpus-id")
_SCORE = ("score", "sim")
_GRADE = ("relevance", "label", "grade", "rel", "score")


def run_of(given: Given, name: str = "run") -> Run:
    """A run from a file, ``{query: {document: score}}``, or a frame with columns such as qid, docno, score."""
    if isinstance(given, Run):
        return given
    if isinstance(given, str | os.PathLike):
        return read_run(given)
    query, doc, score = _columns(given, _SCORE, "a run")
    if not np.isfinite(score).all():
        row = int(np.flatnonzero(~np.isfinite(score))[0])
        raise InputError("a score is not a number", found=f"query {query[row]}, document {doc[row]}: {score[row]}")
    return Run(query, doc, score, name, "in Python")


def qrels_of(given: Given) -> Qrels:
    """Judgments from a file, ``{query: {document: grade}}``, or a frame with columns such as qid, docno, label."""
    if isinstance(given, Qrels):
        return given
    if isinstance(given, str | os.PathLike):
        return read_qrels(given)
    query, doc, grade = _columns(given, _GRADE, "judgments")
    whole = grade.astype(np.int64)
    if not (whole == grade).all():
        raise InputError("a grade is not a whole number", found=str(grade[whole != grade][0]))
    return Qrels(query, doc, whole, "judgments in Python")


def _columns(given: Any, third: Sequence[str], what: str) -> tuple[NDArray[Any], NDArray[Any], FloatArray]:
    """Queries, documents and numbers, documents of a query together; each (n_rows,)."""
    if isinstance(given, Mapping):
        rows = [(query, doc, number) for query, docs in given.items() for doc, number in docs.items()]
        query, doc, number = (np.array([row[i] for row in rows], dtype=object) for i in range(3))
    elif hasattr(given, "columns"):
        names = [_named(given.columns, known, what) for known in (_QUERY, _DOCUMENT, third)]
        query, doc, number = (given[name].to_numpy(dtype=object) for name in names)
    else:
        fix = "give a path, a dictionary {query: {document: number}}, or a DataFrame"
        raise InputError(f"{what} cannot be read from {type(given).__name__}", fix=fix)
    if not len(query):
        raise InputError(f"{what} without rows", fix="give at least one query with a document")
    query, doc = (np.array(list(map(str, column)), dtype=object) for column in (query, doc))
    pairs = Counter(zip(query.tolist(), doc.tolist(), strict=True))
    if len(pairs) < len(query):
        (twice, again), _ = pairs.most_common(1)[0]
        raise InputError(f"{what}: query {twice} has document {again} twice", fix="give each document once")
    order = together(query)
    rows_ = slice(None) if order is None else order
    return query[rows_], doc[rows_], number.astype(np.float64)[rows_]


def _named(columns: Any, known: Sequence[str], what: str) -> str:
    found = next((name for name in known if name in columns), None)
    if found is None:
        fix = f"name a column {known[0]} ({', '.join(known[1:])})"
        raise InputError(f"{what}: no column {known[0]}", found=", ".join(map(str, columns)), fix=fix)
    return found

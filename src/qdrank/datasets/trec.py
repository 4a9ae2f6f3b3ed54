"""Reading and writing runs and judgments in TREC's formats, for use with trec_eval and similar tools.

A run has the lines ``QUERY Q0 DOCUMENT RANK SCORE TAG``, judgments (qrels) ``QUERY 0 DOCUMENT GRADE``. As trec_eval
does, reading goes by the scores and not by the ranks. Mind that trec_eval keeps scores in single precision and breaks
ties by descending document id: the convention ``trec`` of `qdrank.measures` does the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isnan
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qdrank.datasets.collections.files import lines
from qdrank.errors import AnyPath, InputError
from qdrank.groups import FloatArray, IntArray
from qdrank.store.atomic import write_text

_RUN = ("query", "Q0", "document", "rank", "score", "tag")
_QRELS = ("query", "0", "document", "grade")


@dataclass(frozen=True, eq=False)
class Run:
    """Scored documents, each query's together.

    Attributes
    ----------
    query, doc : (n_documents,) ids
    score : (n_documents,)
    tag : name of the run
    """

    query: NDArray[Any]
    doc: NDArray[Any]
    score: FloatArray
    tag: str


@dataclass(frozen=True, eq=False)
class Qrels:
    """Judged documents, each query's together: ids and grades, each of shape (n_documents,)."""

    query: NDArray[Any]
    doc: NDArray[Any]
    grade: IntArray


def read_run(path: AnyPath) -> Run:
    """Read a run, plain or compressed (.gz, .xz); queries in the order in which they first come, documents as filed.

    Raises
    ------
    InputError
        At the first line that does not have six columns, a rank or score that is not a number, another tag than the first
        line's, or a document that comes again for its query.
    """
    rows = list(_rows(path, _RUN))
    for number, row in rows:
        _whole(row[3], "rank", path, number)
        if row[5] != rows[0][1][5]:
            raise InputError("another run begins", file=path, line=number, found=row[5], fix="one run per file")
    score = [_number(row[4], path, number) for number, row in rows]
    order = _by_query([row[0] for _, row in rows])
    return Run(_column(rows, 0)[order], _column(rows, 2)[order], np.array(score)[order], rows[0][1][5])


def read_qrels(path: AnyPath) -> Qrels:
    """Read judgments, plain or compressed (.gz, .xz); the second column is ignored, as by trec_eval.

    Raises
    ------
    InputError
        At the first line that does not have four columns, a grade that is not a whole number, or a document judged twice.
    """
    rows = list(_rows(path, _QRELS))
    grade = [_whole(row[3], "grade", path, number) for number, row in rows]
    order = _by_query([row[0] for _, row in rows])
    return Qrels(_column(rows, 0)[order], _column(rows, 2)[order], np.array(grade, dtype=np.int64)[order])


def write_run(path: AnyPath, query: ArrayLike, doc: ArrayLike, score: ArrayLike, *, tag: str = "qdrank") -> None:
    """Write a run: each query's documents by descending score, ties in row order, scores in full precision.

    Parameters
    ----------
    path : the file; it is written completely or not at all
    query, doc : (n_documents,) ids, without white space
    score : (n_documents,)
    tag : name of the run
    """
    scores = np.asarray(score, dtype=np.float64)
    queries, docs = _ids(query, doc, len(scores))
    _word(tag, "tag")
    if np.isnan(scores).any():
        raise InputError("a run cannot contain a score that is not a number", file=path)
    write_text(path, "".join(run_lines(queries, docs, scores, tag)))


def run_lines(query: Sequence[str], doc: Sequence[str], scores: FloatArray, tag: str) -> Iterator[str]:
    """Lines of a run: each query's documents by descending score, ties in row order, scores in full precision."""
    rank, last = 0, None
    for i in _by_query(query, scores).tolist():
        rank = rank + 1 if query[i] == last else 1
        last = query[i]
        yield f"{query[i]} Q0 {doc[i]} {rank} {float(scores[i])!r} {tag}\n"


def write_qrels(path: AnyPath, query: ArrayLike, doc: ArrayLike, grade: ArrayLike) -> None:
    """Write judgments; ``query``, ``doc`` and ``grade`` have shape (n_documents,), ids have no white space."""
    grades = np.asarray(grade)
    if grades.dtype.kind not in "iub":
        raise InputError("grades must be whole numbers", file=path, found=str(grades.dtype))
    queries, docs = _ids(query, doc, len(grades))
    rows = (f"{queries[i]} 0 {docs[i]} {int(grades[i])}\n" for i in _by_query(queries))
    write_text(path, "".join(rows))


def _rows(path: AnyPath, form: Sequence[str]) -> Iterator[tuple[int, list[str]]]:
    """Number and columns of each line that is not blank; a document may come once per query."""
    seen: set[tuple[str, str]] = set()
    fix = "each line reads: " + " ".join(form)
    for number, line in lines(Path(path)):
        row = line.split()
        if not row:
            continue
        if len(row) != len(form):
            raise InputError(f"{len(row)} columns, not {len(form)}", file=path, line=number, found=line, fix=fix)
        if (row[0], row[2]) in seen:
            problem = f"document {row[2]} comes again for query {row[0]}"
            raise InputError(problem, file=path, line=number, found=line, fix="keep one of the two lines")
        seen.add((row[0], row[2]))
        yield number, row
    if not seen:
        raise InputError("has no lines", file=path, fix=fix)


def _column(rows: list[tuple[int, list[str]]], which: int) -> NDArray[Any]:
    return np.array([row[which] for _, row in rows], dtype=object)


def _whole(text: str, what: str, path: AnyPath, line: int) -> int:
    try:
        return int(text)
    except ValueError:
        raise InputError(f"the {what} is not a whole number", file=path, line=line, found=text) from None


def _number(text: str, path: AnyPath, line: int) -> float:
    try:
        number = float(text)
    except ValueError:
        number = float("nan")
    if isnan(number):
        raise InputError("the score is not a number", file=path, line=line, found=text)
    return number


def _by_query(query: Sequence[str], scores: FloatArray | None = None) -> IntArray:
    """Rows with each query's together, queries in order of first appearance; by descending score within, if given."""
    place = {name: i for i, name in enumerate(dict.fromkeys(query))}
    keys = np.array([place[name] for name in query], dtype=np.int64)
    return np.lexsort((keys,) if scores is None else (-scores, keys))


def _ids(query: ArrayLike, doc: ArrayLike, n: int) -> tuple[list[str], list[str]]:
    """Ids as text, checked: as many as rows, single words, no document twice for a query."""
    queries, docs = ([str(name) for name in np.asarray(ids).tolist()] for ids in (query, doc))
    if not len(queries) == len(docs) == n:
        raise InputError(f"{len(queries)} query ids and {len(docs)} document ids for {n} rows")
    for name in {*queries, *docs}:
        _word(name, "id")
    for (name, document), count in Counter(zip(queries, docs, strict=True)).items():
        if count > 1:
            raise InputError(f"document {document} comes {count} times for query {name}")
    return queries, docs


def _word(text: str, what: str) -> None:
    if text.split() != [text]:
        raise InputError(
            f"the {what} is not a single word", found=text, fix="TREC's columns are separated by white space"
        )

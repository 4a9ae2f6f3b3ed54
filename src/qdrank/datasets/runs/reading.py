"""Reading runs and judgments: the form is recognised by the content, and kept with what was read.

===================  ==============================================  ==================================================
form                 a run                                           judgments
===================  ==============================================  ==================================================
TREC                 ``query Q0 document rank score tag``            ``query 0 document grade``
three columns        ``query document score``, or with ranks from 1  ``query document grade``, with or without a heading
JSON (BEIR, ranx)    ``{query: {document: score}}``                  ``{query: {document: grade}}``
===================  ==============================================  ==================================================

As trec_eval does, reading goes by the scores of a TREC run and not by its ranks. A run of three columns has ranks, as MS MARCO's do, if the
third column counts 1, 2, 3, ... within every query; then minus the rank is the score. Files may be compressed (.gz, .xz, .bz2, .zst).
A block of ir_metadata at the head of a run is passed over.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qdrank.datasets.letor.files import open_bytes
from qdrank.datasets.runs.columns import Columns, first_row, read_columns, read_numbers
from qdrank.datasets.runs.model import Qrels, Run, together
from qdrank.datasets.runs.naming import distinct_names, stem
from qdrank.errors import GRADE_FIX, AnyPath, InputError
from qdrank.layout import FloatArray, query_offsets

_RUN = ("query", "Q0", "document", "rank", "score", "tag")
_SHORT_RUN = ("query", "document", "score")
_QRELS = ("query", "0", "document", "grade")
_SHORT_QRELS = ("query", "document", "grade")
_JSON = re.compile(rb"\s*\{\s*([\"}]|$)")
_SCORE = "the score is not a number, or too large"
_SCORE_FIX = "write the score as a decimal number, such as 12.5 or 1e-3"
TREC_RUN, SCORED_RUN, RANKED_RUN, JSON_RUN = (
    "TREC run",
    "run of query, document, score",
    "run of query, document, rank (as MS MARCO's)",
    "JSON run {query: {document: score}}",
)
TREC_QRELS, BEIR_QRELS, SHORT_QRELS, JSON_QRELS = (
    "TREC judgments",
    "BEIR judgments (tab-separated, with a heading)",
    "judgments of query, document, grade",
    "JSON judgments {query: {document: grade}}",
)


def read_runs(path: AnyPath) -> list[Run]:
    """All runs of a file: one for each tag of a TREC run, in order of first appearance.

    Queries are in order of first appearance, documents in the order of the file.

    Raises `InputError` at the first line with a different number of columns, a rank or a score that is not a number, or
    a document that its query already has; and for an empty file.
    """
    number, line = first_row(path)
    if _JSON.match(line):
        return [_json_run(path)]
    width = len(line.split())
    if width == len(_SHORT_RUN):
        return [_short_run(path, number - 1)]
    if width == len(_QRELS):
        fix = "judgments come first: qdrank evaluate QRELS RUN; a run has the columns " + " ".join(_RUN)
        raise InputError("4 columns, as judgments have; not a run", file=path, line=number, found=line, fix=fix)
    columns = read_columns(path, _RUN, (0, 2, 3, 4, 5), skip=number - 1)
    _refuse_other_ranks(columns, path)
    score = read_numbers(columns, 4, path, read=float, problem=_SCORE, fix=_SCORE_FIX)
    return list(_by_tag(columns, score, path))


def read_all_runs(paths: Sequence[AnyPath]) -> list[Run]:
    """The runs of several files, their tags replaced by `distinct_names`."""
    read = [(path, run) for path in paths for run in read_runs(path)]
    names = distinct_names([(path, run.tag) for path, run in read])
    return [replace(run, tag=name) for (_, run), name in zip(read, names, strict=True)]


def read_run(path: AnyPath) -> Run:
    """The run of a file that has only one; see `read_runs`."""
    first, *others = read_runs(path)
    if others:
        fix = "name a file with one run; `qdrank evaluate` takes them all"
        raise InputError(
            f"{len(others) + 1} runs in one file", file=path, found=f"tags {first.tag}, {others[0].tag}", fix=fix
        )
    return first


def read_qrels(path: AnyPath) -> Qrels:
    """Judgments; TREC's second column is ignored, as by trec_eval.

    Raises `InputError` at the first line with a different number of columns, a grade that is not a whole number, or a
    document judged twice; and for an empty file.
    """
    number, line = first_row(path)
    if _JSON.match(line):
        return _json_qrels(path)
    words = line.split()
    if len(words) == len(_RUN):
        fix = "judgments come first: qdrank evaluate QRELS RUN; they have the columns " + " ".join(_QRELS)
        raise InputError("6 columns, as a run has; not judgments", file=path, line=number, found=line, fix=fix)
    short = len(words) == len(_SHORT_QRELS)
    heading = short and b"query" in words[0].lower() and not _is_whole(words[2])
    form = _SHORT_QRELS if short else _QRELS
    columns = read_columns(path, form, (0, len(form) - 2, len(form) - 1), skip=number - (not heading))
    read = read_numbers(
        columns, len(form) - 1, path, read=int, problem="the grade is not a whole number", fix=GRADE_FIX
    )
    query, doc, grade = _grouped(columns, (0, len(form) - 2), read, path)
    return Qrels(query, doc, grade, BEIR_QRELS if heading else SHORT_QRELS if short else TREC_QRELS)


def _is_whole(word: bytes) -> bool:
    return word.lstrip(b"+-").isdigit()


def _refuse_other_ranks(columns: Columns, path: AnyPath) -> None:
    """Raise if a rank is not a whole number: ranks are not used, but then the columns are not what they seem."""
    ranks = columns.cells.pop(3)
    if all(map(bytes.isdigit, ranks)):
        return
    for row, word in enumerate(ranks):
        if not _is_whole(word):
            fix = "each line reads: " + " ".join(_RUN)
            raise InputError("the rank is not a whole number", file=path, line=columns.line(row), found=word, fix=fix)


def _by_tag(columns: Columns, score: FloatArray, path: AnyPath) -> Iterator[Run]:
    tags = columns.cells[5]
    names = list(dict.fromkeys(tags))
    for name in names:
        rows = None if len(names) == 1 else np.flatnonzero(np.array([tag == name for tag in tags]))
        query, doc, scores = _grouped(columns, (0, 2), score, path, rows)
        yield Run(query, doc, scores, name.decode("utf-8", "replace"), TREC_RUN)


def _short_run(path: AnyPath, skip: int) -> Run:
    columns = read_columns(path, _SHORT_RUN, (0, 1, 2), skip=skip)
    words = columns.cells[2]
    score = read_numbers(columns, 2, path, read=float, problem=_SCORE, fix=_SCORE_FIX)
    ranked = all(map(bytes.isdigit, words)) and _counts_up(columns.cells[0], score)
    query, doc, scores = _grouped(columns, (0, 1), -score if ranked else score, path)
    return Run(query, doc, scores, stem(path), RANKED_RUN if ranked else SCORED_RUN)


def _counts_up(query: Sequence[bytes], value: FloatArray) -> bool:
    """Whether the values are 1, 2, 3, ... within each query, and some query has more than one."""
    starts = [0, *(i + 1 for i, (a, b) in enumerate(pairwise(query)) if a != b)]
    sizes = np.diff([*starts, len(query)])
    return bool(sizes.max() > 1 and (value == np.concatenate([np.arange(1, n + 1) for n in sizes])).all())


def _grouped(
    columns: Columns,
    ids: tuple[int, int],
    value: NDArray[Any],
    path: AnyPath,
    rows: NDArray[np.int64] | None = None,
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Queries, documents and values, grouped by query, checked for duplicate documents."""
    query, doc = (np.array(columns.text(column, path), dtype=object) for column in ids)
    rows = np.arange(len(query)) if rows is None else rows
    order = together(query[rows].tolist())
    rows = rows if order is None else rows[order]
    query, doc, value = query[rows], doc[rows], value[rows]
    offsets, docs = query_offsets(query).tolist(), doc.tolist()
    for a, b in pairwise(offsets):
        if len(set(docs[a:b])) < b - a:
            _refuse_double(columns, query, doc, rows, path)
    return query, doc, value


def _refuse_double(columns: Columns, query: NDArray[Any], doc: NDArray[Any], rows: NDArray[Any], path: AnyPath) -> None:
    """Raise for the first line that repeats a document of its query."""
    seen: set[tuple[str, str]] = set()
    for i in np.argsort(rows, kind="stable").tolist():
        pair = query[i], doc[i]
        if pair in seen:
            raise InputError(
                f"document {pair[1]} comes again for query {pair[0]}",
                file=path,
                line=columns.line(rows[i]),
                found=f"{pair[0]} {pair[1]}",
                fix="keep one of the two lines",
            )
        seen.add(pair)


def _json_run(path: AnyPath) -> Run:
    query, doc, value = json_rows(path, "score")
    return Run(query, doc, np.array(value, dtype=np.float64), stem(path), JSON_RUN)


def _json_qrels(path: AnyPath) -> Qrels:
    query, doc, value = json_rows(path, "grade", whole=True)
    return Qrels(query, doc, np.array(value, dtype=np.int64), JSON_QRELS)


_LARGEST = 1e308


class _Members(list[tuple[str, Any]]):
    """The members of a JSON object in order, duplicates included."""


def json_rows(path: AnyPath, what: str, *, whole: bool = False) -> tuple[NDArray[Any], NDArray[Any], list[float]]:
    """Queries, documents and numbers, each query's together; ``what`` the number is, and whether it must be whole.

    Raises `InputError` if the file is not JSON of this form, a value is not a number, or a query has a document twice.
    """
    fix = f'write {{"query": {{"document": {what}}}}}'
    content = _content(path)
    if not isinstance(content, _Members):
        raise InputError("not an object of queries", file=path, found=str(content), fix=fix)
    rows: list[tuple[str, str, float]] = []
    for query, documents in content:
        if not isinstance(documents, _Members):
            raise InputError(f"query {query}: its documents are missing", file=path, found=str(documents), fix=fix)
        rows += [(query, doc, value) for doc, value in documents]
    if not rows:
        raise InputError("has no documents", file=path, fix=fix)
    _check(rows, what, whole, path, fix)
    order = together([query for query, _, _ in rows])
    queries, docs, values = zip(*(rows if order is None else [rows[i] for i in order]), strict=True)
    return np.array(queries, dtype=object), np.array(docs, dtype=object), list(values)


def _content(path: AnyPath) -> Any:
    with open_bytes(path) as file:
        try:
            return json.loads(file.read(), object_pairs_hook=_Members)
        except json.JSONDecodeError as error:
            problem, line = f"not JSON: {error.msg}", error.lineno
        except (ValueError, OSError, EOFError, RecursionError) as error:
            problem, line = f"not JSON: {error}", 1
    raise InputError(problem, file=path, line=line, fix="write the file again with a JSON library")


def _check(rows: list[tuple[str, str, float]], what: str, whole: bool, path: AnyPath, fix: str) -> None:
    seen: set[tuple[str, str]] = set()
    for query, doc, value in rows:
        place = f"query {query}, document {doc}"
        if type(value) not in (int, float) or not -_LARGEST < value < _LARGEST:
            raise InputError(f"{place}: the {what} is not a number", file=path, found=str(value), fix=fix)
        if whole and value != int(value):
            raise InputError(f"{place}: the {what} is not a whole number", file=path, found=str(value), fix=fix)
        if (query, doc) in seen:
            raise InputError(f"{place}: comes again", file=path, found=str(value), fix="keep one of the two")
        seen.add((query, doc))

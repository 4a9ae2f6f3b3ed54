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
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, pairwise
from pathlib import PurePath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qdrank.datasets.runs.model import Qrels, Run, together
from qdrank.datasets.runs.rows import NAME, NUMBER, WORD, Rows, first_row, line_of, read_rows
from qdrank.datasets.textfiles import BROKEN, UTF8_MARK, open_bytes
from qdrank.errors import AnyPath, InputError
from qdrank.layout import FloatArray, query_offsets

_ENDINGS = re.compile(r"(\.(run|txt|trec|tsv|json|res|out))?(\.(gz|xz|bz2|zst))?$")


def stem(path: AnyPath) -> str:
    """Name of a file of a run without its endings."""
    name = str(path).rpartition("/")[2]
    return _ENDINGS.sub("", name) or name


def distinct_names(runs: Sequence[tuple[AnyPath, str]]) -> list[str]:
    """A name for each run, given as file and tag.

    A tag that comes once stays as it is, so the names do not depend on the order of the files. Others are replaced by the name
    of the file, or of a folder above it, or by several of these; where that does not say all, the tag follows.
    """
    tags, sizes = Counter(tag for _, tag in runs), Counter(str(path) for path, _ in runs)
    files = list(dict.fromkeys(str(path) for path, tag in runs if tags[tag] > 1))
    label = dict(zip(files, next(_labels(files)), strict=True)) if files else {}
    named = ((label.get(str(path), ""), sizes[str(path)], tag) for path, tag in runs)
    return [
        tag if tags[tag] == 1 else name if size == 1 and tags[name] != 1 else f"{name}:{tag}"
        for name, size, tag in named
    ]


def _labels(files: Sequence[str]) -> Iterator[list[str]]:
    """Names that tell the files apart, the shortest first: a part of the path, several parts, the path."""
    parts = [[stem(path), *reversed(PurePath(path).parts[:-1])] for path in files]
    single = ([one[i] for one in parts] for i in range(min(map(len, parts))))
    joined = (["/".join(reversed(one[:n])) for one in parts] for n in range(2, 1 + max(map(len, parts))))
    return (names for names in chain(single, joined, [list(files)]) if len(set(names)) == len(files))


_RUN = {"query": WORD, "Q0": WORD, "document": NAME, "rank": NUMBER, "score": NUMBER, "tag": WORD}
_SHORT_RUN = {"query": WORD, "document": NAME, "score": NUMBER}
_QRELS = {"query": WORD, "0": WORD, "document": NAME, "grade": WORD}
_SHORT_QRELS = {"query": WORD, "document": NAME, "grade": WORD}
_JSON, _HEAD = re.compile(rb"\s*\{\s*([\"}]|$)"), 1 << 16
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
    if is_json(path):
        return [_json_run(path)]
    number, line = first_row(path)
    words = line.split()
    if len(words) == len(_SHORT_RUN):
        return [_short_run(path, number - 1, ranked=words[2].isdigit())]
    if len(words) == len(_QRELS):
        fix = "judgments come first: qdrank evaluate QRELS RUN; a run has the columns " + " ".join(_RUN)
        raise InputError("4 columns, as judgments have; not a run", file=path, line=number, found=line, fix=fix)
    rows = read_rows(path, _RUN, ["query", "score", "tag"], skip=number - 1)
    tag, tags = rows.words("tag")
    parts = [None] if len(tags) == 1 else [np.flatnonzero(tag == i) for i in range(len(tags))]
    runs = [_grouped(rows, rows.numbers("score"), path, number - 1, part) for part in parts]
    return [Run(*run, name, TREC_RUN) for run, name in zip(runs, tags.tolist(), strict=True)]


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
    if is_json(path):
        return _json_qrels(path)
    number, line = first_row(path)
    words = line.split()
    if len(words) == len(_RUN):
        fix = "judgments come first: qdrank evaluate QRELS RUN; they have the columns " + " ".join(_QRELS)
        raise InputError("6 columns, as a run has; not judgments", file=path, line=number, found=line, fix=fix)
    short = len(words) == len(_SHORT_QRELS)
    heading = short and b"query" in words[0].lower() and not words[2].lstrip(b"+-").isdigit()
    skip = number - (not heading)
    rows = read_rows(path, _SHORT_QRELS if short else _QRELS, ["query", "grade"], skip=skip)
    code, grades = rows.words("grade")
    grade = np.array([int(word) for word in grades], dtype=np.int64)[code]
    return Qrels(*_grouped(rows, grade, path, skip), BEIR_QRELS if heading else SHORT_QRELS if short else TREC_QRELS)


def is_json(path: AnyPath) -> bool:
    """Whether a file begins as a JSON object does."""
    with open_bytes(path) as file:
        try:
            return _JSON.match(file.read(_HEAD).removeprefix(UTF8_MARK)) is not None
        except BROKEN:
            return False  # whoever reads it says with which line


def _short_run(path: AnyPath, skip: int, *, ranked: bool) -> Run:
    rows = read_rows(path, _SHORT_RUN, ["query", "score"], skip=skip)
    score = rows.numbers("score")
    ranked = ranked and _counts_up(rows.words("query")[0], score)
    query, doc, scores = _grouped(rows, -score if ranked else score, path, skip)
    return Run(query, doc, scores, stem(path), RANKED_RUN if ranked else SCORED_RUN)


def _counts_up(query: NDArray[Any], value: FloatArray) -> bool:
    """Whether the values are 1, 2, 3, ... within each query, and some query has more than one."""
    sizes = np.diff(np.flatnonzero(np.concatenate([[True], query[1:] != query[:-1], [True]])))
    return bool(sizes.max() > 1 and (value == np.concatenate([np.arange(1, n + 1) for n in sizes.tolist()])).all())


def _grouped(
    rows: Rows, value: NDArray[Any], path: AnyPath, skip: int, part: NDArray[np.int64] | None = None
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Queries, documents and values of some rows, or of all, grouped by query and checked for duplicate documents."""
    code, names = rows.words("query")
    doc = rows.names
    kept = together(code if part is None else code[part])
    if part is not None:
        kept = part if kept is None else part[kept]
    if kept is not None:
        code, doc, value = code[kept], doc[kept], value[kept]
    docs = doc.tolist()
    for a, b in pairwise(query_offsets(code).tolist()):
        if len(set(docs[a:b])) < b - a:
            raise _double(names[code], docs, np.arange(len(docs)) if kept is None else kept, path, skip)
    return names[code], doc, value


def _double(query: NDArray[Any], docs: list[str], row: NDArray[np.int64], path: AnyPath, skip: int) -> InputError:
    """The first row that repeats a document of its query."""
    seen: set[tuple[str, str]] = set()
    for i in np.argsort(row, kind="stable").tolist():
        pair = query[i], docs[i]
        if pair in seen:
            break
        seen.add(pair)
    problem = f"document {pair[1]} comes again for query {pair[0]}"
    line = line_of(path, int(row[i]), skip=skip)
    return InputError(problem, file=path, line=line, found=" ".join(pair), fix="keep one of the two lines")


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
    order = together(np.array([query for query, _, _ in rows], dtype=object))
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

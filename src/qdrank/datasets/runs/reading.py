"""Reading runs and judgments: the form is recognised by the content, and kept with what was read.

Rows of text are TREC's (``query Q0 document rank score tag``, ``query 0 document grade``) or have three columns. Tables whose columns have
names are in `named_columns`, JSON in `json_forms`. As trec_eval does, reading goes by the scores of a TREC run and not by its ranks. Three columns
without names are query, document and rank, as MS MARCO's, if the third counts up by 1 from 0 or 1 within every query; then minus the
rank is the score. Files may be compressed (.gz, .xz, .bz2, .zst). A block of ir_metadata at the head of a run is passed over.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from qdrank.datasets.runs.json_forms import JSON, LZ4, of_content, read_content
from qdrank.datasets.runs.named_columns import of_frame, read_columns, read_delimited, separator
from qdrank.datasets.runs.rows import NAME, NUMBER, WORD, Rows, first_row, read_rows
from qdrank.datasets.runs.run import Qrels, Run
from qdrank.datasets.textfiles import BROKEN, UTF8_MARK, open_bytes
from qdrank.errors import AnyPath, InputError
from qdrank.layout import FloatArray

_ENDINGS = re.compile(r"(\.(run|txt|trec|tsv|csv|jsonl?|parq|parquet|res|out))?(\.(gz|xz|bz2|zst|lz4))?$")


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
_HEAD = 1 << 16
TREC_RUN, SCORED_RUN, RANKED_RUN, TABLE_RUN = (
    "TREC run",
    "run of query, document, score",
    "run of query, document, rank (as MS MARCO's)",
    "table of a run",
)
TREC_QRELS, SHORT_QRELS, TABLE_QRELS = "TREC judgments", "judgments of query, document, grade", "table of judgments"
_PARQUET = b"PAR1"


def read_runs(path: AnyPath) -> list[Run]:
    """All runs of a file: one for each tag of a TREC run, in order of first appearance.

    Queries are in order of first appearance, documents in the order of the file.

    Raises `InputError` at the first line with a different number of columns, a rank or a score that is not a number, or
    a document that its query already has; and for an empty file.
    """
    if named := _named(path, "score"):
        return [
            Run(*rows.lists(rows.numbers("score")), tag or stem(path), form or TABLE_RUN) for rows, form, tag in named
        ]
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
    score = rows.numbers("score")
    return [Run(*rows.lists(score, part), name, TREC_RUN) for part, name in zip(parts, tags.tolist(), strict=True)]


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
    if named := _named(path, "grade"):
        ((rows, form, _),) = named
        return Qrels(*rows.lists(rows.numbers("grade").astype(np.int64)), form or TABLE_QRELS)
    number, line = first_row(path)
    words = line.split()
    if len(words) == len(_RUN):
        fix = "judgments come first: qdrank evaluate QRELS RUN; they have the columns " + " ".join(_QRELS)
        raise InputError("6 columns, as a run has; not judgments", file=path, line=number, found=line, fix=fix)
    short = len(words) == len(_SHORT_QRELS)
    rows = read_rows(path, _SHORT_QRELS if short else _QRELS, ["query", "grade"], skip=number - 1)
    code, grades = rows.words("grade")
    grade = np.array([int(word) for word in grades], dtype=np.int64)[code]
    return Qrels(*rows.lists(grade), SHORT_QRELS if short else TREC_QRELS)


def _named(path: AnyPath, what: str) -> list[tuple[Rows, str, str]]:
    """Rows, form in words and tag of what is in a file of names and numbers; none if its lines are rows without names.

    ``what`` is a score or a grade. Form and tag are empty where there is none.
    """
    head = _head(path)
    if head.startswith(_PARQUET):
        return [(read_columns(path, what), "", "")]
    if between := separator(head.partition(b"\n")[0]):
        return [(read_delimited(path, between, what), "", "")]
    if head.startswith(LZ4) or JSON.match(head):
        return of_content(read_content(path, head), what, path)
    return []


def is_json(path: AnyPath) -> bool:
    """Whether a file begins as a JSON object does."""
    return JSON.match(_head(path)) is not None


def is_rows(path: AnyPath) -> bool:
    """Whether a file is text whose lines are rows without names."""
    head = _head(path)
    return not (head.startswith((_PARQUET, LZ4)) or JSON.match(head))


def _head(path: AnyPath) -> bytes:
    with open_bytes(path) as file:
        try:
            return file.read(_HEAD).removeprefix(UTF8_MARK)
        except BROKEN:
            return b""  # whoever reads it says with which line


def _short_run(path: AnyPath, skip: int, *, ranked: bool) -> Run:
    rows = read_rows(path, _SHORT_RUN, ["query", "score"], skip=skip)
    score = rows.numbers("score")
    ranked = ranked and _counts_up(rows.words("query")[0], score)
    return Run(*rows.lists(0 - score if ranked else score), stem(path), RANKED_RUN if ranked else SCORED_RUN)


def _counts_up(query: NDArray[Any], value: FloatArray) -> bool:
    """Whether the values count up by 1 within each query, from 0 or from 1, and some query has more than one."""
    sizes = np.diff(np.flatnonzero(np.concatenate([[True], query[1:] != query[:-1], [True]])))
    rank = np.concatenate([np.arange(n) for n in sizes.tolist()])
    return bool(sizes.max() > 1 and value[0] in (0, 1) and (value == value[0] + rank).all())


if TYPE_CHECKING:
    import pandas as pd

    Given = str | os.PathLike[str] | Mapping[str, Any] | list[Any] | pd.DataFrame | Run | Qrels


def run_of(given: Given, name: str = "run") -> Run:
    """A run from a file, from a frame with columns such as qid, docno, score, or from content of one of `FORMS`."""
    if isinstance(given, Run):
        return given
    if isinstance(given, str | os.PathLike):
        return read_run(given)
    rows = _rows(given, "score")
    return Run(*rows.lists(rows.numbers("score")), name, "in Python")


def qrels_of(given: Given) -> Qrels:
    """Judgments from a file, from a frame with columns such as qid, docno, label, or from content of one of `FORMS`."""
    if isinstance(given, Qrels):
        return given
    if isinstance(given, str | os.PathLike):
        return read_qrels(given)
    rows = _rows(given, "grade")
    return Qrels(*rows.lists(rows.numbers("grade").astype(np.int64)), "judgments in Python")


def _rows(given: Any, what: str) -> Rows:
    if hasattr(given, "columns"):
        return of_frame(given, what)
    if not isinstance(given, Mapping | list):
        given = getattr(given, "body", given)  # of an answer of Elasticsearch's client
    (rows, _, _), *others = of_content(given, what)
    if others:
        raise InputError(f"{len(others) + 1} runs in one object", fix="give one run at a time")
    return rows

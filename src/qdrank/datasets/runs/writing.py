"""Writing runs and judgments in TREC's formats, for use with trec_eval and similar tools.

A run has the lines ``QUERY Q0 DOCUMENT RANK SCORE TAG``, judgments (qrels) ``QUERY 0 DOCUMENT GRADE``. Mind that trec_eval
breaks ties by descending document id, and up to version 9.0.8 compares scores in single precision: the conventions
``trec`` and ``trec_double`` of `qdrank.measures` do the same. Scores from `distinct_scores` have no ties in either precision, so
every tool keeps their order. Files that end in .gz are compressed, the same text to the same bytes.
"""

from __future__ import annotations

import gzip
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qdrank.errors import AnyPath, InputError
from qdrank.layout import FloatArray, IntArray, query_index
from qdrank.single_precision import numbers, places
from qdrank.store.atomic import atomic_path, write_text

#: Largest score that is written; single precision goes on to 3.4e38.
_LARGEST = 3e38


def write_run(path: AnyPath, query: ArrayLike, doc: ArrayLike, score: ArrayLike, *, tag: str = "qdrank") -> None:
    """Write a run: each query's documents by descending score, ties in row order, scores in their own precision.

    Parameters
    ----------
    path : the file; it is written completely or not at all
    query, doc : (n_documents,) ids, without white space
    score : (n_documents,) in double precision, or in single precision (`distinct_scores`)
    tag : name of the run
    """
    scores = np.asarray(score)
    scores = scores if scores.dtype == np.float32 else scores.astype(np.float64)
    queries, docs = _ids(query, doc, len(scores))
    _word(tag, "tag")
    if not (scores < np.inf).all():
        raise InputError("a run cannot contain a score that is not a number, or infinite", file=path)
    _write(path, "".join(run_lines(queries, docs, scores, tag)))


def distinct_scores(scores: FloatArray, offsets: IntArray) -> NDArray[np.float32]:
    """Scores in single precision that differ within each query and keep its order, ties in row order; shape (n_documents,).

    A score that single precision cannot tell from the one before it becomes the next smaller number; all others are only
    rounded. Infinite scores become the largest numbers of single precision that leave room below.
    """
    query = query_index(offsets)
    order = np.lexsort((-scores, query))
    single = np.clip(scores, -_LARGEST, _LARGEST).astype(np.float32)[order]
    place = places(single)
    # Eq.: p'_i = min(p_i, p'_(i-1) - 1) in each query, which is a running minimum of p_i + i.
    steps = np.arange(len(place)) - offsets[:-1][query]
    for a, b in pairwise(offsets.tolist()):
        place[a:b] = np.minimum.accumulate(place[a:b] + steps[a:b]) - steps[a:b]
    made = np.empty(len(scores), dtype=np.float32)
    made[order] = numbers(place)
    return made


def run_lines(query: Sequence[str], doc: Sequence[str], scores: NDArray[Any], tag: str) -> Iterator[str]:
    """Lines of a run: each query's documents by descending score, ties in row order, scores in their own precision.

    Documents with minus infinity are not in the list.
    """
    words = scores.astype(str).tolist() if scores.dtype == np.float32 else list(map(repr, scores.tolist()))
    rank, last = 0, None
    order = _by_query(query, scores)
    for i in order[scores[order] > -np.inf].tolist():
        rank = rank + 1 if query[i] == last else 1
        last = query[i]
        yield f"{query[i]} Q0 {doc[i]} {rank} {words[i]} {tag}\n"


def write_qrels(path: AnyPath, query: ArrayLike, doc: ArrayLike, grade: ArrayLike) -> None:
    """Write judgments; ``query``, ``doc`` and ``grade`` have shape (n_documents,), ids have no white space."""
    grades = np.asarray(grade)
    if grades.dtype.kind not in "iub":
        raise InputError("grades must be whole numbers", file=path, found=str(grades.dtype))
    queries, docs = _ids(query, doc, len(grades))
    rows = (f"{queries[i]} 0 {docs[i]} {int(grades[i])}\n" for i in _by_query(queries))
    _write(path, "".join(rows))


def _write(path: AnyPath, text: str) -> None:
    """Write a text, completely or not at all."""
    if not str(path).endswith(".gz"):
        write_text(path, text)
        return
    with atomic_path(path) as partial:
        partial.write_bytes(gzip.compress(text.encode(), compresslevel=6, mtime=0))


def _by_query(query: Sequence[str], scores: NDArray[Any] | None = None) -> IntArray:
    """Rows grouped by query, queries in order of first appearance; by descending score within, if given."""
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

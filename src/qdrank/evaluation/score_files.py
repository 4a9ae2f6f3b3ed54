"""The two files that `qdrank evaluate` reads: judged documents, and one score for each of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from qdrank.datasets.judged import Judged
from qdrank.datasets.letor.reader import read_letor
from qdrank.datasets.textfiles import blocks, lines
from qdrank.errors import AnyPath, InputError
from qdrank.layout import FloatArray
from qdrank.measures.ranking import MAX_GRADE

_BLOCK = 1 << 20


def read_labels(path: AnyPath) -> Judged:
    """The documents of a LETOR file without features, which are checked and skipped, in bounded memory."""
    y: list[NDArray[np.int8]] = []
    doc_id: list[NDArray[Any]] = []
    query_id: list[str] = []
    starts: list[int] = []
    n = 0
    for chunk in read_letor(path, missing=True, max_label=MAX_GRADE):
        # A query that began in the previous chunk is counted already.
        starts += (n + chunk.offsets[:-1][chunk.continues :]).tolist()
        query_id += chunk.query_id[chunk.continues :]
        y.append(chunk.y)
        doc_id.append(np.array(chunk.doc_id.to_pylist(), dtype=object))
        n += len(chunk.y)
    names = np.array(query_id, dtype=object)
    offsets, nothing = np.array([*starts, n], dtype=np.int64), np.empty((n, 0), dtype=np.float32)
    return Judged(names, names, offsets, np.concatenate(doc_id), np.concatenate(y).astype(np.int64), nothing)


def read_scores(path: AnyPath) -> FloatArray:
    """Scores, one per line: the line's only number, or the last of its columns; shape (n_documents,).

    Columns are separated by white space or commas. The file may be compressed. Blank lines are allowed only at its end.
    """
    quick = _single_column(path)
    if quick is not None:
        return quick
    scores: list[float] = []
    blank: int | None = None
    for number, line in lines(path):
        columns = line.replace(b",", b" ").split()
        if not columns:
            blank = blank or number
            continue
        if blank is not None:
            raise InputError("a line without a score", file=path, line=blank, fix="give one score per document")
        scores.append(_score(columns[-1], path, number))
    return np.array(scores, dtype=np.float64)


def _single_column(path: AnyPath) -> FloatArray | None:
    """Scores of a file with exactly one number per line; None for any other file, which is then read line by line."""
    read: list[FloatArray] = []
    for block in blocks(path, _BLOCK):
        text = block.text
        tokens = text.split()
        lines = text.count(b"\n") + (not text.endswith(b"\n"))
        # \r and \f would divide tokens and lines differently; Python takes 1_000 for a number
        if (
            len(tokens) != lines
            or b"\n\n" in text
            or text[:1] == b"\n"
            or any(odd in text for odd in (b",", b"_", b"\r", b"\f", b"\v"))
        ):
            return None
        try:
            read.append(np.array(list(map(float, tokens))))
        except ValueError:
            return None
    scores = np.concatenate([np.empty(0), *read])
    return None if np.isnan(scores).any() else scores


def _score(text: bytes, path: AnyPath, line: int) -> float:
    try:
        score = float(text)
    except ValueError:
        score = float("nan")
    # Python accepts 1_000 as a number, but no tool writes scores like that.
    if score != score or b"_" in text:
        fix = "write the score as a number in the last column, without a heading"
        raise InputError("the score is not a number", file=path, line=line, found=text, fix=fix)
    return score

"""Names of queries and documents in parsed LETOR text, compiled: gathered, made up if absent, checked for duplicates.

``data`` and ``records`` are as in `qdrank.datasets.letor.kernels`.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from qdrank.datasets.letor.kernels import (
    DOC,
    DOC_END,
    QID,
    QID_END,
    Bytes,
    Integers,
    at_line_end,
    parse_digits,
    skip_blanks,
    skip_line,
)

Hashes = NDArray[np.uint64]


@njit(cache=True)
def same_query(data: Bytes, a: Integers, b: Integers) -> bool:
    """Whether the rows with records ``a`` and ``b`` name the same query."""
    length = a[QID_END] - a[QID]
    if b[QID_END] - b[QID] != length:
        return False
    for i in range(length):  # noqa: SIM110 -- numba compiles no generator expression
        if data[a[QID] + i] != data[b[QID] + i]:
            return False
    return True


@njit(cache=True)
def query_bounds(data: Bytes, records: Integers) -> Integers:
    """Offsets of the runs of rows that name the same query, shape (n_runs + 1,)."""
    bounds = np.empty(len(records) + 1, dtype=np.int64)
    n = 0
    for row in range(len(records)):
        if row == 0 or not same_query(data, records[row - 1], records[row]):
            bounds[n] = row
            n += 1
    bounds[n] = len(records)
    return bounds[: n + 1]


@njit(cache=True)
def n_decimal_digits(number: int) -> int:
    """Count the digits of a positive number."""
    n = 0
    while number > 0:
        number //= 10
        n += 1
    return n


@njit(cache=True)
def document_bounds(records: Integers, bounds: Integers, n_before: int) -> Integers:
    """Offsets into the text of all document names, shape (n_rows + 1,); see `document_text`."""
    offsets = np.zeros(len(records) + 1, dtype=np.int64)
    for run in range(len(bounds) - 1):
        for row in range(bounds[run], bounds[run + 1]):
            length = records[row, DOC_END] - records[row, DOC]
            if length == 0:
                position = 1 + row - bounds[run] + (n_before if run == 0 else 0)
                length = records[row, QID_END] - records[row, QID] + 1 + n_decimal_digits(position)
            offsets[row + 1] = offsets[row] + length
    return offsets


@njit(cache=True)
def document_text(data: Bytes, records: Integers, bounds: Integers, offsets: Integers, n_before: int) -> Bytes:
    """Text of all document names; a row without one gets ``QUERY-POSITION``, counted from 1 within its query.

    ``n_before`` rows of the first query came in earlier chunks.
    """
    text = np.empty(offsets[-1], dtype=np.uint8)
    for run in range(len(bounds) - 1):
        for row in range(bounds[run], bounds[run + 1]):
            start, end = records[row, DOC], records[row, DOC_END]
            made = start == end
            if made:
                start, end = records[row, QID], records[row, QID_END]
            at = offsets[row]
            for i in range(start, end):
                text[at] = data[i]
                at += 1
            if made:
                write_position(text, at, offsets[row + 1], 1 + row - bounds[run] + (n_before if run == 0 else 0))
    return text


@njit(cache=True)
def write_position(text: Bytes, at: int, end: int, position: int) -> None:
    """Write ``-POSITION`` into ``text[at:end]``."""
    text[at] = 45
    while end > at + 1:
        end -= 1
        text[end] = 48 + position % 10
        position //= 10


@njit(cache=True)
def hash_names(text: Bytes, offsets: Integers) -> Hashes:
    """FNV-1a of every name, shape (n_rows,)."""
    hashes = np.empty(len(offsets) - 1, dtype=np.uint64)
    for row in range(len(hashes)):
        h = np.uint64(14695981039346656037)
        for i in range(offsets[row], offsets[row + 1]):
            h = (h ^ np.uint64(text[i])) * np.uint64(1099511628211)
        hashes[row] = h
    return hashes


@njit(cache=True)
def widest_index(data: Bytes) -> int:
    """Largest feature index in ``data``: what a token starts with, up to its colon. Does not check anything else."""
    at = widest = 0
    while at < data.size:
        at = skip_blanks(data, at)
        while data[at] != 35 and not at_line_end(data, at):
            index, cut, end = parse_digits(data, at, 0)
            if end > at and data[end] == 58 and cut == 0:
                widest = max(widest, index)
            at = skip_token(data, end)
        at = skip_line(data, at)
    return widest


@njit(cache=True)
def skip_token(data: Bytes, at: int) -> int:
    """Position of the token after the one at ``at``, or of the comment or line end."""
    while data[at] > 32 and data[at] != 35:
        at += 1
    while data[at] != 10 and data[at] <= 32 and not at_line_end(data, at):
        at += 1
    return at

"""Columns of a text file, split all at once; only if something is wrong is the file searched line by line."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qdrank.datasets.letor.files import blocks
from qdrank.errors import AnyPath, InputError
from qdrank.layout import IntArray

_BLANKS = b" \t\n\r\x0b\x0c"
#: First and last line of a block of metadata at the head of a run (ir_metadata).
METADATA = (b"# ir_metadata.start", b"# ir_metadata.end")
_IS_BLANK = bytes(byte in _BLANKS for byte in range(256))


@dataclass
class Columns:
    """Some columns of a file's rows.

    Attributes
    ----------
    cells : the columns kept, by number, each with one word per row
    lines : number (from 1) of each row's line, in blocks
    """

    cells: dict[int, list[bytes]]
    lines: list[IntArray] = field(default_factory=list)

    def line(self, row: int) -> int:
        """Line of a row, counted from 0."""
        return int(np.concatenate(self.lines)[row])

    def text(self, column: int, path: AnyPath) -> list[str]:
        """A column as text."""
        try:
            return b"\n".join(self.cells[column]).decode().split("\n")
        except UnicodeDecodeError:
            row = next(i for i, word in enumerate(self.cells[column]) if not _is_text(word))
            cell, fix = self.cells[column][row], "save the file as UTF-8 or ASCII text"
            raise InputError("an id is not UTF-8", file=path, line=self.line(row), found=cell, fix=fix) from None


def _is_text(word: bytes) -> bool:
    try:
        word.decode()
    except UnicodeDecodeError:
        return False
    return True


def first_row(path: AnyPath) -> tuple[int, bytes]:
    """Number and text of the first line that is neither blank nor in a block of ir_metadata; an empty text if there is none."""
    inside = False
    for number, line in text_lines(path):
        inside = inside or line.startswith(METADATA[0])
        if line.strip(_BLANKS) and not inside:
            return number, line
        inside = inside and not line.startswith(METADATA[1])
    return 0, b""


def text_lines(path: AnyPath) -> Iterator[tuple[int, bytes]]:
    """Number (from 1) and text of each line, without its end."""
    number = 0
    for block in blocks(path, 1 << 20):
        for line in block.tobytes().split(b"\n")[:-1]:
            number += 1
            yield number, line.rstrip(b"\r")


def read_columns(path: AnyPath, form: Sequence[str], keep: Sequence[int], *, skip: int = 0) -> Columns:
    """The columns ``keep`` of a file whose rows all have the columns ``form``; blank lines are left out.

    Parameters
    ----------
    form : names of the columns, for messages
    skip : lines at the head that hold no row
    """
    columns = Columns({column: [] for column in keep})
    before = 0
    for block in blocks(path):
        text = block.tobytes()
        n_lines = text.count(b"\n")
        if before < skip:  # a heading is never longer than a block
            text = b"\n" * (skip - before) + text.split(b"\n", skip - before)[-1]
        words = text.split()
        lines = _line_of_rows(text, len(words), len(form))
        if lines is None:
            raise _uneven(path, form, skip)
        for column in keep:
            columns.cells[column] += words[column :: len(form)]
        columns.lines.append(before + lines)
        before += n_lines
    if before == 0 or not any(map(len, columns.lines)):
        raise InputError("has no lines", file=path, fix="each line reads: " + " ".join(form))
    return columns


def _line_of_rows(text: bytes, n_words: int, width: int) -> IntArray | None:
    """Line (from 1) of each row, shape (n_rows,); None unless every line has ``width`` words or none."""
    if n_words % width:
        return None
    blank = np.frombuffer(text.translate(_IS_BLANK), dtype=bool)
    starts = np.flatnonzero(~blank & np.concatenate([[True], blank[:-1]]))
    ends = np.flatnonzero(np.frombuffer(text, dtype=np.uint8) == ord("\n"))
    first, last = np.searchsorted(ends, starts[::width]), np.searchsorted(ends, starts[width - 1 :: width])
    even = (first == last).all() and (first[1:] > first[:-1]).all()
    return (first + 1).astype(np.int64) if even else None


def _uneven(path: AnyPath, form: Sequence[str], skip: int) -> InputError:
    """The first line with a different number of columns."""
    for number, line in text_lines(path):
        row = line.split()
        if number > skip and row and len(row) != len(form):
            fix = "each line reads: " + " ".join(form)
            return InputError(f"{len(row)} columns, not {len(form)}", file=path, line=number, found=line, fix=fix)
    return InputError(f"not all lines have {len(form)} columns", file=path)


def read_numbers(
    columns: Columns, column: int, path: AnyPath, *, read: Callable[[bytes], float], problem: str, fix: str
) -> NDArray[Any]:
    """A column as numbers, shape (n_rows,); raises `InputError` at the first word that is none, even ``1_000`` or ``inf``."""
    words = columns.cells[column]
    try:
        values = np.array(list(map(read, words)))
        if b"_" not in b"\n".join(words) and np.isfinite(values).all():
            return values
    except (ValueError, TypeError):  # whole numbers beyond 64 bits are objects
        pass
    row = next(i for i, word in enumerate(words) if not _sound(word, read))
    raise InputError(problem, file=path, line=columns.line(row), found=words[row], fix=fix)


def _sound(word: bytes, read: Callable[[bytes], float]) -> bool:
    try:
        value = read(word)
    except ValueError:
        return False
    return isfinite(value) and b"_" not in word and (isinstance(value, float) or abs(value) < 1 << 62)


def read_groups(path: AnyPath) -> dict[str, str]:
    """Groups of queries: lines of a query and its group, in any order."""
    columns = read_columns(path, ("query", "group"), (0, 1))
    query, group = columns.text(0, path), columns.text(1, path)
    groups = dict(zip(query, group, strict=True))
    if len(groups) < len(query):
        row = next(i for i, name in enumerate(query) if name in query[:i])
        fix = "give each query one group"
        raise InputError(f"query {query[row]} comes again", file=path, line=columns.line(row), fix=fix)
    return groups

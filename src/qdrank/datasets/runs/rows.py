"""Rows of a text file as a table: Arrow reads what is regular, a loop over lines the rest; the loop also names every fault."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice, pairwise
from math import isfinite
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import csv

from qdrank.datasets.runs.run import together
from qdrank.datasets.textfiles import UTF8_MARK, Block, blocks, lines
from qdrank.errors import GRADE_FIX, AnyPath, InputError
from qdrank.layout import FloatArray, IntArray, query_offsets

#: Kinds of columns: few different words, names of documents, numbers.
WORD, NAME, NUMBER = pa.dictionary(pa.int32(), pa.string()), pa.string(), pa.float64()
Form = Mapping[str, pa.DataType]
"""Names of the columns, for messages, and their kinds."""
#: First and last line of a block of metadata at the head of a run (ir_metadata).
METADATA = (b"# ir_metadata.start", b"# ir_metadata.end")
_BLOCK_BYTES = 1 << 22
_BLANKS = b"\t\r\v\f"
_AS_BLANK = bytes.maketrans(_BLANKS, b" " * len(_BLANKS))
_LARGEST = 1e308
_WHOLE = re.compile(r"[+-]?[0-9]{1,18}")


class Number(NamedTuple):
    """Which words a column of numbers may hold, and what is said of another."""

    holds: Callable[[str], bool]
    problem: str
    fix: str


def _is_number(word: str) -> bool:
    try:
        return isfinite(float(word)) and "_" not in word  # to Python, 1_000 is a number
    except ValueError:
        return False


NUMBERS = {
    "score": Number(
        _is_number,
        "the score is not a number, or too large",
        "write the score as a decimal number, such as 12.5 or 1e-3",
    ),
    "rank": Number(
        lambda word: _is_number(word) and float(word).is_integer(),
        "the rank is not a whole number",
        "each line reads: query Q0 document rank score tag",
    ),
    "grade": Number(lambda word: _WHOLE.fullmatch(word) is not None, "the grade is not a whole number", GRADE_FIX),
}


class Rows(NamedTuple):
    """Rows of a file: the column of names, (n_rows,), columns of words and numbers, and where the rows stand.

    The rows are the lines of ``path`` behind the first ``skip`` that are not blank; without ``skip`` they are not lines.
    """

    names: NDArray[np.object_]
    table: pa.Table
    path: AnyPath | None = None
    skip: int | None = None

    def words(self, name: str) -> tuple[IntArray, NDArray[np.object_]]:
        """A column of words: the number of each row's word, (n_rows,), and the words, in order of first appearance."""
        column = self.table[name].combine_chunks()
        return column.indices.to_numpy(), column.dictionary.to_numpy(zero_copy_only=False)

    def numbers(self, name: str) -> FloatArray:
        """A column of numbers, (n_rows,)."""
        numbers: FloatArray = self.table[name].to_numpy()
        return numbers

    def line(self, row: int) -> int | None:
        """Line of a row, counted from 0; None if rows are not lines."""
        return None if self.path is None or self.skip is None else line_of(self.path, row, skip=self.skip)

    def lists(
        self, value: NDArray[Any], part: IntArray | None = None
    ) -> tuple[NDArray[np.object_], NDArray[np.object_], NDArray[Any]]:
        """Queries, documents and values, (n_rows,), of all rows or of ``part``, each query's rows together.

        Raises `InputError` if a query has a document twice.
        """
        code, names = self.words("query")
        doc = self.names
        kept = together(code if part is None else code[part])
        if part is not None:
            kept = part if kept is None else part[kept]
        if kept is not None:
            code, doc, value = code[kept], doc[kept], value[kept]
        docs = doc.tolist()
        for a, b in pairwise(query_offsets(code).tolist()):
            if len(set(docs[a:b])) < b - a:
                raise self._double(names[code], docs, np.arange(len(docs)) if kept is None else kept)
        return names[code], doc, value

    def _double(self, query: NDArray[Any], docs: list[str], row: IntArray) -> InputError:
        """The first row that repeats a document of its query."""
        seen: set[tuple[str, str]] = set()
        for i in np.argsort(row, kind="stable").tolist():
            pair = query[i], docs[i]
            if pair in seen:
                break
            seen.add(pair)
        problem = f"document {pair[1]} comes again for query {pair[0]}"
        line = self.line(int(row[i]))
        return InputError(problem, file=self.path, line=line, found=" ".join(pair), fix="keep one of the two")


def read_rows(path: AnyPath, form: Form, keep: Sequence[str], *, skip: int = 0) -> Rows:
    """Names, and columns ``keep``, of a file whose rows all have the columns ``form``; blank lines, and the first ``skip``, are left out.

    Raises `InputError` at the first line with another number of columns, a number that is none or an id that is not UTF-8, and
    for a file without rows.
    """
    names, tables = [], []
    of_names = next(name for name, kind in form.items() if kind == NAME)
    for block in blocks(path, _BLOCK_BYTES):
        table = _table(_without_head(block, skip), form, path)
        if table is not None and len(table):
            names.append(table[of_names].to_numpy())  # at once: so the text of all names is in memory only once
            tables.append(table.select(keep))
    if not tables:
        raise InputError("has no lines", file=path, fix="each line reads: " + " ".join(form))
    return Rows(np.concatenate(names), pa.concat_tables(tables).unify_dictionaries(), path, skip)


def listed_rows(
    query: Sequence[Any], doc: Sequence[Any], number: Sequence[Any], what: str, path: AnyPath | None = None
) -> Rows:
    """Rows from lists; ``what`` the numbers are, a score or a grade, is the name of their column.

    Raises `InputError` for an id that is missing, a number that is none, and lists without rows.
    """
    for kind, ids in (("query", query), ("document", doc)):
        if lacking := [i for i, name in enumerate(ids) if name is None or name == "" or name != name]:
            raise InputError(f"row {lacking[0] + 1}: the {kind} is missing", file=path, fix="give every row its ids")
    if not len(query):
        raise InputError("has no documents", file=path, fix="give at least one query with a document")
    values = np.array(number if {*map(type, number)} == {float} else [_value(one) for one in number])
    for holds, kind in (
        (np.isfinite(values), "number"),
        ((values == np.floor(values)) | (what != "grade"), "whole number"),
    ):
        if not holds.all():
            i = int(np.argmin(holds))
            problem = f"query {query[i]}, document {doc[i]}: the {what} is not a {kind}"
            raise InputError(problem, file=path, found=str(number[i]), fix=NUMBERS[what].fix)
    place: dict[str, int] = {}
    code = [place.setdefault(str(name), len(place)) for name in query]
    words = pa.DictionaryArray.from_arrays(pa.array(code, pa.int32()), list(place))
    return Rows(np.array([*map(str, doc)], dtype=object), pa.table({"query": words, what: values}), path)


def _value(number: Any) -> float:
    """A number, NaN where it is none."""
    known = isinstance(number, int | float) and not isinstance(number, bool) and abs(number) < _LARGEST
    return float(number) if known else np.nan


def _without_head(block: Block, skip: int) -> Block:
    if block.first > skip:
        return block
    skipped = min(skip - block.first + 1, block.text.count(b"\n"))
    return Block(block.text.split(b"\n", skipped)[-1], block.first + skipped)


def _table(block: Block, form: Form, path: AnyPath) -> pa.Table | None:
    """Rows of a block; None if it has only blank lines."""
    table = regular_rows(block.text, form)
    if table is None:
        text = b"".join(checked_lines(block, form, path))
        table = regular_rows(text, form) if text else None
    return table


def regular_rows(text: bytes, form: Form) -> pa.Table | None:
    """Rows of whole lines; None unless every line is blank or in order."""
    if any(blank in text for blank in _BLANKS):
        text = text.replace(b"\r\n", b"\n").translate(_AS_BLANK)
    table = _parsed(text, form)
    return _parsed(re.sub(rb"  +", b" ", text), form) if table is None and b"  " in text else table


def _parsed(text: bytes, form: Form) -> pa.Table | None:
    """Rows with single blanks between their cells."""
    try:
        table = csv.read_csv(
            pa.py_buffer(
                b"\n" + text if text.startswith(UTF8_MARK) else text
            ),  # at the start, Arrow would drop the mark
            csv.ReadOptions(column_names=list(form), use_threads=False, block_size=len(text) + 1),
            csv.ParseOptions(delimiter=" ", quote_char=False),
            csv.ConvertOptions(column_types=form, null_values=[]),
        )
    except pa.ArrowInvalid:
        return None
    return table if all(in_order(name, table[name]) for name in form) else None


def in_order(name: str, column: pa.ChunkedArray) -> bool:
    """Whether no cell is empty, as it is for Arrow between two blanks, and every number is one."""
    if column.type == NUMBER:
        values = column.to_numpy()
        return bool(np.isfinite(values).all() and (name != "rank" or (values == np.floor(values)).all()))
    if column.type == NAME:
        bounds = (np.frombuffer(chunk.buffers()[1], dtype=np.int32, count=len(chunk) + 1) for chunk in column.chunks)
        return all((one[1:] > one[:-1]).all() for one in bounds)
    words = {word for chunk in column.chunks for word in chunk.dictionary.to_pylist()}
    return all(map(NUMBERS[name].holds, words)) if name in NUMBERS else "" not in words


def checked_lines(block: Block, form: Form, path: AnyPath) -> Iterator[bytes]:
    """The rows of a block as regular lines; raises `InputError` at the first fault."""
    for number, line in block.lines():
        words = line.split()
        if words and len(words) != len(form):
            problem, fix = f"{len(words)} columns, not {len(form)}", "each line reads: " + " ".join(form)
            raise InputError(problem, file=path, line=number, found=line, fix=fix)
        for name, word in zip(form, words, strict=False):
            text = word.decode("utf-8", "replace")
            if name in NUMBERS and not NUMBERS[name].holds(text):
                raise InputError(NUMBERS[name].problem, file=path, line=number, found=word, fix=NUMBERS[name].fix)
            if text.encode() != word:
                fix = "save the file as UTF-8 or ASCII text"
                raise InputError("an id is not UTF-8", file=path, line=number, found=word, fix=fix)
        if words:
            yield b" ".join(words) + b"\n"


def line_of(path: AnyPath, row: int, *, skip: int = 0) -> int:
    """Line of a row, counted from 0."""
    return next(islice((number for number, line in lines(path) if number > skip and line.split()), row, None))


def first_row(path: AnyPath) -> tuple[int, bytes]:
    """Number and text of the first line that is neither blank nor in a block of ir_metadata; an empty text if there is none."""
    inside = False
    for number, line in lines(path):
        inside = inside or line.startswith(METADATA[0])
        if line.strip() and not inside:
            return number, line
        inside = inside and not line.startswith(METADATA[1])
    return 0, b""


def read_groups(path: AnyPath) -> dict[str, str]:
    """Groups of queries: lines of a query and its group, in any order."""
    rows = read_rows(path, {"query": NAME, "group": WORD}, ["group"])
    queries: list[str] = rows.names.tolist()
    groups = dict(zip(queries, rows.table["group"].to_pylist(), strict=True))
    if len(groups) < len(queries):
        row = next(i for i, name in enumerate(queries) if name in queries[:i])
        fix = "give each query one group"
        raise InputError(f"query {queries[row]} comes again", file=path, line=rows.line(row), fix=fix)
    return groups

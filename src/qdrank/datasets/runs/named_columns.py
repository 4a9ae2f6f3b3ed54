"""Runs and judgments as tables whose columns have names: CSV, TSV and other text with a heading, Parquet, DataFrames."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa

from qdrank.datasets.runs.rows import NAME, NUMBER, NUMBERS, WORD, Rows, in_order, listed_rows
from qdrank.datasets.textfiles import BROKEN, blocks, open_bytes
from qdrank.errors import AnyPath, InputError

#: Names of columns in PyTerrier, ranx, ir_datasets, trec_eval's readers and BEIR; case, hyphens and underscores do not matter.
COLUMNS = {
    "query": ("queryid", "qid", "query", "topic"),
    "document": ("docno", "docid", "document", "did", "pid", "passageid", "corpusid"),
    "score": ("score", "sim"),
    "grade": ("relevance", "label", "grade", "rel", "score"),
}


def named_columns(columns: Iterable[Any], what: str, path: AnyPath | None = None) -> tuple[list[Any], float]:
    """Names of the columns of queries, documents and numbers, and the sign of the numbers: -1 for ranks in place of scores."""
    known = {_plain(name): name for name in columns}
    ranked = what == "score" and "rank" in known and not known.keys() & set(COLUMNS["score"])
    names = []
    for wanted in ("query", "document", what):
        words = ("rank",) if ranked and wanted == "score" else COLUMNS[wanted]
        name = next((known[word] for word in words if word in known), None)
        if name is None:
            fix = f"name a column {', '.join(words[:-1])} or {words[-1]}"
            raise InputError(f"no column of the {wanted}", file=path, found=", ".join(map(str, columns)), fix=fix)
        names.append(name)
    return names, -1.0 if ranked else 1.0


def _plain(name: Any) -> str:
    return re.sub('[-_" ]', "", str(name)).lower()


def separator(line: bytes) -> str:
    """What separates the names of columns in the first line of a table; empty if the line names none."""
    for one in "\t,; ":
        names = {_plain(name) for name in line.decode("utf-8", "replace").strip().split(one)}
        if names & set(COLUMNS["query"]) and names & set(COLUMNS["document"]):
            return one
    return ""


def of_frame(frame: Any, what: str) -> Rows:
    """Rows of a DataFrame."""
    names, sign = named_columns(frame.columns, what)
    query, doc, number = (np.asarray(frame[name], dtype=object).tolist() for name in names)
    return _signed(listed_rows(query, doc, number, what), what, sign)


def read_columns(path: AnyPath, what: str) -> Rows:
    """Rows of a Parquet file."""
    from pyarrow import parquet  # loads more than text needs

    try:
        with open_bytes(path) as file:
            table = parquet.ParquetFile(pa.BufferReader(file.read()))
        names, sign = named_columns(table.schema_arrow.names, what, path)
        columns = table.read(columns=names, use_threads=False).select(names).columns
        columns = [column.cast(kind) for column, kind in zip(columns, (NAME, NAME, NUMBER), strict=True)]
    except InputError:
        raise
    except (pa.ArrowException, *BROKEN) as error:
        fix = "write the table again: ids as text, numbers as numbers"
        raise InputError(f"not a table of a run or of judgments: {error}", file=path, fix=fix) from None
    if any(column.null_count for column in columns) or not _regular(columns, what):
        query, doc, number = (column.to_pylist() for column in columns)
        return _signed(listed_rows(query, doc, number, what, path), what, sign)
    return _signed(_rows(columns, what, path), what, sign)


def read_delimited(path: AnyPath, separator: str, what: str) -> Rows:
    """Rows of a table in text: Arrow reads what is regular, a loop the rest; the loop also names every fault."""
    from pyarrow import csv as arrow

    text = table_text(path)
    heading = next(csv.reader([text.partition(b"\n")[0].decode("utf-8", "replace")], delimiter=separator))
    names, sign = named_columns(heading, what, path)
    kinds = dict(zip(names, (WORD, NAME, NUMBER), strict=True))
    try:
        table = arrow.read_csv(
            pa.py_buffer(text),
            arrow.ReadOptions(use_threads=False),
            arrow.ParseOptions(delimiter=separator, newlines_in_values=b'"' in text),
            arrow.ConvertOptions(include_columns=names, column_types=kinds, null_values=[]),
        ).unify_dictionaries()
    except (pa.ArrowInvalid, pa.ArrowKeyError):
        table = None
    if table is None or not len(table) or not _plainly_quoted(text, separator) or not _regular(table.columns, what):
        return _signed(_looped(text, separator, heading, names, what, path), what, sign)
    return _signed(_rows(table.columns, what, path, None if b'"' in text else 1), what, sign)


def _plainly_quoted(text: bytes, separator: str) -> bool:
    """Whether quotes are around whole cells only, and no CR is left: of others Arrow makes what it likes."""
    end = re.escape(separator).encode() + b"\n"
    rest = re.sub(rb'(?:(?<=[%s])|^)"[^"]*(?:""[^"]*)*"(?=[%s])' % (end, end), b"", text) if b'"' in text else text
    return b'"' not in rest and b"\r" not in text


def _looped(text: bytes, separator: str, heading: list[str], names: Sequence[str], what: str, path: AnyPath) -> Rows:
    """Rows of a table in text, one after the other."""
    at = [heading.index(name) for name in names]
    rows: list[tuple[str, str, float]] = []
    for line, cells in islice(table_cells(text, separator, path), 1, None):
        problem, found = _fault(cells, at, len(heading), what)
        if problem:
            fix = NUMBERS[what].fix if found else "each line has the columns " + ", ".join(heading)
            raise InputError(problem, file=path, line=line, found=found or str(cells), fix=fix)
        rows.append((cells[at[0]], cells[at[1]], float(cells[at[2]])))
    if not rows:
        raise InputError("has no lines", file=path, fix="below its heading a table has a line for each document")
    query, doc, number = zip(*rows, strict=True)
    return listed_rows(query, doc, number, what, path)


def table_text(path: AnyPath) -> bytes:
    """A table in text, with lines that end at a line feed."""
    return b"".join(block.text for block in blocks(path)).replace(b"\r\n", b"\n")


def table_cells(text: bytes, separator: str, path: AnyPath) -> Iterator[tuple[int, list[str]]]:
    """Line and cells of each row of a table that is not blank; raises `InputError` where quotes or letters are wrong."""
    try:
        reader = csv.reader(io.StringIO(text.decode(), newline=""), delimiter=separator, strict=True)
    except UnicodeDecodeError as error:
        line, fix = text.count(b"\n", 0, error.start) + 1, "save the file as UTF-8 or ASCII text"
        raise InputError("not UTF-8", file=path, line=line, found=text[error.start :][:20], fix=fix) from None
    try:
        yield from ((reader.line_num, cells) for cells in reader if len(cells) > 1 or "".join(cells).strip())
    except csv.Error as error:
        fix = "write the table again; a quote inside of quotes is written twice"
        raise InputError(f"not a table: {error}", file=path, line=reader.line_num, fix=fix) from None


def _fault(cells: Sequence[str], at: Sequence[int], n_columns: int, what: str) -> tuple[str, str]:
    """What is wrong with a row, and the number that is none; both empty if the row is in order."""
    if len(cells) != n_columns:
        return f"{len(cells)} columns, not {n_columns}", ""
    query, doc, number = (cells[i] for i in at)
    if not query or not doc:
        return "an id is missing", ""
    holds = NUMBERS["rank" if what == "grade" else what].holds(number)
    return ("", "") if holds else (NUMBERS[what].problem, number)


def _regular(columns: Sequence[pa.ChunkedArray], what: str) -> bool:
    """Whether no id is empty, every number finite, and every grade whole."""
    names = ("query", "document", "rank" if what == "grade" else what)
    return all(in_order(name, column) for name, column in zip(names, columns, strict=True))


def _rows(columns: Sequence[pa.ChunkedArray], what: str, path: AnyPath, skip: int | None = None) -> Rows:
    query, doc, number = columns
    query = query if query.type == WORD else query.dictionary_encode()
    return Rows(doc.to_numpy(), pa.table({"query": query, what: number}), path, skip)


def _signed(rows: Rows, what: str, sign: float) -> Rows:
    return rows if sign > 0 else rows._replace(table=rows.table.set_column(1, what, pa.array(0 - rows.numbers(what))))

"""Rows of LETOR text from the bytes of a file, with an error message for each kind of faulty row."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from qdrank.datasets.letor import id_kernels as ids
from qdrank.datasets.letor import kernels
from qdrank.datasets.letor.chunk import Chunk, Form
from qdrank.datasets.letor.ledger import Ledger
from qdrank.datasets.textfiles import Block
from qdrank.errors import GRADE_FIX, AnyPath, InputError
from qdrank.measures.ranking import MAX_GRADE

_Bytes = NDArray[np.uint8]

_CHUNK_BYTES = 1 << 26
_HARD_ROWS = 1 << 12


class Lines(NamedTuple):
    """Whole lines of a file: their bytes, the number of the first, and how many there are."""

    data: _Bytes
    first: int
    n_lines: int


def numbered(blocks: Iterable[Block]) -> Iterator[Lines]:
    """Blocks of a file with the numbers of their lines."""
    for text, first in blocks:
        yield Lines(np.frombuffer(text, dtype=np.uint8), first, text.count(b"\n"))


class ParsedRows(NamedTuple):
    """Parsed rows of some lines: features, and where the names are in ``data``."""

    data: _Bytes
    X: NDArray[np.float32]
    records: NDArray[np.int64]


@dataclass
class Parser:
    """Parses the lines of one file and remembers the names.

    Threads may share `parse`; `chunk` must be given the rows in order.
    """

    path: AnyPath
    form: Form
    missing: bool
    max_label: int
    ledger: Ledger | None
    names: Ledger = field(init=False)

    def __post_init__(self) -> None:
        self.names = self.ledger or Ledger()
        self.names.open_file(self.path)

    def parse(self, lines: Lines) -> Iterator[ParsedRows]:
        """Rows of some lines, in several pieces if their matrix would be large."""
        hard = np.empty((max(_HARD_ROWS, self.form.width), kernels.N_HARD), dtype=np.int64)
        most = max(1, _CHUNK_BYTES // (4 * self.form.width))
        at, line, end = 0, lines.first, lines.first + lines.n_lines
        while at < len(lines.data):
            n_rows = min(most, end - line)
            X = np.zeros((n_rows, self.form.width), dtype=np.float32)
            records = np.empty((n_rows, kernels.N_RECORD), dtype=np.int64)
            n_rows, at, line = self._parse(lines.data, at, line, X, records, hard)
            if n_rows > 0:
                yield ParsedRows(lines.data, X[:n_rows], records[:n_rows])

    def _parse(
        self,
        data: _Bytes,
        at: int,
        line: int,
        X: NDArray[np.float32],
        records: NDArray[np.int64],
        hard: NDArray[np.int64],
    ) -> tuple[int, int, int]:
        """Fill ``X`` and ``records`` from ``at`` on: number of rows, where to go on, and its line."""
        n_rows, n_hard, status, at, line = kernels.parse_rows(
            data, at, line, X, records, hard, self.form.dense, self.missing, self.max_label
        )
        if status != kernels.OK:
            raise self._row_error(status, data, at, line)
        for row, column, start, end in hard[:n_hard].tolist():
            with np.errstate(over="ignore"):
                X[row, column] = np.float32(float(data[start:end].tobytes()))
            if np.isinf(X[row, column]):
                raise self._row_error(kernels.OVERFLOW, data, start, int(records[row, kernels.LINE]))
        return n_rows, at, line

    def _row_error(self, status: int, data: _Bytes, at: int, line: int) -> InputError:
        width, max_label = self.form.width, self.max_label
        return row_error(status, data, at, file=self.path, line=line, width=width, max_label=max_label)

    def chunk(self, rows: ParsedRows) -> Chunk:
        """The rows with their names, which are checked against those before."""
        data, X, records = rows
        bounds = ids.query_bounds(data, records)
        names, continues = self.names.queries(data, records[bounds[:-1]])
        documents = self.names.documents(data, records, bounds, continues=continues)
        return Chunk(X, records[:, kernels.LABEL].astype(np.int8), names, bounds, documents, continues)


_ROW = "write rows as: LABEL qid:QUERY 1:VALUE 2:VALUE ... #docid = DOCUMENT"
_MAY_BE_LEFT_OUT = (
    "if features left out are zero, say so: sparse: true for own data in the configuration, --sparse for `qdrank rank`, "
    "sparse=True in Python"
)
_REAL = re.compile(rb"[+-]?[0-9]*[.]?[0-9]+([eE][+-]?[0-9]+)?|[+-]?[0-9]+[.]")
_SPARSE = f"complete the row; or, {_MAY_BE_LEFT_OUT}"

# Problem and fix by status; {width} and {max_label} are filled in.
REASONS: dict[int, tuple[str, str]] = {
    kernels.BAD_LABEL: ("the row does not begin with a whole number as label", _ROW),
    kernels.NEGATIVE_LABEL: (
        "the label is negative",
        "labels are grades from 0 on; leave unjudged documents (-1 in the semi-supervised sets) out",
    ),
    kernels.LARGE_LABEL: (
        "the label is above {max_label}",
        f"correct the label, or give the highest grade: max_label (at most {MAX_GRADE})",
    ),
    kernels.NO_QID: ("the label is not followed by qid:QUERY", _ROW),
    kernels.BAD_QID: ("the query's name is empty or has control characters", _ROW),
    kernels.BAD_FEATURE: ("not a feature of the form INDEX:VALUE", _ROW),
    kernels.ZERO_INDEX: ("a feature has index 0", "number the features from 1"),
    kernels.UNORDERED: ("a feature is out of order or comes twice", "sort the row's features by index, each one once"),
    kernels.LARGE_INDEX: (
        "a feature's index is above {width}, the number of features",
        f"number the features from 1 to {{width}}; or, {_MAY_BE_LEFT_OUT}",
    ),
    kernels.GAP: ("a feature is left out before this one, in a file whose first row is complete", _SPARSE),
    kernels.SHORT: ("the row ends before feature {width}, in a file whose first row is complete", _SPARSE),
    kernels.BAD_VALUE: ("the feature's value is not a number", "write a decimal number such as 0.25 or 1e-3"),
    kernels.NOT_FINITE: ("the feature's value is not finite", "replace NaN and infinities by numbers"),
    kernels.OVERFLOW: (
        "the feature's value is too large for single precision",
        "scale the feature to below 3.4e38",
    ),
    kernels.MISSING: (
        "the feature's value is missing",
        "fill it in; or, if values may be missing, say so: missing_values: true for own data in the configuration, "
        "missing=True in Python",
    ),
    kernels.BAD_DOCID: ("docid = is followed by no name, or by control characters", "write: #docid = DOCUMENT"),
}


def row_error(
    status: int,
    data: NDArray[np.uint8],
    at: int,
    *,
    file: str | os.PathLike[str],
    line: int,
    width: int,
    max_label: int,
) -> InputError:
    """Error for the row in ``line`` that fails at position ``at`` of ``data``."""
    if status == kernels.GAP and _out_of_order(data, at):
        status = kernels.UNORDERED
    problem, fix = (text.format(width=width, max_label=max_label) for text in REASONS[status])
    token = _token_at(status, data, at)
    if status == kernels.BAD_LABEL and _REAL.fullmatch(token):
        fix = GRADE_FIX
    return InputError(problem, file=file, line=line, found=token, fix=fix)


def _out_of_order(data: NDArray[np.uint8], at: int) -> bool:
    """Whether the feature that seems to be missing before ``at`` comes later in the row."""
    row = _row(data, at)
    tokens = row.partition(b"#")[0].split()
    numbers = [int(head) for token in tokens if (head := token.partition(b":")[0]).isdigit() and b":" in token]
    return numbers != sorted(numbers)


def _row(data: NDArray[np.uint8], at: int, limit: int = 1 << 20) -> bytes:
    """The row around position ``at``; no more than ``limit`` bytes to either side."""
    before, behind = data[max(0, at - limit) : at].tobytes(), data[at : at + limit].tobytes()
    return before[before.rfind(b"\n") + 1 :] + behind.partition(b"\n")[0]


def _token_at(status: int, data: NDArray[np.uint8], at: int, limit: int = 120) -> bytes:
    """Token or comment at ``at``; the line's start if the line ends there."""
    if status == kernels.SHORT or data[at] in b"\r\n":
        return _row(data, at)[:limit].strip()
    behind = data[at : at + limit].tobytes()
    return behind.splitlines()[0] if status == kernels.BAD_DOCID else behind.split(maxsplit=1)[0]

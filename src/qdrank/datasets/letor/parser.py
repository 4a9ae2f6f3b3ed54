"""LETOR text parsed block by block with the compiled kernels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from qdrank.datasets.letor import id_kernels as ids
from qdrank.datasets.letor import kernels
from qdrank.datasets.letor.chunk import Chunk, Form
from qdrank.datasets.letor.errors import row_error
from qdrank.datasets.letor.ledger import Ledger
from qdrank.errors import AnyPath, InputError

_Bytes = NDArray[np.uint8]

_CHUNK_BYTES = 1 << 26
_HARD_ROWS = 1 << 12


class Lines(NamedTuple):
    """Whole lines of a file: their bytes, the number of the first, and how many there are."""

    data: _Bytes
    first: int
    n_lines: int


def numbered(blocks: Iterable[_Bytes]) -> Iterator[Lines]:
    """Blocks of a file with the numbers of their lines."""
    first = 1
    for data in blocks:
        n_lines = int(np.count_nonzero(data == ord("\n")))
        yield Lines(data, first, n_lines)
        first += n_lines


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

"""LETOR text parsed block by block with the compiled kernels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from qdrank.datasets.letor import id_kernels as ids
from qdrank.datasets.letor import kernels
from qdrank.datasets.letor.errors import row_error
from qdrank.datasets.letor.ledger import Ledger
from qdrank.datasets.letor.reader import Chunk, Form
from qdrank.errors import AnyPath, InputError

_Bytes = NDArray[np.uint8]

_CHUNK_BYTES = 1 << 26
_HARD_ROWS = 1 << 12


@dataclass
class Parser:
    """Parses the blocks of one file in order; remembers the line and the names."""

    path: AnyPath
    form: Form
    missing: bool
    max_label: int
    ledger: Ledger | None
    line: int = 1
    names: Ledger = field(init=False)
    hard: NDArray[np.int64] = field(init=False)

    def __post_init__(self) -> None:
        self.names = self.ledger or Ledger()
        self.names.open_file(self.path)
        self.hard = np.empty((max(_HARD_ROWS, self.form.width), kernels.N_HARD), dtype=np.int64)

    def chunks(self, data: _Bytes) -> Iterator[Chunk]:
        """Chunks of a block; several if its matrix would be large."""
        most = max(1, _CHUNK_BYTES // (4 * self.form.width))
        at, end = 0, self.line + int(np.count_nonzero(data == ord("\n")))
        while at < len(data):
            n_rows = min(most, end - self.line)
            X = np.zeros((n_rows, self.form.width), dtype=np.float32)
            records = np.empty((n_rows, kernels.N_RECORD), dtype=np.int64)
            n_rows, at = self._parse(data, at, X, records)
            if n_rows > 0:
                yield self._chunk(data, X[:n_rows], records[:n_rows])

    def _parse(self, data: _Bytes, at: int, X: NDArray[np.float32], records: NDArray[np.int64]) -> tuple[int, int]:
        """Fill ``X`` and ``records`` from ``at`` on: number of rows, where to go on."""
        n_rows, n_hard, status, at, self.line = kernels.parse_rows(
            data, at, self.line, X, records, self.hard, self.form.dense, self.missing, self.max_label
        )
        if status != kernels.OK:
            raise self._row_error(status, data, at, self.line)
        for row, column, start, end in self.hard[:n_hard].tolist():
            with np.errstate(over="ignore"):
                X[row, column] = np.float32(float(data[start:end].tobytes()))
            if np.isinf(X[row, column]):
                raise self._row_error(kernels.OVERFLOW, data, start, int(records[row, kernels.LINE]))
        return n_rows, at

    def _row_error(self, status: int, data: _Bytes, at: int, line: int) -> InputError:
        width, max_label = self.form.width, self.max_label
        return row_error(status, data, at, file=self.path, line=line, width=width, max_label=max_label)

    def _chunk(self, data: _Bytes, X: NDArray[np.float32], records: NDArray[np.int64]) -> Chunk:
        bounds = ids.query_bounds(data, records)
        names, continues = self.names.queries(data, records[bounds[:-1]])
        documents = self.names.documents(data, records, bounds, continues=continues)
        return Chunk(X, records[:, kernels.LABEL].astype(np.int8), names, bounds, documents, continues)

"""The names met while reading LETOR text: each query must be in one place, each document once in its query."""

from __future__ import annotations

import os
import shlex
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from qdrank.datasets.letor.rows import Rows
from qdrank.datasets.textfiles import is_uncompressed
from qdrank.errors import AnyPath, InputError
from qdrank.layout import IntArray

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Chunk:
    """Consecutive rows of a file.

    Attributes
    ----------
    X : (n_rows, n_features) float32
    y : (n_rows,) int8
    query_id : names of the n_queries queries, in order
    offsets : (n_queries + 1,) int64; query ``i`` owns the rows ``offsets[i]`` to ``offsets[i + 1] - 1``
    doc_id : (n_rows,) Arrow strings
    continues : whether the first query began in the chunk before
    """

    X: NDArray[np.float32]
    y: NDArray[np.int8]
    query_id: list[str]
    offsets: NDArray[np.int64]
    doc_id: pa.StringArray
    continues: bool


class Ledger:
    """Queries seen so far, over several files if they belong together, and the documents of the last query."""

    def __init__(self) -> None:
        self._places: dict[str, tuple[AnyPath, int]] = {}
        self.open_file("")

    def open_file(self, path: AnyPath) -> None:
        """Begin another file; a query ends at the latest with its file."""
        self._file = path
        self._open: str | None = None
        self._documents: set[str] = set()

    def chunk(self, rows: Rows) -> Chunk:
        """The rows with their names, which are checked against those before; a row without one is called ``QUERY-POSITION``."""
        import pyarrow as pa

        continues = rows.query_id[0] == self._open
        for name, start in [*zip(rows.query_id, rows.offsets.tolist(), strict=False)][continues:]:
            if name in self._places:
                raise self._two_places(name, int(rows.lines[start]))
            self._places[name] = self._file, int(rows.lines[start])
        documents: list[str] = []
        for query, (start, end) in zip(rows.query_id, pairwise(rows.offsets.tolist()), strict=True):
            if query != self._open:
                self._open, self._documents = query, set()
            before = len(self._documents)
            given = rows.doc_id[start:end]
            names = [f"{query}-{before + i}" if name is None else name for i, name in enumerate(given, 1)]
            self._refuse_double(names, rows.lines[start:end])
            documents += names
        return Chunk(rows.X, rows.y, rows.query_id, rows.offsets, pa.array(documents, pa.string()), continues)

    def _refuse_double(self, names: list[str], lines: IntArray) -> None:
        """Raise if a document of the open query was there before; remember the others."""
        if len(set(names)) == len(names) and self._documents.isdisjoint(names):
            self._documents.update(names)
            return
        for name, line in zip(names, lines.tolist(), strict=True):
            if name in self._documents:
                fix = "keep one row of each document in a query; without #docid = NAME, a comment's first word is the name"
                raise InputError("a document comes twice in its query", file=self._file, line=line, found=name, fix=fix)
            self._documents.add(name)

    def _two_places(self, name: str, line: int) -> InputError:
        file, first = self._places[name]
        same = file == self._file
        return InputError(
            f"query {name} is in two places: it began in line {first}" + ("" if same else f" of {file}"),
            file=self._file,
            line=line,
            found=f"qid:{name}",
            fix=f"let each query's rows follow each other{_sorting(file)}"
            if same
            else "keep each query in one part only",
        )


def _sorting(file: AnyPath) -> str:
    """The command that brings the rows of each query together, keeping their order."""
    return f": LC_ALL=C sort -s -k2,2 {shlex.quote(os.fspath(file))} > sorted.txt" if is_uncompressed(file) else ""

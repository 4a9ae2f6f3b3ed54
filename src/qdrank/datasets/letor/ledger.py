"""The names met while reading LETOR text: each query must be in one place, each document once in its query."""

from __future__ import annotations

import os
import shlex

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from qdrank.datasets.letor import id_kernels as ids
from qdrank.datasets.letor.kernels import LINE, QID, QID_END, Bytes
from qdrank.datasets.textfiles import is_uncompressed
from qdrank.errors import InputError
from qdrank.layout import query_index

Records = NDArray[np.int64]


def _sorting(file: str | os.PathLike[str]) -> str:
    """The command that brings the rows of each query together, keeping their order."""
    return f": LC_ALL=C sort -s -k2,2 {shlex.quote(os.fspath(file))} > sorted.txt" if is_uncompressed(file) else ""


class Ledger:
    """Queries seen so far, over several files if they belong together, and the documents of the last query."""

    def __init__(self) -> None:
        self._file: str | os.PathLike[str] = ""
        self._places: dict[str, tuple[str | os.PathLike[str], int]] = {}
        self._close()

    def _close(self) -> None:
        """Forget the last query's documents: a query ends at the latest with its file."""
        self._open: str | None = None
        self._hashes = np.empty(0, dtype=np.uint64)
        self._documents: list[pa.StringArray] = []

    def open_file(self, path: str | os.PathLike[str]) -> None:
        """Begin another file."""
        self._file = path
        self._close()

    def queries(self, data: Bytes, heads: Records) -> tuple[list[str], bool]:
        """Names of the queries with the given first rows, and whether the first one was open already."""
        lines = heads[:, LINE].tolist()
        texts = [data[a:b].tobytes() for a, b in heads[:, [QID, QID_END]].tolist()]
        names = [self._decoded(text, line) for text, line in zip(texts, lines, strict=True)]
        continues = names[0] == self._open
        for name, line in list(zip(names, lines, strict=True))[continues:]:
            if name in self._places:
                raise self._two_places(name, line)
            self._places[name] = self._file, line
        self._open = names[-1]
        return names, continues

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

    def _decoded(self, text: bytes, line: int) -> str:
        try:
            return text.decode()
        except UnicodeDecodeError:
            fix = "save the file as UTF-8 or ASCII text"
            raise InputError("a name is not UTF-8 text", file=self._file, line=line, found=text, fix=fix) from None

    def documents(self, data: Bytes, records: Records, bounds: Records, *, continues: bool) -> pa.StringArray:
        """Names of the documents of the rows, made up where the rows have none."""
        n_before = len(self._hashes) if continues else 0
        offsets = ids.document_bounds(records, bounds, n_before)
        text = ids.document_text(data, records, bounds, offsets, n_before)
        if len(text) > 0 and text.max() >= 128:
            for a, b, line in zip(offsets[:-1].tolist(), offsets[1:].tolist(), records[:, LINE].tolist(), strict=True):
                self._decoded(text[a:b].tobytes(), line)
        buffers = [pa.py_buffer(offsets.astype(np.int32)), pa.py_buffer(text)]
        names = pa.StringArray.from_buffers(len(records), *buffers)
        self._check_documents(names, ids.hash_names(text, offsets), records[:, LINE], bounds, n_before)
        return names

    def _check_documents(
        self, names: pa.StringArray, hashes: NDArray[np.uint64], lines: Records, bounds: Records, n_before: int
    ) -> None:
        """Raise if a query has a document twice; keep the documents of the last query for the next chunk."""
        shifted = np.concatenate([[0], bounds[1:] + n_before])
        if _any_double(np.concatenate([self._hashes[:n_before], hashes]), shifted):
            self._raise_double(names, lines, bounds, n_before)
        last = int(bounds[-2])
        if len(bounds) > 2 or n_before == 0:
            self._hashes, self._documents = hashes[last:], [names.slice(last)]
        else:
            self._hashes = np.concatenate([self._hashes, hashes])
            self._documents.append(names)

    def _raise_double(self, names: pa.StringArray, lines: Records, bounds: Records, n_before: int) -> None:
        """Raise with the name of the duplicate document; equal hashes of different names (never seen) raise nothing."""
        before = [name for chunk in self._documents for name in chunk.to_pylist()] if n_before else []
        for run, (start, end) in enumerate(zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True)):
            seen = set(before) if run == 0 else set()
            for row, name in enumerate(names.slice(start, end - start).to_pylist(), start):
                if name in seen:
                    raise InputError(
                        "a document comes twice in its query",
                        file=self._file,
                        line=int(lines[row]),
                        found=name,
                        fix="keep one row of each document in a query; without #docid = NAME, a comment's first word is the name",
                    )
                seen.add(name)


def _any_double(hashes: NDArray[np.uint64], bounds: Records) -> bool:
    """Whether two documents of a query share a hash."""
    owner = query_index(bounds)
    order = np.lexsort((hashes, owner))
    hashes, owner = hashes[order], owner[order]
    return bool(((hashes[1:] == hashes[:-1]) & (owner[1:] == owner[:-1])).any())

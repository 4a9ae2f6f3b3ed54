"""LETOR text, the SVMlight format with query ids: ``LABEL qid:QUERY 1:VALUE ... #docid = DOCUMENT``.

Read in a stream, plain or compressed, with bounded memory. A file whose first row has all features 1 to d is
*dense*: every row must have them all. In any other file features left out are zero (*sparse*). Documents without
a name are called ``QUERY-POSITION``, counted from 1 within the query. Files of RankLib and Elasticsearch end their rows in ``# NAME ...``: without
``docid =`` the first word of the comment is the name.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from qdrank.datasets.letor_rows import Form, RowReader, Rows, widest_index
from qdrank.datasets.textfiles import BLOCK_BYTES, blocks, is_uncompressed
from qdrank.errors import AnyPath, InputError
from qdrank.jobs import in_order, threads_given
from qdrank.layout import IntArray

if TYPE_CHECKING:
    import pyarrow as pa

    from qdrank.datasets.judged import Judged


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


MAX_FEATURES = 100_000
MAX_LABEL = 4
_PEEK_BYTES = 1 << 16


def letor_form(paths: Sequence[AnyPath], *, n_features: int | None = None, sparse: bool | None = None) -> Form:
    """Form of files that belong together: what is not given comes from the first row, or from all rows if sparse."""
    indices = _first_indices(paths[0])
    complete = len(indices) > 0 and indices == list(range(1, len(indices) + 1))
    dense = complete if sparse is None else not sparse
    if n_features is None:
        n_features = len(indices) if dense else max(widest_index(block) for path in paths for block in blocks(path))
    elif not 1 <= n_features <= MAX_FEATURES:
        raise InputError(f"n_features must be from 1 to {MAX_FEATURES:,}", found=str(n_features))
    # Beyond the bound the parser names the row with the large index.
    return Form(min(max(n_features, 1), MAX_FEATURES), dense)


def _first_indices(path: AnyPath) -> list[int]:
    """Feature indices of a file's first row."""
    heads = [token.partition(b":")[0] for token in _first_row(path)[0].split()[1:]]
    return [int(head) for head in heads if head.isdigit() and len(head) < 10]


def _first_row(path: AnyPath) -> tuple[bytes, bytes]:
    """A file's first row up to its comment, and the comment."""
    for block in blocks(path, _PEEK_BYTES):
        for line in block.text.split(b"\n"):  # not at a lone CR, as the parser
            row, _, comment = line.partition(b"#")
            if row.split():
                return row, comment
    raise InputError("has no rows", file=path, fix="give a file with at least one judged document")


def document_names(path: AnyPath) -> str:
    """Where the names of the documents come from, in words, as the first row shows it."""
    comment = _first_row(path)[1].decode("utf-8", "replace").split()
    if re.search(r"(^| )docid ?=", " ".join(comment)):
        return "named by #docid = NAME"
    if comment and "=" not in comment[0] and comment[1:2] != ["="] and comment[0] != "docid":
        return "named by the first word of the rows' comments, as RankLib and Elasticsearch write them"
    return "without names: they are called QUERY-POSITION"


def read_letor(
    path: AnyPath,
    *,
    n_features: int | None = None,
    sparse: bool | None = None,
    missing: bool = False,
    max_label: int = MAX_LABEL,
    ledger: Ledger | None = None,
    block_bytes: int = BLOCK_BYTES,
    threads: int | None = None,
) -> Iterator[Chunk]:
    """Read a file chunk by chunk; a chunk may end within a query, which the next one then continues.

    Raises `InputError` at the first row that is wrong, naming file, line, the text found and the fix.

    Parameters
    ----------
    path : plain text, or compressed as .gz, .xz or .bz2 (seen from the content)
    n_features : number of features; by default that of the first row, or the largest index if the file is sparse
    sparse : whether features may be left out, as zero; by default seen from the first row
    missing : whether values may be missing (``NULL``, or the largest double); they become NaN
    max_label : largest label allowed, at most 127
    ledger : names seen in other files, which must not occur in this one
    block_bytes : bytes parsed at once
    threads : how many share the work on a dense file; by default those that the job was given
    """
    if not 0 <= max_label <= 127:
        raise InputError("max_label must be from 0 to 127", found=str(max_label))
    form = letor_form([path], n_features=n_features, sparse=sparse)
    reader, names = RowReader(path, form, missing, max_label), ledger or Ledger()
    names.open_file(path)
    # The matrix of a sparse file may be far larger than its text, so no rows are parsed ahead.
    helpers = (threads or threads_given()) - 1 if form.dense else 0
    yield from map(names.chunk, in_order(reader.rows, blocks(path, block_bytes), helpers, ahead=helpers))


def load_letor(
    path: AnyPath,
    *,
    part: str = "all",
    n_features: int | None = None,
    sparse: bool | None = None,
    missing: bool = False,
    max_label: int = MAX_LABEL,
) -> Judged:
    """Read a whole file into memory; the parameters are those of `read_letor`, all queries are in ``part``."""
    chunks = list(read_letor(path, n_features=n_features, sparse=sparse, missing=missing, max_label=max_label))
    heads = [name for chunk in chunks for name in chunk.query_id[chunk.continues :]]
    # A query split between chunks counts once: its inner bound is dropped.
    starts, n_rows = [], 0
    for chunk in chunks:
        starts.append(n_rows + chunk.offsets[:-1][chunk.continues :])
        n_rows += len(chunk.y)
    import pyarrow as pa

    from qdrank.datasets.judged import Judged

    return Judged(
        query_id=np.array(heads, dtype=object),
        part=np.full(len(heads), part, dtype=object),
        offsets=np.concatenate([*starts, [n_rows]]).astype(np.int64),
        doc_id=pa.chunked_array([chunk.doc_id for chunk in chunks]).to_numpy(),
        y=np.concatenate([chunk.y for chunk in chunks]).astype(np.int64),
        X=np.concatenate([chunk.X for chunk in chunks]),
    )

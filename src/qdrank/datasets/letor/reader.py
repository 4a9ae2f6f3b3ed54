"""LETOR text, the SVMlight format with query ids: ``LABEL qid:QUERY 1:VALUE ... #docid = DOCUMENT``.

Read in a stream, plain or compressed, with bounded memory. A file whose first row has all features 1 to d is
*dense*: every row must have them all. In any other file features left out are zero (*sparse*). Documents without
a name are called ``QUERY-POSITION``, counted from 1 within the query.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from qdrank.datasets.judged import Judged
from qdrank.datasets.letor import id_kernels as ids
from qdrank.datasets.letor import kernels
from qdrank.datasets.letor.errors import row_error
from qdrank.datasets.letor.files import BLOCK_BYTES, blocks
from qdrank.datasets.letor.kernels import Bytes
from qdrank.datasets.letor.ledger import Ledger
from qdrank.errors import AnyPath, InputError

MAX_FEATURES = 100_000
MAX_LABEL = 4
_CHUNK_BYTES = 1 << 26
_PEEK_BYTES = 1 << 16
_HARD_ROWS = 1 << 12


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


@dataclass(frozen=True)
class Form:
    """Number of features, and whether every row must have them all."""

    width: int
    dense: bool


def letor_form(paths: Sequence[AnyPath], *, n_features: int | None = None, sparse: bool | None = None) -> Form:
    """Form of files that belong together: what is not given is seen from the first row, or all rows if sparse."""
    indices = _first_indices(paths[0])
    complete = len(indices) > 0 and indices == list(range(1, len(indices) + 1))
    dense = complete if sparse is None else not sparse
    if n_features is None:
        n_features = len(indices) if dense else max(int(ids.widest_index(b)) for path in paths for b in blocks(path))
    elif not 1 <= n_features <= MAX_FEATURES:
        raise InputError(f"n_features must be from 1 to {MAX_FEATURES:,}", found=str(n_features))
    # Beyond the bound the parser names the row with the large index.
    return Form(min(max(n_features, 1), MAX_FEATURES), dense)


def _first_indices(path: AnyPath) -> list[int]:
    """Feature indices of a file's first row."""
    for block in blocks(path, _PEEK_BYTES):
        for line in block.tobytes().split(b"\n"):  # not at a lone CR, as the parser
            tokens = line.partition(b"#")[0].split()
            if tokens:
                heads = [token.partition(b":")[0] for token in tokens[1:]]
                return [int(head) for head in heads if head.isdigit() and len(head) < 10]
    raise InputError("has no rows", file=path, fix="give a file with at least one judged document")


def read_letor(
    path: AnyPath,
    *,
    n_features: int | None = None,
    sparse: bool | None = None,
    missing: bool = False,
    max_label: int = MAX_LABEL,
    ledger: Ledger | None = None,
    block_bytes: int = BLOCK_BYTES,
) -> Iterator[Chunk]:
    """Read a file chunk by chunk; a chunk may end within a query, the next one then says that it continues it.

    Parameters
    ----------
    path : plain text, or compressed as .gz, .xz or .bz2 (seen from the content)
    n_features : number of features; by default that of the first row, or the largest index if the file is sparse
    sparse : whether features may be left out, as zero; by default seen from the first row
    missing : whether values may be missing (``NULL``, or the largest double); they become NaN
    max_label : largest label allowed, at most 127
    ledger : names seen in other files that must not come again in this one
    block_bytes : bytes parsed at once

    Raises
    ------
    InputError
        At the first row that is wrong, naming file, line, the text found and the fix.
    """
    if not 0 <= max_label <= 127:
        raise InputError("max_label must be from 0 to 127", found=str(max_label))
    form = letor_form([path], n_features=n_features, sparse=sparse)
    parser = _Parser(path, form, missing, max_label, ledger or Ledger())
    for block in blocks(path, block_bytes):
        yield from parser.chunks(block)


@dataclass
class _Parser:
    """Parses the blocks of one file in order; remembers the line and the names."""

    path: AnyPath
    form: Form
    missing: bool
    max_label: int
    ledger: Ledger
    line: int = 1
    hard: NDArray[np.int64] = field(init=False)

    def __post_init__(self) -> None:
        self.ledger.open_file(self.path)
        self.hard = np.empty((max(_HARD_ROWS, self.form.width), kernels.N_HARD), dtype=np.int64)

    def chunks(self, data: Bytes) -> Iterator[Chunk]:
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

    def _parse(self, data: Bytes, at: int, X: NDArray[np.float32], records: NDArray[np.int64]) -> tuple[int, int]:
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

    def _row_error(self, status: int, data: Bytes, at: int, line: int) -> InputError:
        width, max_label = self.form.width, self.max_label
        return row_error(status, data, at, file=self.path, line=line, width=width, max_label=max_label)

    def _chunk(self, data: Bytes, X: NDArray[np.float32], records: NDArray[np.int64]) -> Chunk:
        bounds = ids.query_bounds(data, records)
        names, continues = self.ledger.queries(data, records[bounds[:-1]])
        documents = self.ledger.documents(data, records, bounds, continues=continues)
        return Chunk(X, records[:, kernels.LABEL].astype(np.int8), names, bounds, documents, continues)


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
    # A query cut by chunks is counted once: its bound within is left out.
    starts, n_rows = [], 0
    for chunk in chunks:
        starts.append(n_rows + chunk.offsets[:-1][chunk.continues :])
        n_rows += len(chunk.y)
    return Judged(
        query_id=np.array(heads, dtype=object),
        part=np.full(len(heads), part, dtype=object),
        offsets=np.concatenate([*starts, [n_rows]]).astype(np.int64),
        doc_id=pa.chunked_array([chunk.doc_id for chunk in chunks]).to_numpy(),
        y=np.concatenate([chunk.y for chunk in chunks]).astype(np.int64),
        X=np.concatenate([chunk.X for chunk in chunks]),
    )

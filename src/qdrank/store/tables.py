"""Artifacts: Parquet files of a known shape, written whole, with a digest that is part of the file; list columns as matrices.

The same content gives the same bytes. Parquet's footer may hold free key-value pairs. The writer reserves the value of one of them (64
zeros), takes the SHA-256 of the whole file in that state, and writes it over the zeros. A reader reverses these steps. Every
byte of the file is covered, including the footer, and the file is still an ordinary Parquet file.
"""

from __future__ import annotations

import hashlib
import json
import mmap
import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from qdrank.errors import AnyPath, InputError, QdrankError
from qdrank.store.atomic import atomic_path
from qdrank.store.schemas import ArtifactKind, conform, shape_of

if TYPE_CHECKING:
    import pandas as pd


# Fixed, because row groups are part of the bytes: how a caller divides its data into tables must not matter.
ROW_GROUP_SIZE = 1 << 16
_KIND, _ABOUT = b"qdrank.kind", b"qdrank.about"


class ArtifactWriter:
    """Takes tables one after another and writes them in row groups of fixed size."""

    def __init__(self, path: Path, kind: ArtifactKind, about: Mapping[str, Any] | None = None) -> None:
        self._path, self._shape, self._about = path, shape_of(kind), about
        self._writer: pq.ParquetWriter | None = None
        self._waiting: list[pa.Table] = []
        self._n_waiting = 0

    def append(self, table: pa.Table) -> None:
        """Add the rows of ``table``; the first table fixes the schema."""
        table = conform(table, self._shape)
        if self._writer is None:
            self._writer = _parquet_writer(self._path, table.schema, self._shape.effort)
        elif table.schema != self._writer.schema:
            raise InputError(
                f"a {self._shape.name} table must keep its schema: {table.schema} after {self._writer.schema}"
            )
        self._waiting.append(table)
        self._n_waiting += len(table)
        if self._n_waiting >= ROW_GROUP_SIZE:
            self._write_row_groups(final=False)

    def _write_row_groups(self, *, final: bool) -> None:
        assert self._writer is not None
        rows = pa.concat_tables(self._waiting)
        whole = len(rows) if final else len(rows) // ROW_GROUP_SIZE * ROW_GROUP_SIZE
        for start in range(0, whole, ROW_GROUP_SIZE):
            row_group = rows.slice(start, min(ROW_GROUP_SIZE, whole - start)).combine_chunks()
            self._writer.write_table(row_group, row_group_size=ROW_GROUP_SIZE)
        self._waiting = [rows.slice(whole)]
        self._n_waiting = len(rows) - whole

    def close(self) -> None:
        """Write the rows still waiting, and the footer with room for the digest."""
        if self._writer is None:
            raise InputError(f"nothing was written to a {self._shape.name} artifact")
        self._write_row_groups(final=True)
        about = {} if self._about is None else {_ABOUT: json.dumps(self._about).encode()}
        self._writer.add_key_value_metadata({_KIND: self._shape.name.encode(), **about, KEY: BLANK})
        self._writer.close()


def _parquet_writer(path: Path, schema: pa.Schema, effort: int) -> pq.ParquetWriter:
    texts = [f.name for f in schema if pa.types.is_string(f.type)]
    return pq.ParquetWriter(
        path,
        schema,
        compression="zstd",
        compression_level=effort,
        use_dictionary=texts,
        write_statistics=False,
        write_page_checksum=True,
        version="2.6",
    )


@contextmanager
def writing(path: AnyPath, kind: ArtifactKind, about: Mapping[str, Any] | None = None) -> Iterator[ArtifactWriter]:
    """Stream tables into the artifact ``path``; nothing appears there unless the block ends without an error.

    ``about`` is kept in the footer, as JSON.
    """
    with atomic_path(path) as partial:
        writer = ArtifactWriter(partial, kind, about)
        yield writer
        writer.close()
        seal(partial)


def write(
    path: AnyPath, kind: ArtifactKind, table: pa.Table | pd.DataFrame, about: Mapping[str, Any] | None = None
) -> None:
    """Write ``table`` as an artifact of the given kind; ``about`` as for `writing`."""
    with writing(path, kind, about) as writer:
        writer.append(table_of(table))


def table_of(table: pa.Table | pd.DataFrame) -> pa.Table:
    """A frame as a table, in which what is missing is null; a table as it is."""
    if isinstance(table, pa.Table):
        return table
    made = pa.Table.from_pandas(table, preserve_index=False).replace_schema_metadata()
    kinds = [field.with_type(pa.string()) if field.type == pa.large_string() else field for field in made.schema]
    return made.cast(pa.schema(kinds))


def open_artifact(path: AnyPath, kind: ArtifactKind) -> pq.ParquetFile:
    """Verify an artifact and open it, for reading row group by row group.

    Raises
    ------
    CorruptArtifact : if the file was changed after it was written
    InputError : if it is an artifact of another kind
    """
    name = shape_of(kind).name
    verify(path)
    with _readable(path):
        file = pq.ParquetFile(path, pre_buffer=False)  # read ahead, a whole group would be held twice
        stored = (file.metadata.metadata or {}).get(_KIND, b"unknown").decode()
    if stored != name:
        raise InputError(
            f"the kind of this artifact is {stored}, not {name}", file=path, fix="give the path of the right artifact"
        )
    return file


def read_about(path: AnyPath, kind: ArtifactKind) -> dict[str, Any]:
    """What the footer of an artifact says about it."""
    with open_artifact(path, kind) as file:
        about: dict[str, Any] = json.loads(file.metadata.metadata.get(_ABOUT, b"{}"))
    return about


def read(path: AnyPath, kind: ArtifactKind, columns: Sequence[str] | None = None) -> pa.Table:
    """Read an artifact, or some columns of it, after checking digest and shape."""
    with open_artifact(path, kind) as file, _readable(path):
        _check_columns(path, columns or (), file.schema_arrow.names)
        table = file.read(columns=None if columns is None else list(columns), use_threads=False)
    return conform(table, kind) if columns is None else table


def _check_columns(path: AnyPath, columns: Sequence[str], there: Sequence[str]) -> None:
    """Refuse columns that are not there: Parquet's reader would silently leave them out."""
    unknown = [column for column in columns if column not in there]
    if unknown:
        raise InputError(f"there is no column {', '.join(unknown)}", file=path, fix="columns: " + ", ".join(there))


@contextmanager
def _readable(path: AnyPath) -> Iterator[None]:
    """Turn errors of the Parquet reader into ours: a file with a valid digest may still not be Parquet."""
    try:
        yield
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise CorruptArtifact(path, f"cannot be read: {error}") from None


def list_column(matrix: NDArray[Any]) -> pa.FixedSizeListArray:
    """A matrix as a column of fixed-size lists, whose type allows no nulls, as the store keeps it."""
    kind = pa.list_(_item(matrix), matrix.shape[1])
    return pa.FixedSizeListArray.from_arrays(_flat(matrix), type=kind)


def open_list_column(matrix: NDArray[Any]) -> pa.ListArray:
    """A matrix as a column of lists of any length: other rows of the column may have another width, or be empty."""
    n, width = matrix.shape
    offsets = pa.array(np.arange(n + 1, dtype=np.int32) * width)
    return pa.ListArray.from_arrays(offsets, _flat(matrix), type=pa.list_(_item(matrix)))


def list_matrix(column: pa.ChunkedArray) -> NDArray[Any]:
    """A column of lists of one length as a matrix.

    Raises `InputError` if the lists are of different lengths.
    """
    lists = column.combine_chunks()
    if pa.types.is_fixed_size_list(column.type):
        width = column.type.list_size
        first = lists.offset * width
    else:
        offsets = lists.offsets.to_numpy()
        width, first = _common_length(np.diff(offsets)), int(offsets[0])
    # Not `flatten`, which loads pyarrow.compute. Lists are never null, so that all items between the ends are theirs.
    items = lists.values.slice(first, len(lists) * width)
    return np.asarray(items.to_numpy(zero_copy_only=False)).reshape(len(column), width)


def _common_length(lengths: NDArray[Any]) -> int:
    shortest, longest = (lengths.min(), lengths.max()) if len(lengths) else (0, 0)
    if shortest < longest:
        raise InputError(f"lists of {shortest} to {longest} values are not a matrix")
    return int(longest)


def _item(matrix: NDArray[Any]) -> pa.Field:
    return pa.field("item", pa.from_numpy_dtype(matrix.dtype), nullable=False)


def _flat(matrix: NDArray[Any]) -> pa.Array:
    return pa.array(np.ascontiguousarray(matrix).ravel())


def repeated(n: int, **values: str | float) -> dict[str, pa.Array]:
    """Columns with one value in each of ``n`` rows: text, whole numbers of 32 bits, or other numbers of 64."""
    kinds = {str: pa.string(), int: pa.int32(), float: pa.float64()}
    return {name: pa.array([value] * n, kinds[type(value)]) for name, value in values.items()}


def no_rows(kind: ArtifactKind, **widths: int) -> pa.Table:
    """A table of a kind of artifact without rows; ``widths`` are those of its vectors."""
    table: pa.Table = shape_of(kind).schema(widths).empty_table()
    return table


def joined(tables: list[pa.Table]) -> pa.Table:
    """The rows of all tables; columns of one type may allow nulls in some tables and not in others."""
    return pa.concat_tables(tables, promote_options="default")


KEY = b"qdrank.sha256"
BLANK = b"0" * 64
_STEP = 1 << 22


class CorruptArtifact(QdrankError):
    """An artifact that was changed or damaged after it was written."""

    def __init__(self, path: str | os.PathLike[str], problem: str) -> None:
        super().__init__(
            f"{path}: {problem}\n"
            f"  fix:   delete the file and run the same command again; only what depends on it is made again\n"
            f"         rm {shlex.quote(os.fspath(path))}"
        )


def seal(path: Path) -> str:
    """Write the file's digest into its reserved place; return the digest."""
    with path.open("r+b") as file, mmap.mmap(file.fileno(), 0) as bytes_:
        place = _place(bytes_)
        if place is None or bytes_[place : place + 64] != BLANK:
            raise ValueError(f"{path} has no place reserved for a digest")
        digest = _digest(bytes_, place)
        bytes_[place : place + 64] = digest.encode()
    return digest


def verify(path: str | os.PathLike[str]) -> str:
    """Check the digest that the file carries; return it.

    Raises `CorruptArtifact` if the file is empty, carries no digest, or is not the file that was written.
    """
    with Path(path).open("rb") as file:
        if os.fstat(file.fileno()).st_size == 0:
            raise CorruptArtifact(path, "the artifact is empty")
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as bytes_:
            place = _place(bytes_)
            if place is None:
                raise CorruptArtifact(
                    path, "it carries no digest: it is not an artifact of qdrank, or it was cut short"
                )
            recorded = bytes_[place : place + 64]
            if _digest(bytes_, place).encode() != recorded:
                raise CorruptArtifact(path, "the artifact was changed after it was written: its digest does not match")
    return recorded.decode()


def _place(bytes_: mmap.mmap) -> int | None:
    """Where the 64 digits are: after the last occurrence of the key, within the thrift-encoded footer."""
    key = bytes_.rfind(KEY)
    if key < 0:
        return None
    # The value follows the key: one byte for the field's type, one for its length (64), then the digits.
    place = bytes_.find(b"\x40", key + len(KEY), key + len(KEY) + 4)
    return place + 1 if place >= 0 and place + 65 <= len(bytes_) else None


def _digest(bytes_: mmap.mmap, place: int) -> str:
    sha256 = hashlib.sha256()
    for start in range(0, place, _STEP):
        sha256.update(bytes_[start : min(start + _STEP, place)])
    sha256.update(BLANK)
    for start in range(place + 64, len(bytes_), _STEP):
        sha256.update(bytes_[start : start + _STEP])
    return sha256.hexdigest()

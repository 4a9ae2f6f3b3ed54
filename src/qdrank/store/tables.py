"""Reading and writing artifacts: checked against their shape, atomic, the same bytes for the same content."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from qdrank.errors import AnyPath, InputError
from qdrank.store.atomic import atomic_path
from qdrank.store.digest import BLANK, KEY, CorruptArtifact, seal, verify
from qdrank.store.schemas import ArtifactKind, conform, shape_of

if TYPE_CHECKING:
    import pandas as pd

# Fixed, because row groups are part of the bytes: how a caller divides its data into tables must not matter.
ROW_GROUP_SIZE = 1 << 16
_KIND = b"qdrank.kind"


class ArtifactWriter:
    """Takes tables one after another and writes them in row groups of fixed size."""

    def __init__(self, path: Path, kind: ArtifactKind) -> None:
        self._path, self._shape = path, shape_of(kind)
        self._writer: pq.ParquetWriter | None = None
        self._waiting: list[pa.Table] = []
        self._n_waiting = 0

    def append(self, table: pa.Table) -> None:
        """Add the rows of ``table``; the first table fixes the schema."""
        table = conform(table, self._shape)
        if self._writer is None:
            self._writer = _parquet_writer(self._path, table.schema)
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
        self._writer.add_key_value_metadata({_KIND: self._shape.name.encode(), KEY: BLANK})
        self._writer.close()


def _parquet_writer(path: Path, schema: pa.Schema) -> pq.ParquetWriter:
    texts = [f.name for f in schema if pa.types.is_string(f.type)]
    return pq.ParquetWriter(
        path,
        schema,
        compression="zstd",
        compression_level=3,
        use_dictionary=texts,
        write_statistics=False,
        write_page_checksum=True,
        version="2.6",
    )


@contextmanager
def writing(path: AnyPath, kind: ArtifactKind) -> Iterator[ArtifactWriter]:
    """Stream tables into the artifact ``path``; nothing appears there unless the block ends without an error."""
    with atomic_path(path) as partial:
        writer = ArtifactWriter(partial, kind)
        yield writer
        writer.close()
        seal(partial)


def write(path: AnyPath, kind: ArtifactKind, table: pa.Table | pd.DataFrame) -> None:
    """Write ``table`` as an artifact of the given kind."""
    with writing(path, kind) as writer:
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

"""Columns of tables: matrices as lists and back, columns of one value, and tables without rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from qdrank.errors import InputError
from qdrank.store.schemas import ArtifactKind, shape_of


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

"""Rows of tables: columns of one value, and tables without rows."""

from __future__ import annotations

import pyarrow as pa

from qdrank.store.schemas import ArtifactKind, shape_of


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

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from qdrank.errors import InputError
from qdrank.store import read, write
from qdrank.store.tables import joined, list_column, no_rows, repeated


def test_a_value_is_repeated_with_the_type_of_the_store() -> None:
    columns = repeated(3, fold="fold1", k=7, lam=0.5)
    assert {name: column.type for name, column in columns.items()} == {
        "fold": pa.string(),
        "k": pa.int32(),
        "lam": pa.float64(),
    }
    assert pa.table(columns).to_pylist() == [{"fold": "fold1", "k": 7, "lam": 0.5}] * 3
    assert len(pa.table(repeated(0, fold="fold1"))) == 0


def test_a_table_without_rows_is_an_artifact_of_its_kind(tmp_path: Path) -> None:
    write(tmp_path / "a.parquet", "queries", no_rows("queries", vector=4))
    table = read(tmp_path / "a.parquet", "queries")
    assert len(table) == 0
    assert table.schema.field("vector").type.list_size == 4
    with pytest.raises(InputError, match="unknown kind of artifact"):
        no_rows("query")


def test_rows_join_a_table_without_rows() -> None:
    head, vector = {"query_id": "q1", "role": "test"}, list_column(np.ones((1, 2)))
    kind = {"type": pa.array(["short"]), "train_index": pa.array([-1], pa.int32())}
    table = joined([no_rows("queries", vector=2), pa.table(repeated(1, **head) | kind | {"vector": vector})])
    assert table.column_names == no_rows("queries", vector=2).column_names
    assert table.column("train_index").to_pylist() == [-1]

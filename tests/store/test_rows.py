from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from qdrank.errors import InputError
from qdrank.store import read, write
from qdrank.store.lists import joined, list_column, no_rows, repeated


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
    write(tmp_path / "a.parquet", "local_models", no_rows("local_models", weights=4))
    table = read(tmp_path / "a.parquet", "local_models")
    assert len(table) == 0
    assert table.schema.field("weights").type.list_size == 4
    with pytest.raises(InputError, match="unknown kind of artifact"):
        no_rows("local_model")


def test_rows_join_a_table_without_rows() -> None:
    head = {"neighbourhood": "equal", "role": "test", "query_id": "q1", "k": 2, "lam": 0.1}
    numbers = {"pairs": pa.array([5]), "gap": pa.array([0.0]), "iterations": pa.array([3], pa.int32())}
    one = pa.table(repeated(1, **head) | numbers | {"weights": list_column(np.ones((1, 2)))})
    table = joined([no_rows("local_models", weights=2), one])
    assert table.column_names == no_rows("local_models", weights=2).column_names
    assert table.column("pairs").to_pylist() == [5]

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qdrank.errors import InputError
from qdrank.store import read, write
from qdrank.store.tables import joined, list_column, list_matrix, no_rows, open_list_column, repeated


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


@given(st.integers(0, 6), st.integers(0, 4), st.sampled_from([np.float32, np.float64, np.int32]), st.booleans())
def test_a_matrix_comes_back(n: int, width: int, dtype: type, fixed: bool) -> None:
    width = max(width, 1) if fixed else width  # there are no fixed-size lists of width 0
    matrix = np.arange(n * width).reshape(n, width).astype(dtype)
    column = pa.chunked_array([(list_column if fixed else open_list_column)(matrix)])
    found = list_matrix(column)
    # An open list without rows has forgotten its width.
    assert found.shape == ((n, width) if fixed or n else (0, 0))
    np.testing.assert_array_equal(found.ravel(), matrix.ravel())
    assert found.dtype == dtype


@pytest.mark.parametrize("make", [list_column, open_list_column])
def test_slices_and_chunks_are_respected(make: object) -> None:
    matrix = np.arange(12.0).reshape(6, 2)
    column = make(matrix)
    chunks = pa.chunked_array([column.slice(1, 2), column.slice(4)])
    np.testing.assert_array_equal(list_matrix(chunks), matrix[[1, 2, 4, 5]])
    np.testing.assert_array_equal(list_matrix(pa.chunked_array([column.slice(2, 3)])), matrix[2:5])


def test_a_view_of_a_larger_matrix_is_copied_right() -> None:
    matrix = np.arange(12.0).reshape(3, 4)
    np.testing.assert_array_equal(list_matrix(pa.chunked_array([list_column(matrix.T[::2])])), matrix.T[::2])


def test_lists_of_different_lengths_are_no_matrix() -> None:
    """One and three values would make a two by two matrix of the wrong rows."""
    with pytest.raises(InputError, match="1 to 3 values"):
        list_matrix(pa.chunked_array([pa.array([[1.0], [2.0, 3.0, 4.0]])]))

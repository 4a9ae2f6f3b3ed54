import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qdrank.errors import InputError
from qdrank.store.tables import list_column, list_matrix, open_list_column


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

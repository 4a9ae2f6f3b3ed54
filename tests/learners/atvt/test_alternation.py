"""Rows brought together by query, and the objective along the rounds of the alternation."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qdrank.errors import InputError
from qdrank.learners.atvt.maps import Maps
from qdrank.learners.atvt.rounds import grouped, moved


@given(st.lists(st.integers(0, 4), min_size=1, max_size=15))
def test_rows_are_grouped_in_order_of_first_appearance(query):
    n = len(query)
    X, y = np.arange(2.0 * n).reshape(n, 2), np.arange(float(n))
    features, targets, offsets = grouped(X, y, query)
    lists: dict[int, list[int]] = {}
    for row, name in enumerate(query):
        lists.setdefault(name, []).append(row)
    order = [row for rows in lists.values() for row in rows]
    np.testing.assert_array_equal(targets, y[order])
    np.testing.assert_array_equal(features, X[order])
    assert offsets.tolist() == np.cumsum([0, *map(len, lists.values())]).tolist()


def test_without_ids_all_rows_are_one_query():
    assert grouped(np.ones((3, 1)), np.arange(3.0), None)[2].tolist() == [0, 3]


def test_ids_of_another_length_are_refused():
    with pytest.raises(InputError, match="one query id per row"):
        grouped(np.ones((3, 1)), np.arange(3.0), [1, 2])


def test_maps_move_by_the_norms_of_their_differences():
    held = np.zeros(2, dtype=np.bool_)
    before, after = (
        Maps(np.array([1.0, 2.0]), np.zeros(2), held),
        Maps(np.array([4.0, 6.0]), np.array([0.0, 2.0]), held),
    )
    assert moved(before, after) == 5 + 2
    assert moved(before, before) == 0

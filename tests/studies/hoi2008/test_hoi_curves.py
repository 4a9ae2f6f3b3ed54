"""Curves along gamma and along the number of training queries, against loops over rows in any order."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qdrank.studies.hoi2008.curves import method_curve

GAMMAS, QUERIES = (0.0, 0.5, 2.0), ("q10", "q2", "q9")


def sweep(order: np.ndarray) -> pa.Table:
    rows = [
        {"method": method, "fold": f"f{query[1]}", "query_id": query, "x": gamma}
        for method in ("sser", "ser")
        for query in QUERIES
        for gamma in GAMMAS
    ]
    for i, row in enumerate(rows):
        row["ap"] = i / 100
    return pa.Table.from_pylist([rows[i] for i in order])


@given(st.permutations(range(18)))
@settings(max_examples=20)
def test_a_curve_does_not_depend_on_the_order_of_the_rows(order):
    table = sweep(np.array(order))
    curve = method_curve(table, "sser")
    assert curve.x.tolist() == list(GAMMAS)
    assert curve.query_id.tolist() == sorted(QUERIES)
    assert curve.fold.tolist() == [f"f{query[1]}" for query in sorted(QUERIES)]
    values = {(r["query_id"], r["x"]): r["ap"] for r in table.to_pylist() if r["method"] == "sser"}
    for i, query in enumerate(curve.query_id):
        assert [values[query, gamma] for gamma in GAMMAS] == curve.values[i].tolist()
    assert curve.at(0.5).tolist() == curve.values[:, 1].tolist()


def test_repeats_of_a_size_are_averaged():
    rows = [
        {"method": "ser", "fold": "f", "query_id": "q", "x": float(size), "ap": ap}
        for size, ap in ((5, 0.1), (5, 0.3), (0, 0.9), (20, 0.4))
    ]
    curve = method_curve(pa.Table.from_pylist(rows), "ser")
    assert curve.x.tolist() == [0, 5, 20]
    np.testing.assert_allclose(curve.values, [[0.9, 0.2, 0.4]])


def test_a_point_that_is_not_on_the_curve_is_an_error():
    with pytest.raises(IndexError):
        method_curve(sweep(np.arange(18)), "ser").at(7.0)

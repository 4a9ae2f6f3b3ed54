"""Average precision along gamma and along the number of training queries, from rows in any order."""

import numpy as np
import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

from qdrank.studies.hoi2008.tables import _along

GAMMAS, QUERIES = (0.0, 0.5, 2.0), ("q10", "q2", "q9")
ROWS = [
    {"method": method, "fold": f"f{query[1]}", "query_id": query, "x": gamma, "ap": i + 10 * j + 100 * k}
    for i, method in enumerate(("sser", "ser"))
    for j, query in enumerate(QUERIES)
    for k, gamma in enumerate(GAMMAS)
]


@given(st.permutations(ROWS))
@settings(max_examples=20)
def test_a_curve_does_not_depend_on_the_order_of_the_rows(rows):
    along = _along(pd.DataFrame(rows), "sser")
    assert along.columns.tolist() == list(GAMMAS)
    assert along.index.tolist() == [("q10", "f1"), ("q2", "f2"), ("q9", "f9")]
    np.testing.assert_array_equal(along, [[10 * j + 100 * k for k in range(3)] for j in range(3)])


def test_repeats_of_a_size_are_averaged():
    sizes = ((5, 0.1), (5, 0.3), (0, 0.9), (20, 0.4))
    rows = [{"method": "ser", "fold": "f", "query_id": "q", "x": float(size), "ap": ap} for size, ap in sizes]
    along = _along(pd.DataFrame(rows), "ser")
    assert along.columns.tolist() == [0, 5, 20]
    np.testing.assert_allclose(along, [[0.9, 0.2, 0.4]])

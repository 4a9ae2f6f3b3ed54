"""Values per query are joined on ids, whatever the order of the rows."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from qdrank.errors import InputError
from qdrank.studies.hybrid.values import by_query

IDS = np.array(["a", "b", "c"], dtype=object)


def test_values_follow_the_ids_and_are_nan_where_a_query_has_none():
    table = pa.table({"control": ["x", "x", "y", "x"], "query_id": ["c", "a", "b", "b"], "value": [3.0, 1.0, 9.0, 2.0]})
    joined = by_query(table, "control", IDS)
    np.testing.assert_array_equal(joined["x"], [1.0, 2.0, 3.0])
    np.testing.assert_array_equal(joined["y"], [np.nan, 9.0, np.nan])


def test_an_unknown_query_is_refused():
    table = pa.table({"control": ["x"], "query_id": ["z"], "value": [1.0]})
    with pytest.raises(InputError, match="the measured queries"):
        by_query(table, "control", IDS)

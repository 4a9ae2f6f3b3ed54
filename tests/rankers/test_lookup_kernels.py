"""What two neighbourhoods share, by both layouts, against sets."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from qdrank.rankers.lookup_kernels import add_rows, add_shared

MEMBERS = st.lists(st.integers(0, 7), max_size=8, unique=True)


@given(st.lists(MEMBERS, min_size=1, max_size=6), MEMBERS, st.lists(st.integers(1, 9), min_size=8, max_size=8))
def test_both_layouts_add_the_sizes_of_shared_queries(neighbourhoods, members, sizes):
    expected = [sum(sizes[j] for j in set(one) & set(members)) for one in neighbourhoods]
    owners = [[i for i, one in enumerate(neighbourhoods) if j in one] for j in range(8)]
    starts, size = np.cumsum([0, *map(len, owners)]), np.array(sizes)
    shared = np.zeros(len(neighbourhoods), dtype=np.int64)
    flat = np.array([i for one in owners for i in one], dtype=np.int32)
    add_shared(np.array(members, dtype=np.int64), size, starts, flat, shared)
    assert shared.tolist() == expected
    matrix = np.array([[sizes[j] * (j in one) for one in neighbourhoods] for j in range(8)], dtype=np.int32)
    again = np.zeros(len(neighbourhoods), dtype=np.int32)
    add_rows(np.array(members, dtype=np.int64), matrix, again)
    assert again.tolist() == expected

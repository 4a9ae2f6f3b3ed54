"""What two neighbourhoods share, by both layouts, against sets."""

from __future__ import annotations

import numpy as np
import pytest

from qdrank.rankers.lookup import Neighbourhoods


@pytest.mark.parametrize(("m", "k"), [(8, 3), (8, 8), (90, 4)])  # the last as inverted lists
def test_both_layouts_add_the_sizes_of_shared_queries(m, k):
    rng = np.random.default_rng(m + k)
    neighbours = np.argsort(rng.random((m, m)), axis=1)[:, :k].astype(np.int32)
    sizes, members = rng.integers(1, 9, m), rng.permutation(m)[:k]
    expected = [sum(sizes[j] for j in set(one) & set(members)) for one in neighbours]
    assert Neighbourhoods(neighbours, sizes, "shared_pairs").likeness(members).tolist() == expected

"""Average precision of many rankers at once: long lists, which are looked up and not compared pair by pair."""

from __future__ import annotations

import numpy as np
import pytest

from qdrank.measures.compute import average_precision
from qdrank.measures.matrix_kernels import _LONG, ap_matrix


@pytest.mark.parametrize("levels", [3, 40, 10**6])
def test_long_lists_have_the_average_precision_of_the_measure(levels):
    """With few levels most scores are tied; ties are broken by row order in both."""
    rng = np.random.default_rng(levels)
    offsets = np.array([0, _LONG + 100, 2 * _LONG + 300, 2 * _LONG + 320])
    scores = rng.integers(0, levels, (2, offsets[-1])).astype(float)
    y = (rng.random(offsets[-1]) < 0.1).astype(int)
    y[offsets[1] : offsets[2]] = 0
    expected = average_precision(y, scores.T, offsets).T
    np.testing.assert_allclose(ap_matrix(scores, y > 0, offsets), expected, rtol=0, atol=1e-14)
    assert (ap_matrix(scores, y > 0, offsets)[:, 1] == 0).all(), "nothing is relevant"

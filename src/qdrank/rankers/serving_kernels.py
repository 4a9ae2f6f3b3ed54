"""The overlap of one neighbourhood with all others, counted through inverted lists."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from qdrank.groups import IntArray


@njit(cache=True)
def add_shared(own: IntArray, size: IntArray, starts: IntArray, owners: NDArray[np.int32], shared: IntArray) -> None:
    """Add to ``shared[i]`` the sizes of the training queries that are both in ``own`` and in neighbourhood ``i``.

    The neighbourhoods that training query ``j`` is in are ``owners[starts[j]]`` to ``owners[starts[j + 1] - 1]``.
    """
    for j in own:
        for place in range(starts[j], starts[j + 1]):
            shared[owners[place]] += size[j]

"""The overlap of one neighbourhood with all others."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from qdrank.layout import IntArray


@njit(cache=True)
def add_shared(
    members: IntArray, size: IntArray, starts: IntArray, owners: NDArray[np.int32], shared: IntArray
) -> None:
    """Add to ``shared[i]`` the sizes of the training queries that are both in ``members`` and in neighbourhood ``i``.

    The neighbourhoods that training query ``j`` is in are ``owners[starts[j]]`` to ``owners[starts[j + 1] - 1]``.
    """
    for j in members:
        for place in range(starts[j], starts[j + 1]):
            shared[owners[place]] += size[j]


@njit(cache=True)
def add_rows(members: IntArray, sizes: NDArray[np.int32], shared: NDArray[np.int32]) -> None:
    """Do the same with a matrix: ``sizes[j, i]`` is the size of training query ``j`` if neighbourhood ``i`` has it.

    It adds four rows at a time, so that ``shared`` is read and written a quarter as often.
    """
    fours = len(members) - len(members) % 4
    for p in range(0, fours, 4):
        a, b, c, d = sizes[members[p]], sizes[members[p + 1]], sizes[members[p + 2]], sizes[members[p + 3]]
        for i in range(len(shared)):
            shared[i] += a[i] + b[i] + c[i] + d[i]
    for j in members[fours:]:
        for i in range(len(shared)):
            shared[i] += sizes[j, i]

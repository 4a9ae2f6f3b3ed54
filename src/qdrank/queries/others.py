"""What another query has: the control of everything that is said to depend on the query."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from qdrank.layout import IntArray

_Value = TypeVar("_Value", bound=np.generic)


def other_queries(n: int, seed: int) -> IntArray:
    """Another query for each of ``n`` queries, along a random cycle through all of them; shape (n,)."""
    circle = np.random.default_rng(seed).permutation(n)
    other = np.empty_like(circle)
    other[circle] = np.roll(circle, 1)
    return other


def other_rows(rows: NDArray[_Value], seed: int) -> NDArray[_Value]:
    """Give each query the row of another one; shape as given."""
    return rows[other_queries(len(rows), seed)]

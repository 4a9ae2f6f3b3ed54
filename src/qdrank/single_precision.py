"""Numbers of single precision as places in their order: the next number up or down is the next place."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

#: Place of the largest finite number.
LAST = 0x7F7FFFFF


def places(values: ArrayLike) -> NDArray[np.int64]:
    """Place of each number, counted from zero (0 and -0 are one place)."""
    bits = np.atleast_1d(np.asarray(values, dtype=np.float32)).view(np.int32).astype(np.int64)
    return np.where(bits >= 0, bits, -(bits & 0x7FFFFFFF))


def numbers(at: NDArray[np.int64]) -> NDArray[np.float32]:
    """Number at each place."""
    bits: NDArray[Any] = np.where(at >= 0, at, -at | 0x80000000)
    return bits.astype(np.uint32).view(np.float32)

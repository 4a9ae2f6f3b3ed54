"""Gains of grades and discounts of ranks: the two choices that make a DCG."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from qdrank.errors import InputError
from qdrank.layout import FloatArray

Gain = Callable[[int], FloatArray]
"""From the number of grades to the gain of each, shape (n_grades,)."""
Discount = Callable[[int], FloatArray]
"""From a length to the weight of ranks 1, 2, ..., shape (length,)."""

_ZHA = np.array([0.0, 0.5, 3.0, 7.0, 10.0])


def exponential(n_grades: int) -> FloatArray:
    """2^r - 1, as in Burges et al. 2005 and nearly everywhere since."""
    return np.exp2(np.arange(n_grades)) - 1


def linear(n_grades: int) -> FloatArray:
    """The grade itself, as trec_eval does."""
    return np.arange(n_grades, dtype=np.float64)


def relevant(n_grades: int) -> FloatArray:
    """1 for a grade of 1 or more."""
    return np.minimum(np.arange(n_grades, dtype=np.float64), 1.0)


def zha(n_grades: int) -> FloatArray:
    """10, 7, 3, 0.5, 0 for perfect, excellent, good, fair, bad (grades 4 to 0)."""
    if n_grades > len(_ZHA):
        raise InputError(
            "Zha's gains are defined for grades 0 to 4",
            found=f"grade {n_grades - 1}",
            fix="use the linear or exp convention",
        )
    return _ZHA[:n_grades]


def log2_next(length: int) -> FloatArray:
    """1 / log2(rank + 1), of Järvelin and Kekäläinen 2002 as nearly everybody uses it."""
    return 1 / np.log2(np.arange(2, length + 2))


def letor(length: int) -> FloatArray:
    """1 for the first two ranks, then 1 / log2(rank): the LETOR scripts and Geng et al. 2008, eq. 4."""
    return 1 / np.maximum(np.log2(np.arange(1, length + 1)), 1.0)


def undiscounted(length: int) -> FloatArray:
    """1 for every rank."""
    return np.ones(length)

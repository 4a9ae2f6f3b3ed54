"""The order in which settings are tried. It stands apart from the grids: a learner that is added there reruns nothing here."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

T = TypeVar("T")

_LARGER_FIRST = ("lam", "l2", "lam_h", "lam_alpha", "lam_beta", "interactions", "proximity", "min_leaf", "k", "t")
_SMALLER_FIRST = ("leaves", "learning_rate", "trees", "rounds", "thresholds", "scale", "C", "mix", "m", "gamma")


def most_regularised_first(name: str, values: Iterable[T]) -> list[T]:
    """Values of the parameter ``name`` from the most to the least regularised.

    Regularised means nearer to a simpler model: smaller weights, smaller and fewer trees, means over more queries or
    documents, one model for all queries. A parameter without such a direction keeps the given order of its values.
    """
    if name in _LARGER_FIRST or name in _SMALLER_FIRST:
        return sorted(values, reverse=name in _LARGER_FIRST)  # type: ignore[type-var]
    return list(values)

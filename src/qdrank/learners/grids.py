"""Settings to try on the validation part, unless the configuration names others, and the order in which they are tried.

Nothing of choosing is here: what trains models needs no measure.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

_TREES: dict[str, list[Any]] = {"leaves": [7, 15], "min_leaf": [100, 20], "learning_rate": [0.05]}
_NDCG: list[Any] = ["ndcg@5/letor4", "ndcg@10/letor4", "ndcg@10/geng"]

GRIDS: dict[str, dict[str, list[Any]]] = {
    "ranksvm": {"lam": [1.0, 1e-1, 1e-2, 1e-3, 1e-4]},
    "rankboost": {"thresholds": [10, 255]},
    "listnet": {"mapping": ["grade", "gain", "relevant"], "scale": [1.0, 3.0], "l2": [1e-1, 1e-2, 1e-3]},
    "adarank-map": {"objective": ["ap"]},
    "adarank-ndcg": {"objective": _NDCG},
    "mhr-bc": {"lam": [1.0, 1e-1, 1e-2, 1e-3]},
    "lambdamart": _TREES,
    "regression": {"l2": [100.0, 10.0, 1.0, 0.01]},
    "boosted-regression": _TREES,
    "ser": {"C": [0.1, 1.0, 10.0], "theta": [0.25, 0.5, 0.75], "delta": [1.0, 5.0]},
    "sser": {"gamma": [0.0, 0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 5.0]},
}
"""Values of each parameter by learner; parameters that are not named keep their default."""


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

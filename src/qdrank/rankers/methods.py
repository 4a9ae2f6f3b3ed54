"""The classic methods by their names in the configuration and in tables, and the settings that they try.

A method is a learner with some parameters fixed. Two names differ from the learner's: ``lambdamart-tuned``
is LambdaMART tuned like the other learners (a study may have its own ``lambdamart``, tuned by the study's measure),
and every aggregator has a variant ``-high`` that reads the rankings upside down. This module imports nothing heavy.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from qdrank.learners import AGGREGATORS, LEARNERS

_TREES: dict[str, list[Any]] = {"leaves": [7, 15], "min_leaf": [20], "learning_rate": [0.1]}
_NDCG: list[Any] = ["ndcg@5/letor4", "ndcg@10/letor4", "ndcg@10/geng"]

#: Settings to try on validation unless the configuration names others: values of each parameter, by learner.
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
    "sser": {"gamma": [0.0, 0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0]},
    "bordacount": {"best": ["low"]},
    "cps-kendall": {"l2": [1e-2, 1e-4]},
    "cps-footrule": {"l2": [1e-2, 1e-4]},
    "cps-spearman": {"l2": [1e-2, 1e-4]},
}


@dataclass(frozen=True)
class ClassicMethod:
    """A classic method."""

    learner: str
    """Name in `LEARNERS`; or the user's own, as `qdrank.learners.own` reads it."""
    label: str
    fixed: Mapping[str, Any] = field(default_factory=dict)
    query_vectors: bool = False
    """Whether the query's vector is appended to the features of each of its documents."""

    @property
    def aggregates(self) -> bool:
        """Whether it takes ranks instead of features."""
        return self.learner in AGGREGATORS

    @property
    def module(self) -> str:
        """Module that holds its code."""
        return LEARNERS.module(self.learner)

    def grid(self, given: Mapping[str, list[Any]] | None = None) -> dict[str, list[Any]]:
        """Values to try for each parameter: ``given`` or else the defaults, and the fixed ones."""
        fixed = {name: [value] for name, value in self.fixed.items()}
        return dict(GRIDS.get(self.learner, {}) if given is None else given) | fixed


_AGGREGATED = {
    "bordacount": "BordaCount",
    "cps-kendall": "CPS, Kendall tau",
    "cps-footrule": "CPS, Spearman footrule",
    "cps-spearman": "CPS, Spearman rank correlation",
}

CLASSIC: dict[str, ClassicMethod] = {
    "ranksvm": ClassicMethod("ranksvm", "RankSVM"),
    "rankboost": ClassicMethod("rankboost", "RankBoost"),
    "listnet": ClassicMethod("listnet", "ListNet"),
    "adarank-map": ClassicMethod("adarank-map", "AdaRank-MAP"),
    "adarank-ndcg": ClassicMethod("adarank-ndcg", "AdaRank-NDCG"),
    "mhr-bc": ClassicMethod("mhr-bc", "MHR-BC"),
    "regression": ClassicMethod("regression", "Regression, linear"),
    "boosted-regression": ClassicMethod("boosted-regression", "Regression, boosted trees"),
    "lambdamart-tuned": ClassicMethod("lambdamart", "LambdaMART"),
    "lambdamart-queries": ClassicMethod("lambdamart", "LambdaMART with query vector", query_vectors=True),
    **{name: ClassicMethod(name, label) for name, label in _AGGREGATED.items()},
    **{
        f"{name}-high": ClassicMethod(name, f"{label}, upside down", {"best": "high"})
        for name, label in _AGGREGATED.items()
    },
}

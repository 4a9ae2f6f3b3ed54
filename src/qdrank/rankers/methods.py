"""The classic methods by their names in the configuration and in tables; this module imports nothing heavy.

A method is a learner with some parameters fixed. Two names differ from the learner's: ``lambdamart-tuned``
is LambdaMART tuned like the other learners (a study may have its own ``lambdamart``, tuned by the study's measure),
and every aggregator has a variant ``-high`` that reads the rankings upside down.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from qdrank.learners import AGGREGATORS, LEARNERS
from qdrank.learners.grids import GRIDS


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

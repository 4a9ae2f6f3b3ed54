"""The classic methods by the names they have in the configuration and in tables; nothing heavy is imported.

A method is a learner or an aggregator with some parameters fixed. Two names differ from the learner's: ``lambdamart``
is taken by the study of Geng 2008, which chooses by its own measure, so LambdaMART tuned like the other learners is
``lambdamart-tuned``; and every aggregator has a twin ``-high`` that reads the rankings upside down.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from qdrank.aggregators import AGGREGATORS
from qdrank.learners import LEARNERS
from qdrank.learners.grids import GRIDS


@dataclass(frozen=True)
class Method:
    """What stands behind a method's name."""

    learner: str
    """Name in `LEARNERS`, or in `AGGREGATORS`."""
    label: str
    fixed: Mapping[str, Any] = field(default_factory=dict)
    query_vectors: bool = False
    """Whether the query's vector is appended to the features of each of its documents."""

    @property
    def aggregates(self) -> bool:
        """Whether it takes ranks where learners take features."""
        return self.learner in AGGREGATORS

    @property
    def module(self) -> str:
        """Module that holds its code."""
        return (AGGREGATORS if self.aggregates else LEARNERS).module(self.learner)

    def grid(self, own: Mapping[str, list[Any]] | None = None) -> dict[str, list[Any]]:
        """Values to try for each parameter: ``own`` in place of the usual ones, and what is fixed."""
        fixed = {name: [value] for name, value in self.fixed.items()}
        return dict(GRIDS[self.learner] if own is None else own) | fixed


_AGGREGATORS = {
    "bordacount": "BordaCount",
    "cps-kendall": "CPS, Kendall tau",
    "cps-footrule": "CPS, Spearman footrule",
    "cps-spearman": "CPS, Spearman rank correlation",
}

METHODS: dict[str, Method] = {
    "ranksvm": Method("ranksvm", "RankSVM"),
    "rankboost": Method("rankboost", "RankBoost"),
    "listnet": Method("listnet", "ListNet"),
    "adarank-map": Method("adarank-map", "AdaRank-MAP"),
    "adarank-ndcg": Method("adarank-ndcg", "AdaRank-NDCG"),
    "mhr-bc": Method("mhr-bc", "MHR-BC"),
    "regression": Method("regression", "Regression, linear"),
    "boosted-regression": Method("boosted-regression", "Regression, boosted trees"),
    "lambdamart-tuned": Method("lambdamart", "LambdaMART"),
    "lambdamart-queries": Method("lambdamart", "LambdaMART with query vector", query_vectors=True),
    **{name: Method(name, label) for name, label in _AGGREGATORS.items()},
    **{f"{name}-high": Method(name, f"{label}, upside down", {"best": "high"}) for name, label in _AGGREGATORS.items()},
}

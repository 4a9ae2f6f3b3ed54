"""Section ``geng`` of the configuration."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from qdrank.sections import PositiveFloat, PositiveInt, StudySection, key

TreeGrid = dict[Literal["leaves", "min_leaf", "learning_rate"], list[PositiveInt | PositiveFloat]]
_TREES: TreeGrid = {"leaves": [7, 15], "min_leaf": [20], "learning_rate": [0.1]}


class Geng(StudySection):
    """The study of Geng 2008: ranking with the k nearest training queries."""

    CONSTANT: ClassVar = {
        "penalty": "half the squared norm of the weights; all of it is the same as twice the lambda",
        "offline1": "shared_pairs (eq. 1)",
        "classes": "3 where the data know no types",
    }

    ks: list[PositiveFloat] = key(
        [0.02, 0.05, 0.1, 0.15, 0.2, 0.27, 0.4, 0.53, 0.75, 1],
        "Numbers of neighbours for the curves; up to 1 a share of the training queries. The paper's 400 is 0.27, its "
        "flat range 0.2 to 0.53.",
        min_length=1,
    )
    lam: PositiveFloat = key(0.01, "Lambda of the curves, the paper's.")
    choose: Literal["validation", "fixed"] = key(
        "validation", "k and lambda of each method: the best on validation in each fold, or the fixed ones."
    )
    k: PositiveFloat = key(0.27, "The fixed number of neighbours; written as in ks.")
    candidates: list[PositiveFloat] = key(
        [0.05, 0.1, 0.27, 0.53], "Numbers of neighbours to choose from.", min_length=1
    )
    lambdas: list[PositiveFloat] = key([0.1, 0.01, 0.001], "Lambdas to choose from, for local models.", min_length=1)
    trees: TreeGrid | None = key(
        _TREES,
        "LambdaMART: values to choose from. null leaves it out, which saves most of the time on large sets.",
    )
    controls: list[Literal["equal", "random"]] = key(
        ["equal", "random"],
        "Further local models: every query weighted equally; random training queries for neighbours.",
    )
    bound_queries: Annotated[int, Field(ge=0)] = key(
        8, "Test queries of each fold on which the stability bound is checked, with at most 1,000 neighbours."
    )
    bound_pairs: PositiveInt = key(50, "Document pairs of each of them.")
    variant_queries: PositiveInt = key(400, "Test queries of each fold on which variants of KNN Online are compared.")
    clusters: list[PositiveFloat] = key(
        [0.01, 0.03, 0.1, 0.3],
        "Sizes of clusterings of the training queries, as in ks: fewer offline models, cost against quality.",
    )

    def trained(self) -> dict[str, Any]:
        """The keys that decide which models are trained."""
        return self.model_dump(include={"ks", "lam", "choose", "k", "candidates", "lambdas", "controls"})

"""Section ``hybrid`` of the configuration."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import Field

from qdrank.sections import PositiveFloat, PositiveInt, StudySection


class Hybrid(StudySection):
    """The study of whether the weights of fused runs should depend on the query; it runs on data made of runs."""

    CONSTANT: ClassVar = {
        "lambdamart_leaves": "8",
        "lambdamart_depth": "20: LambdaMART learns from the documents that a run has among so many of its first",
        "local": "0.2: neighbours of the local Ranking SVM, as a share",
    }

    norms: list[Literal["min-max", "z-score", "rank"]] = Field(
        default=["min-max", "z-score", "rank"],
        min_length=1,
        description="Ways to make scores comparable; validation chooses one, with the fixed weights tuned in each.",
    )
    ks: list[PositiveFloat] = Field(
        default=[0.5, 0.2, 0.1, 50, 20],
        min_length=1,
        description="Nearest judged queries whose curves are averaged; up to 1 a share of the training queries.",
    )
    lambdas: list[PositiveFloat] = Field(
        default=[10, 1, 0.1, 0.01, 0.001, 0.0001, 0.00001],
        min_length=1,
        description="Penalties of the ridge regression from predictors to curves.",
    )
    leaves: list[PositiveInt] = Field(
        default=[4, 15], min_length=1, description="Leaves of the trees from predictors to curves."
    )
    rounds: PositiveInt = Field(default=50, description="Trees from predictors to curves.")
    lambdamart_rounds: PositiveInt = Field(default=100, description="Most trees of LambdaMART.")
    powers: list[PositiveFloat] = Field(
        default=[0.25, 0.5, 1, 2, 4], min_length=1, description="Powers of the margin in the margin rule."
    )
    linear_lambdas: list[PositiveFloat] = Field(
        default=[0.1, 0.001],
        min_length=1,
        description="Lambdas of the Ranking SVMs, and penalties of the papers' methods.",
    )
    clusters: PositiveInt = Field(default=5, description="Clusters of SelectRanker and Transform.")
    papers: bool = Field(default=True, description="Whether the papers' methods are run.")
    semi_supervised: bool = Field(
        default=False,
        description="Whether SSER is among them: it solves a program for each query, which takes minutes for some hundreds.",
    )
    draws: PositiveInt = Field(default=5, description="Draws of noise, and of the learning curve.")
    sizes: list[PositiveInt] = Field(
        default=[25, 50, 100, 200, 400, 800, 1600], description="Judged queries of the learning curve; all come last."
    )

    def solved(self) -> dict[str, Any]:
        """The keys that decide what is computed."""
        return self.model_dump(exclude={"datasets"})

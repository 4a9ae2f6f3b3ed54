"""Section ``hybrid`` of the configuration."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from qdrank.sections import PositiveFloat, PositiveInt, StudySection, key


class Hybrid(StudySection):
    """The study of whether the weights of fused runs should depend on the query; it runs on data made of runs."""

    CONSTANT: ClassVar = {
        "lambdamart_leaves": "8",
        "lambdamart_depth": "20: LambdaMART learns from the documents that a run has among so many of its first",
        "local": "0.2: neighbours of the local Ranking SVM, as a share",
    }

    norms: list[Literal["min-max", "z-score", "rank"]] = key(
        ["min-max", "z-score", "rank"],
        "Ways to make scores comparable; validation chooses one, with the fixed weights tuned in each.",
        min_length=1,
    )
    ks: list[PositiveFloat] = key(
        [0.5, 0.2, 0.1, 50, 20],
        "Nearest judged queries whose curves are averaged; up to 1 a share of the training queries.",
        min_length=1,
    )
    lambdas: list[PositiveFloat] = key(
        [10, 1, 0.1, 0.01, 0.001, 0.0001, 0.00001],
        "Penalties of the ridge regression from predictors to curves.",
        min_length=1,
    )
    leaves: list[PositiveInt] = key([4, 15], "Leaves of the trees from predictors to curves.", min_length=1)
    rounds: PositiveInt = key(50, "Trees from predictors to curves.")
    lambdamart_rounds: PositiveInt = key(100, "Most trees of LambdaMART.")
    powers: list[PositiveFloat] = key([0.25, 0.5, 1, 2, 4], "Powers of the margin in the margin rule.", min_length=1)
    linear_lambdas: list[PositiveFloat] = key(
        [0.1, 0.001], "Lambdas of the Ranking SVMs, and penalties of the papers' methods.", min_length=1
    )
    clusters: PositiveInt = key(5, "Clusters of SelectRanker and Transform.")
    papers: bool = key(True, "Whether the papers' methods are run.")
    semi_supervised: bool = key(
        False, "Whether SSER is among them: it solves a program for each query, which takes minutes for some hundreds."
    )
    draws: PositiveInt = key(5, "Draws of noise, and of the learning curve.")
    sizes: list[PositiveInt] = key(
        [25, 50, 100, 200, 400, 800, 1600], "Judged queries of the learning curve; all come last."
    )

    def solved(self) -> dict[str, Any]:
        """The keys that decide what is computed."""
        return self.model_dump(exclude={"datasets"})

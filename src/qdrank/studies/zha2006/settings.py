"""Section ``zha`` of the configuration."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from qdrank.sections import PositiveFloat, PositiveInt, StudySection, key

_Numbers = Literal["auto", "grades", "exp", "zha"]


class Zha(StudySection):
    """The study of Zha 2006: regression with a map of the targets for every query (aTVT)."""

    regressors: list[Literal["ridge", "trees", "kernel"]] = key(
        ["ridge", "trees"],
        "What stands for h: ridge regression, and boosted trees, the paper's; kernel, of its theorems, only beside "
        "these.",
        min_length=1,
    )
    targets: _Numbers = key(
        "auto",
        "Targets of the regression: the grades, 2^g - 1 (exp), or 0, 0.5, 3, 7, 10 (zha); auto: zha for five grades, "
        "else exp.",
    )
    gains: _Numbers = key("auto", "Gains of the DCG, written as in targets.")
    depth: PositiveInt = key(5, "Ranks that the DCG counts; the paper has 5.")
    penalties: Literal["scaled", "raw"] = key(
        "scaled", "lam_alpha and lam_beta normalised by the variance of the targets, or as the paper has them."
    )
    weighted: bool = key(
        True, "Whether h is fitted with weights alpha^2, or without weights to targets transformed again and again."
    )
    tol: PositiveFloat = key(
        1e-8,
        "When the rounds of ridge end: 1e-8 is tight, 1e-3 is the usual rule. Maps of different rules are not "
        "comparable.",
    )
    rounds: PositiveInt = key(1, "Rounds K with boosted trees, for which no tolerance is met.")
    lam_alpha: list[PositiveFloat] = key(
        [1, 10, 100], "Penalties on alpha - 1: the grid of tables 2 to 4, and the choice.", min_length=1
    )
    lam_beta: list[PositiveFloat] = key([0.1, 1, 10], "Penalties on beta, likewise.", min_length=1)
    paper_alpha: PositiveFloat = key(10, "lam_alpha of tables 5 to 7, the paper's.")
    paper_beta: PositiveFloat = key(1, "lam_beta of tables 5 to 7, the paper's.")
    weak: PositiveFloat = key(
        0.001, "Both penalties where the paper lets them go to 0; at 0 itself the scale of h is free."
    )
    lam_h: list[PositiveFloat] = key([0.1, 1, 10, 100, 1000, 10000], "Penalties of ridge to choose from.", min_length=1)
    trees: PositiveInt = key(
        100, "Most trees; how many of them rank is chosen on validation, for plain regression, aTVT and LambdaMART."
    )
    learning_rates: list[PositiveFloat] = key(
        [0.05, 0.2],
        "Shrinkages of the trees to choose from; plain trees and LambdaMART also try some between, aTVT the one that "
        "plain trees chose.",
        min_length=1,
    )
    leaves: list[Annotated[int, Field(ge=2)]] = key(
        [7, 15], "Leaves of a tree to choose from, also for LambdaMART.", min_length=1
    )
    min_leaf: list[PositiveInt] = key(
        [20, 100], "Fewest documents in a leaf to choose from, also for LambdaMART.", min_length=1
    )
    jitter: PositiveFloat = key(
        0.01,
        "Noise of the targets of further fits of the trees (refits), as a share of the targets' standard deviation.",
    )

    @model_validator(mode="after")
    def _kernel_is_beside_others(self) -> Zha:
        if self.regressors == ["kernel"]:
            raise ValueError("kernel is shown beside ridge or trees: name one of them, too")
        return self

    @model_validator(mode="after")
    def _grid_holds_the_papers_cell(self) -> Zha:
        if self.paper_alpha not in self.lam_alpha or self.paper_beta not in self.lam_beta:
            raise ValueError("paper_alpha and paper_beta must be among lam_alpha and lam_beta")
        return self

    def computed(self) -> dict[str, Any]:
        """The keys that decide what is computed for a regressor."""
        return self.model_dump(exclude={"datasets", "regressors"})

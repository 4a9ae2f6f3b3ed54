"""Section ``beyond`` of the configuration."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from qdrank.sections import Fraction, PositiveFloat, PositiveInt, StudySection

_Similarity = Annotated[float, Field(gt=0, le=1)]

_RETRIEVAL = {"copies", "dimensions", "weights", "chosen_on"}


class Beyond(StudySection):
    """The study of when query-dependent ranking helps; every ranker has as many settings to choose from as there are ``lambdas``."""

    lambdas: list[PositiveFloat] = Field(
        default=[0.1, 0.006, 0.0004, 0.00002],
        min_length=1,
        description="Lambdas of Single, of Single with evidence and of the fixed mixture.",
    )
    leaves: list[PositiveInt] = Field(default=[7, 31], min_length=1, description="LambdaMART: leaves of a tree.")
    min_leaf: list[PositiveInt] = Field(
        default=[20, 100], min_length=1, description="LambdaMART: fewest documents in a leaf."
    )
    learning_rate: PositiveFloat = Field(default=0.1, description="LambdaMART: shrinkage.")
    ks: list[PositiveFloat] = Field(
        default=[0.1, 0.3],
        min_length=1,
        description="Local models: neighbours; up to 1 a share of the training queries.",
    )
    local_lambdas: list[PositiveFloat] = Field(
        default=[0.1, 0.01], min_length=1, description="Lambdas of nearest queries, bilinear weights and the gate."
    )
    proximities: list[Fraction] = Field(
        default=[0.5, 0.9], min_length=1, description="Shares of the penalty that pull a local model to Single."
    )
    mixes: list[Fraction] = Field(
        default=[0.25, 0.5],
        min_length=1,
        description="Weights of the local model against Single's, with kernel weights.",
    )
    interactions: list[PositiveFloat] = Field(
        default=[10, 100], min_length=1, description="Penalties on interactions of features and query vector."
    )
    components: PositiveInt = Field(default=5, description="Components of the query vectors for these.")
    similarity: Literal["candidates", "vectors", "words"] = Field(
        default="candidates", description="What makes queries similar: their candidate lists, vectors or words."
    )
    gammas: list[PositiveFloat] = Field(
        default=[1, 2, 4], min_length=1, description="Powers of the similarity, one column of evidence for each."
    )
    near: list[_Similarity] = Field(
        default=[0.9, 0.7, 0.5], description="Similarities from which on a query is left out as a near-duplicate."
    )
    parts: Annotated[int, Field(ge=2)] = Field(
        default=3, description="Parts of the training queries for scores out of fold, from which mixtures learn."
    )
    copies: list[PositiveInt] = Field(
        default=[1, 2, 4],
        min_length=1,
        description="Retrieval from raw text: how often the words of a past query are appended to a document.",
    )
    dimensions: PositiveInt = Field(default=100, description="Retrieval: dimensions of latent semantic analysis.")
    weights: list[Annotated[float, Field(ge=0)]] = Field(
        default=[0, 0.25, 0.5, 1],
        min_length=1,
        description="Retrieval: weights of a part of a mix, whose best part has weight 1.",
    )
    chosen_on: PositiveInt = Field(
        default=300,
        description="Retrieval: past queries that are asked again, each without itself, to choose settings.",
    )

    @model_validator(mode="after")
    def _same_budget(self) -> Beyond:
        wanted = len(self.lambdas)
        budgets = {
            "leaves x min_leaf": len(self.leaves) * len(self.min_leaf),
            "ks x local_lambdas": len(self.ks) * len(self.local_lambdas),
            "ks x proximities": len(self.ks) * len(self.proximities),
            "ks x mixes": len(self.ks) * len(self.mixes),
            "local_lambdas x interactions": len(self.local_lambdas) * len(self.interactions),
        }
        for name, size in budgets.items():
            if size != wanted:
                raise ValueError(
                    f"every ranker must have as many settings as there are lambdas, {wanted}, but {name} makes {size}"
                )
        return self

    def solved(self) -> dict[str, Any]:
        """The keys that decide the rankers."""
        return self.model_dump(exclude={"datasets", *_RETRIEVAL})

    def retrieval(self) -> dict[str, Any]:
        """The keys that only retrieval from raw text uses."""
        return self.model_dump(include=_RETRIEVAL)

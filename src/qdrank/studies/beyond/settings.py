"""Section ``beyond`` of the configuration."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from qdrank.sections import Fraction, PositiveFloat, PositiveInt, StudySection, key

_Similarity = Annotated[float, Field(gt=0, le=1)]

_RETRIEVAL = {"copies", "dimensions", "weights", "chosen_on"}


class Beyond(StudySection):
    """The study of when query-dependent ranking helps; every ranker has as many settings to choose from as there are ``lambdas``."""

    lambdas: list[PositiveFloat] = key(
        [0.1, 0.006, 0.0004, 0.00002],
        "Lambdas of Single, of Single with evidence and of the fixed mixture.",
        min_length=1,
    )
    leaves: list[PositiveInt] = key([7, 31], "LambdaMART: leaves of a tree.", min_length=1)
    min_leaf: list[PositiveInt] = key([20, 100], "LambdaMART: fewest documents in a leaf.", min_length=1)
    learning_rate: PositiveFloat = key(0.1, "LambdaMART: shrinkage.")
    ks: list[PositiveFloat] = key(
        [0.1, 0.3], "Local models: neighbours; up to 1 a share of the training queries.", min_length=1
    )
    local_lambdas: list[PositiveFloat] = key(
        [0.1, 0.01], "Lambdas of nearest queries, bilinear weights and the gate.", min_length=1
    )
    proximities: list[Fraction] = key(
        [0.5, 0.9], "Shares of the penalty that pull a local model to Single.", min_length=1
    )
    mixes: list[Fraction] = key(
        [0.25, 0.5], "Weights of the local model against Single's, with kernel weights.", min_length=1
    )
    interactions: list[PositiveFloat] = key(
        [10, 100], "Penalties on interactions of features and query vector.", min_length=1
    )
    components: PositiveInt = key(5, "Components of the query vectors for these.")
    similarity: Literal["candidates", "vectors", "words"] = key(
        "candidates", "What makes queries similar: their candidate lists, vectors or words."
    )
    gammas: list[PositiveFloat] = key(
        [1, 2, 4], "Powers of the similarity, one column of evidence for each.", min_length=1
    )
    near: list[_Similarity] = key(
        [0.9, 0.7, 0.5], "Similarities from which on a query is left out as a near-duplicate."
    )
    parts: Annotated[int, Field(ge=2)] = key(
        3, "Parts of the training queries for scores out of fold, from which mixtures learn."
    )
    copies: list[PositiveInt] = key(
        [1, 2, 4],
        "Retrieval from raw text: how often the words of a past query are appended to a document.",
        min_length=1,
    )
    dimensions: PositiveInt = key(100, "Retrieval: dimensions of latent semantic analysis.")
    weights: list[Annotated[float, Field(ge=0)]] = key(
        [0, 0.25, 0.5, 1], "Retrieval: weights of a part of a mix, whose best part has weight 1.", min_length=1
    )
    chosen_on: PositiveInt = key(
        300, "Retrieval: past queries that are asked again, each without itself, to choose settings."
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

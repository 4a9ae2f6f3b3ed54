"""Section ``lin`` of the configuration."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator, Field, WithJsonSchema, model_validator

from qdrank.rankers.methods import CLASSIC
from qdrank.sections import PositiveFloat, PositiveInt, StudySection, known
from qdrank.studies.lin2011.readings import (
    Confidence,
    ConfidenceFrom,
    Distribution,
    Divergence,
    Membership,
    Representation,
    ScoreScale,
    TrainingSet,
    Transformation,
    Weighting,
)

ClassicName = Annotated[
    str, AfterValidator(known("method", CLASSIC)), WithJsonSchema({"type": "string", "enum": list(CLASSIC)})
]


class Lin(StudySection):
    """The study of Lin 2011: local models of clusters, one chosen or several aggregated. Keys from training_set on are inferred."""

    CONSTANT: ClassVar = {"variants": "0: a reading is a run with another value of a key from training_set on"}

    ms: list[PositiveInt] = Field(
        default=[2, 5, 10, 20, 50, 100],
        min_length=1,
        description="Numbers of clusters: the curve of Figure 2, which reaches 100 in the paper.",
    )
    ts: list[PositiveInt] = Field(
        default=[1, 5, 20], min_length=1, description="Naive: numbers of top documents to choose from."
    )
    ks: list[PositiveInt] = Field(
        default=[1, 5, 20], min_length=1, description="SelectRanker: numbers of similar queries to choose from."
    )
    lambdas: list[PositiveFloat] = Field(
        default=[0.1, 0.01, 0.001], min_length=1, description="Lambdas to choose from, for local models."
    )
    ranked: PositiveInt = Field(
        default=100, description="Number of clusters of Figure 3; the largest of ms if it is not among them."
    )
    random: bool = Field(default=True, description="Whether random clusters of the same sizes are run as a control.")
    baselines: list[ClassicName] = Field(
        default=["adarank-map", "listnet", "rankboost", "lambdamart-tuned"]
        + [name for name, method in CLASSIC.items() if method.aggregates],
        description="Classic methods in the tables, where learners.methods has them.",
    )
    training_set: TrainingSet = Field(
        default="relevant",
        description="What a cluster of relevant documents learns from: these with all non-relevant documents of their "
        "queries, or their queries whole.",
    )
    representation: Representation = Field(
        default="mean", description="Naive: the mean of the top documents has a nearest cluster, or each of them votes."
    )
    distribution: Distribution = Field(
        default="minmax", description="How scores become a distribution over a query's documents, for eq. 2."
    )
    divergence: Divergence = Field(
        default="local-base", description="Eq. 2: KL(local || base), KL(base || local), or Jensen-Shannon."
    )
    membership: Membership = Field(
        default="most",
        description="SelectRanker: a training query belongs to the cluster with most of its relevant documents, or to every "
        "one with any.",
    )
    confidence: Confidence = Field(
        default="sum", description="SelectRanker: sum or mean of the average precisions of the similar queries."
    )
    confidence_from: ConfidenceFrom = Field(
        default="training",
        description="SelectRanker: these precisions are of models that learned from the query, or from the other half of "
        "the training queries.",
    )
    transformation: Transformation = Field(
        default="divergence",
        description="Transform: divergences of two global models from each other (T-a), from uniform (T-b), or mean scores "
        "at the top (T-c).",
    )
    top: PositiveInt = Field(default=10, description="Documents at the top for T-c.")
    weighting: Weighting = Field(
        default="inverse", description="Transform: how weights fall with the distance from a cluster."
    )
    score_scale: ScoreScale = Field(
        default="minmax", description="Scores of local models before eq. 1: scaled within each query, or raw."
    )

    @model_validator(mode="after")
    def _different(self) -> Lin:
        for name in ("ms", "ts", "ks", "lambdas"):
            values = getattr(self, name)
            if len(set(values)) < len(values):
                raise ValueError(f"{name}: a value stands there twice")
        return self

    def readings(self) -> dict[str, Any]:
        """The inferred choices: all keys from ``training_set`` on."""
        keys = list(type(self).model_fields)
        return self.model_dump(include=set(keys[keys.index("training_set") :]))

    def grid(self) -> dict[str, Any]:
        """The settings that validation chooses from."""
        return self.model_dump(include={"ms", "lambdas", "ts", "ks"})

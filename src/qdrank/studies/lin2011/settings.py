"""Section ``lin`` of the configuration."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, WithJsonSchema, model_validator

from qdrank.rankers.methods import CLASSIC
from qdrank.sections import PositiveFloat, PositiveInt, StudySection, key, known

# Possible readings of the lost parts of the paper: values of each inferred choice.
TrainingSet = Literal["relevant", "queries"]
Representation = Literal["mean", "vote"]
Distribution = Literal["minmax", "softmax"]
Divergence = Literal["local-base", "base-local", "js"]
Membership = Literal["most", "every"]
Confidence = Literal["sum", "mean"]
ConfidenceFrom = Literal["training", "inner"]
Transformation = Literal["divergence", "peakedness", "top-scores"]
Weighting = Literal["inverse", "gaussian"]
ScoreScale = Literal["minmax", "zscore", "raw"]

ClassicName = Annotated[
    str, AfterValidator(known("method", CLASSIC)), WithJsonSchema({"type": "string", "enum": list(CLASSIC)})
]


class Lin(StudySection):
    """The study of Lin 2011: local models of clusters, one chosen or several aggregated. Keys from training_set on are inferred."""

    CONSTANT: ClassVar = {"variants": "0: a reading is a run with another value of a key from training_set on"}

    ms: list[PositiveInt] = key(
        [2, 5, 10, 20, 50, 100],
        "Numbers of clusters: the curve of Figure 2, which reaches 100 in the paper.",
        min_length=1,
    )
    ts: list[PositiveInt] = key([1, 5, 20], "Naive: numbers of top documents to choose from.", min_length=1)
    ks: list[PositiveInt] = key([1, 5, 20], "SelectRanker: numbers of similar queries to choose from.", min_length=1)
    lambdas: list[PositiveFloat] = key([0.1, 0.01, 0.001], "Lambdas to choose from, for local models.", min_length=1)
    ranked: PositiveInt = key(100, "Number of clusters of Figure 3; the largest of ms if it is not among them.")
    random: bool = key(True, "Whether random clusters of the same sizes are run as a control.")
    baselines: list[ClassicName] = key(
        ["adarank-map", "listnet", "rankboost", "lambdamart-tuned"]
        + [name for name, method in CLASSIC.items() if method.aggregates],
        "Classic methods in the tables, where learners.methods has them.",
    )
    training_set: TrainingSet = key(
        "relevant",
        "What a cluster of relevant documents learns from: these with all non-relevant documents of their queries, or "
        "their queries whole.",
    )
    representation: Representation = key(
        "mean", "Naive: the mean of the top documents has a nearest cluster, or each of them votes."
    )
    distribution: Distribution = key("minmax", "How scores become a distribution over a query's documents, for eq. 2.")
    divergence: Divergence = key("local-base", "Eq. 2: KL(local || base), KL(base || local), or Jensen-Shannon.")
    membership: Membership = key(
        "most",
        "SelectRanker: a training query belongs to the cluster with most of its relevant documents, or to every one "
        "with any.",
    )
    confidence: Confidence = key("sum", "SelectRanker: sum or mean of the average precisions of the similar queries.")
    confidence_from: ConfidenceFrom = key(
        "training",
        "SelectRanker: these precisions are of models that learned from the query, or from the other half of the "
        "training queries.",
    )
    transformation: Transformation = key(
        "divergence",
        "Transform: divergences of two global models from each other (T-a), from uniform (T-b), or mean scores at the "
        "top (T-c).",
    )
    top: PositiveInt = key(10, "Documents at the top for T-c.")
    weighting: Weighting = key("inverse", "Transform: how weights fall with the distance from a cluster.")
    score_scale: ScoreScale = key("minmax", "Scores of local models before eq. 1: scaled within each query, or raw.")

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

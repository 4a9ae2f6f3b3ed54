"""Section ``hoi`` of the configuration."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, Field

from qdrank.rankers.methods import CLASSIC
from qdrank.sections import Fraction, PositiveFloat, PositiveInt, Scale, StudySection, key, known
from qdrank.studies.hoi2008.methods import BASELINES

Gamma = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Baseline = Annotated[str, AfterValidator(known("baseline", [method.name for method in BASELINES]))]
_Ranker = Annotated[
    str, AfterValidator(known("method", [n for n, m in CLASSIC.items() if not (m.aggregates or m.query_vectors)]))
]


class Hoi(StudySection):
    """The study of Hoi and Jin 2008: supervised (SER) and semi-supervised (SSER) ensemble ranking."""

    CONSTANT: ClassVar = {
        "C": "1, as in the paper",
        "theta": "0.5 (eq. 5)",
        "delta": "1",
        "gamma": "0.5, which the paper says works well",
    }

    gammas: list[Gamma] = key(
        [0, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 20, 50],
        "Weights of the query's own documents, among which validation decides; also those of Figure 3.",
        min_length=1,
    )
    tried_C: list[PositiveFloat] = Field(  # noqa: N815
        default=[0.1, 1, 10], min_length=1, description="Values of C for the tuned variants, which the paper lacks."
    )
    tried_theta: list[Fraction] = key([0.25, 0.5, 0.75], "Likewise, of theta.", min_length=1)
    tried_delta: list[PositiveFloat] = key([1, 5], "Likewise, of delta.", min_length=1)
    similarity: Literal["trace", "bregman", "induced"] = key(
        "trace", "How a ranking is compared with the grades: eq. 6, or eq. 7 with one of two distances."
    )
    normalise: bool = key(False, "Whether each query's coefficients are divided by the weight of its preferences.")
    neighbours: PositiveInt = key(5, "Nearest documents that a document is joined to.")
    edges: Literal["binary", "heat"] = key("binary", "Weights of the edges.")
    symmetry: Literal["either", "both", "mean"] = key(
        "either", "An edge where either document is near the other, where both are, or the mean."
    )
    neighbour_ties: Literal["all", "file"] = key(
        "all",
        "Of documents as near as the last neighbour: all, or the first in the file. all does not depend on the order.",
    )
    laplacian: Literal["normalised", "unnormalised"] = key(
        "normalised", "Eq. 10, as in the paper's experiments, or eq. 8 to the letter."
    )
    scale: Scale = key("minmax", "Scale of the rankers' scores: the weighted sum needs one for all, per query.")
    baselines: list[Baseline] = key(
        ["ranksvm", "listnet", "adarank-map"],
        "Learners of Figures 1 and 2 that are run; the paper also has rankboost and mhr-bc, which take longest.",
    )
    methods: list[_Ranker] = Field(
        default_factory=list,
        description="Learners whose scores make a further ensemble, learned on validation queries.",
    )
    sizes: list[PositiveInt] = key([5, 10, 20, 40], "Training queries of the learning curve; all of them come last.")
    repeats: PositiveInt = key(5, "Random subsets of training queries of each size.")

    def solved(self) -> dict[str, Any]:
        """The keys that decide the weights."""
        left_out = {"datasets", "scale", "baselines", "methods", "sizes", "repeats"}
        return self.model_dump(exclude=left_out)

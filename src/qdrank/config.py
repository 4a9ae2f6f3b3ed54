"""The typed configuration: the one source of keys, types, defaults and their explanations.

``config/config.yaml``, the JSON schema in ``workflow/schemas`` and the reference table in ``docs`` are generated
from these models (``qdrank config generate``); a test fails when they drift. Unknown keys are errors.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, field_validator, model_validator

DatasetName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9._-]*$", max_length=64)]
PositiveInt = Annotated[int, Field(ge=1)]
Fraction = Annotated[float, Field(gt=0, lt=1)]


class Section(BaseModel):
    """Base of every part of the configuration: unknown keys forbidden, values never changed after the check."""

    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=True)


class FeatureFiles(Section):
    """Own data as LETOR text."""

    kind: Literal["letor"] = Field(description="LETOR text: label qid:N 1:v 2:v ... #docid = X")
    files: dict[str, str] = Field(
        description="Part to file. Parts S1..S5 rotate as in LETOR; train, vali, test are one fixed split; a single part "
        "called all is cut into five by query, seeded. mirror:PATH is a file in the mirror.",
        min_length=1,
    )
    reference: PositiveInt = Field(description="Number of the feature that ranks like BM25 (1 is the first).")
    max_label: PositiveInt = Field(default=4, le=100, description="Highest grade; a higher label is an error.")
    missing_values: bool = Field(default=False, description="Whether NULL may stand for a missing value.")
    title: str = Field(default="", description="How the data set is called in tables and in the report.")
    note: str = Field(default="", description="A sentence for the report, such as what the data may be compared with.")

    @field_validator("files")
    @classmethod
    def _known_parts(cls, files: dict[str, str]) -> dict[str, str]:
        allowed = ({"S1", "S2", "S3", "S4", "S5"}, {"train", "vali", "test"}, {"all"})
        if set(files) not in allowed:
            raise ValueError("parts must be S1 to S5, or train, vali and test, or all alone")
        return files


class TextCollection(Section):
    """Own data as a text collection in BEIR form."""

    kind: Literal["beir"] = Field(description="corpus.jsonl, queries.jsonl and qrels/*.tsv in one folder.")
    folder: str = Field(description="The folder that holds them.")
    title: str = Field(default="", description="How the data set is called in tables and in the report.")
    note: str = Field(default="", description="A sentence for the report.")


class SimulatedVariant(Section):
    """A simulated data set with some settings changed, for further seeds and negative controls."""

    kind: Literal["simulated"] = Field(description="A variant of a simulated data set.")
    like: Literal["sim1", "sim2", "simweb"] = Field(description="The data set that it varies.")
    settings: dict[str, int | float | bool | str] = Field(
        default_factory=dict, description="Settings of the generator that differ, such as seed: 2 or locality: 0."
    )
    title: str = Field(default="", description="How the data set is called in tables and in the report.")
    note: str = Field(default="", description="A sentence for the report.")


OwnDataset = Annotated[FeatureFiles | TextCollection | SimulatedVariant, Field(discriminator="kind")]


class QueryVectors(Section):
    """How a query becomes a point (Geng 2008, 3.2.1)."""

    top: PositiveInt = Field(
        default=50, description="T: how many documents, by the reference feature, describe a query."
    )
    pooling: Literal["mean", "mean+std", "mean+std+max"] = Field(
        default="mean", description="What is taken of each feature over these documents."
    )
    view: Literal["given", "minmax"] = Field(
        default="given", description="Features as they are in the data, or scaled to [0, 1] within each query."
    )
    query_columns: bool = Field(
        default=False,
        description="Whether columns of the query itself (length, idf) are appended where the data have them.",
    )
    scale: Literal["zscore", "none"] = Field(
        default="zscore", description="Standardise each dimension on the training queries, or leave it."
    )


class Neighbours(Section):
    """The k-nearest-neighbour graph of the queries."""

    metric: Literal["euclidean", "cosine", "manhattan", "mahalanobis"] = Field(
        default="euclidean", description="Distance between query vectors."
    )
    largest: PositiveInt | None = Field(
        default=None, description="Length of the stored neighbour lists; null: all training queries."
    )
    search: Literal["brute", "kdtree"] = Field(
        default="brute", description="How they are found; the result is the same."
    )


class Evaluation(Section):
    """What is measured, and how differences are judged."""

    conventions: list[Literal["letor4", "letor3", "geng", "exp", "linear", "lightgbm", "zha"]] = Field(
        default=["letor4", "geng", "exp"],
        min_length=1,
        description="Conventions in which every ranking is measured; tables use the first, papers' figures their own. "
        "docs/measures.md compares them.",
    )
    confidence: Fraction = Field(default=0.95, description="Coverage of the intervals.")
    resamples: Annotated[int, Field(ge=100)] = Field(default=2000, description="Bootstrap and permutation resamples.")


class Figures(Section):
    """How pictures are written."""

    formats: list[Literal["pdf", "svg", "png"]] = Field(
        default=["pdf", "svg", "png"], min_length=1, description="Each figure is written in each of these."
    )
    dpi: Annotated[int, Field(ge=50, le=1200)] = Field(default=150, description="Resolution of png.")


class Settings(Section):
    """The whole configuration."""

    datasets: list[DatasetName] = Field(
        default=["sim1"],
        min_length=1,
        description="Data sets to study: names from config/datasets.yaml or from own, below.",
    )
    missing: Literal["stop", "skip"] = Field(
        default="stop",
        description="A data set that cannot be had stops the run, or is left out and named in the report.",
    )
    mirror: str | None = Field(
        default=None, description="Folder with copies of the data, looked into before any download; QDRANK_MIRROR wins."
    )
    own: dict[DatasetName, OwnDataset] = Field(
        default_factory=dict, description="Your own data sets by name; config/README.md shows one of each kind."
    )
    folds: list[Literal["fold1", "fold2", "fold3", "fold4", "fold5"]] = Field(
        default=["fold1", "fold2", "fold3", "fold4", "fold5"],
        min_length=1,
        description="Folds to run; a data set with one fixed split has fold1 only.",
    )
    seed: Annotated[int, Field(ge=0)] = Field(default=1, description="Seed of everything random.")
    queries: QueryVectors = Field(default_factory=QueryVectors, description="Query vectors.")
    neighbours: Neighbours = Field(default_factory=Neighbours, description="The k-NN graph.")
    evaluation: Evaluation = Field(default_factory=Evaluation, description="Measures and significance.")
    figures: Figures = Field(default_factory=Figures, description="Pictures.")

    @field_validator("datasets", "folds")
    @classmethod
    def _no_repeats(cls, names: list[str]) -> list[str]:
        if len(set(names)) < len(names):
            raise ValueError("each name may stand here once")
        return names

    @model_validator(mode="before")
    @classmethod
    def _sections_may_be_empty(cls, values: Any) -> Any:
        """``own:`` with nothing below it is YAML for null; a user means an empty section."""
        if isinstance(values, dict) and values.get("own", {}) is None:
            return {**values, "own": {}}
        return values

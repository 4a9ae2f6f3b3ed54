"""The typed configuration: the one source of keys, types, defaults and their explanations.

``config/config.yaml``, the JSON schema in ``workflow/schemas`` and the reference table in ``docs`` are generated
from these models (``qdrank config generate``); a test fails when they drift. Unknown keys are errors.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    WithJsonSchema,
    field_validator,
    model_validator,
)

from qdrank.errors import InputError
from qdrank.measures.names import parse as parse_measure
from qdrank.rankers.methods import METHODS
from qdrank.registry import nearest

DatasetName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9._-]*$", max_length=64)]
PositiveInt = Annotated[int, Field(ge=1)]
PositiveFloat = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Fraction = Annotated[float, Field(gt=0, lt=1)]
Convention = Literal["letor4", "letor3", "geng", "exp", "linear", "lightgbm", "zha"]
Scale = Literal["auto", "given", "zscore", "minmax"]


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


def _control() -> dict[str, OwnDataset]:
    """The negative control of the default study."""
    title = "Simulated web with one rule for all queries (negative control)"
    return {
        "simweb-control": SimulatedVariant(kind="simulated", like="simweb", settings={"one_rule": True}, title=title)
    }


class Text(Section):
    """From raw text to features."""

    stemmer: str = Field(default="english", description="A Snowball algorithm (english, german, porter ...) or none.")
    stop_words: Literal["snowball", "lucene", "none"] = Field(default="snowball", description="Words to leave out.")
    variant: Literal["lucene", "robertson", "atire", "bm25+", "bm25l"] = Field(
        default="lucene", description="Variant of BM25 that finds the candidates."
    )
    k1: Annotated[float, Field(ge=0)] = Field(default=0.9, description="Its saturation of the term frequency.")
    b: Annotated[float, Field(ge=0, le=1)] = Field(default=0.4, description="Its normalisation by length.")
    candidates: PositiveInt = Field(default=100, description="Documents taken for each query, the best by BM25.")
    judged: bool = Field(
        default=False,
        description="Whether judged documents that BM25 does not find are candidates too; unjudged count 0.",
    )
    features: list[Literal["hoi", "extra", "letor46"]] = Field(
        default=["hoi", "extra"],
        min_length=1,
        description="Groups of features: the 25 rank models of Hoi 2008, LETOR-like extras, LETOR 4.0's 46.",
    )
    constants: Literal["gov", "ohsumed"] = Field(
        default="gov",
        description="Constants of the rank models: LETOR's for .GOV, or those with which LETOR's OHSUMED files were made.",
    )
    folds: Literal["rotation", "split"] = Field(
        default="rotation", description="Five seeded parts that rotate, or the collection's own train, dev and test."
    )
    lsa: Annotated[int, Field(ge=0)] = Field(
        default=0, description="Latent semantic columns of each query's top documents, for its vector; 0: none."
    )


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

    metric: Literal["euclidean", "cosine", "manhattan", "mahalanobis", "learned"] = Field(
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

    conventions: list[Convention] = Field(
        default=["letor4", "geng", "exp"],
        min_length=1,
        description="Conventions in which every ranking is measured; tables use the first, papers' figures their own. "
        "docs/measures.md compares them.",
    )
    confidence: Fraction = Field(default=0.95, description="Coverage of the intervals.")
    resamples: Annotated[int, Field(ge=100)] = Field(default=2000, description="Bootstrap and permutation resamples.")


class Training(Section):
    """How models are trained, for every study."""

    lambdas: list[PositiveFloat] = Field(
        default=[1.0, 0.1, 0.03, 0.01, 0.003, 0.001, 0.0001],
        min_length=1,
        description="Weights of the regulariser that are tried for models of all training queries (Single, QC).",
    )
    scale: Scale = Field(
        default="auto",
        description="Features for learning as given, standardised on the training documents, or scaled to [0, 1] within "
        "each query. auto: as given where all lie in [0, 1], else standardised.",
    )
    measure: str = Field(default="mean_ndcg/geng", description="What decides on the validation queries.")
    block: PositiveInt = Field(default=256, description="Local models that are trained together.")
    shards: PositiveInt = Field(
        default=2, description="Jobs among which the local models of a fold are divided; changes no result."
    )
    tol: PositiveFloat = Field(default=1e-6, description="Relative gap to the optimum at which training stops.")
    trees: Annotated[int, Field(ge=1)] = Field(default=300, description="Most trees of LambdaMART.")


class Geng(Section):
    """The study of Geng 2008: ranking with the k nearest training queries."""

    datasets: list[DatasetName] | None = Field(default=None, description="Data sets to study so; null: all.")
    ks: list[PositiveFloat] = Field(
        default=[0.02, 0.05, 0.1, 0.15, 0.2, 0.27, 0.4, 0.53, 0.75, 1],
        min_length=1,
        description="Numbers of neighbours for the curves; up to 1 a share of the training queries, above a number. "
        "The paper's 400 of 1,500 is 0.27, its flat range 300 to 800 is 0.2 to 0.53.",
    )
    lam: PositiveFloat = Field(default=0.01, description="Lambda of the curves, the paper's.")
    choose: Literal["validation", "fixed"] = Field(
        default="validation",
        description="k and lambda of each method: the best on validation in each fold, or the fixed ones.",
    )
    k: PositiveFloat = Field(default=0.27, description="The fixed number of neighbours; written as in ks.")
    candidates: list[PositiveFloat] = Field(
        default=[0.05, 0.1, 0.27, 0.53], min_length=1, description="Numbers of neighbours to choose from."
    )
    lambdas: list[PositiveFloat] = Field(
        default=[0.1, 0.01, 0.001], min_length=1, description="Lambdas to choose from, for local models."
    )
    offline1: Literal["shared_pairs", "shared_queries", "smallest_gamma"] = Field(
        default="shared_pairs",
        description="What makes two neighbourhoods alike for Offline-1: most shared pairs (eq. 1), most shared queries, "
        "or the smallest change ratio.",
    )
    controls: list[Literal["equal", "random"]] = Field(
        default=["equal", "random"],
        description="Further local models: every query weighted equally; random training queries for neighbours.",
    )
    classes: Annotated[int, Field(ge=2)] = Field(
        default=3, description="Classes for QC where the data know no types: K-means of the query vectors."
    )
    classify_from: Literal["query", "documents", "both"] = Field(
        default="query",
        description="What QC's classifier sees: the query alone, its top documents (its vector), or both.",
    )
    bound_queries: Annotated[int, Field(ge=0)] = Field(
        default=100, description="Test queries of each fold on which the stability bound is checked."
    )
    bound_pairs: PositiveInt = Field(default=50, description="Document pairs of each of them.")
    margin: PositiveFloat = Field(
        default=0.005, description="Difference in mean NDCG below which two methods count as equal in a claim."
    )
    clusters: list[PositiveFloat] = Field(
        default=[0.01, 0.03, 0.1, 0.3],
        description="Sizes of clusterings of the training queries, as in ks: fewer offline models, cost against quality.",
    )


def _known_method(name: str) -> str:
    if name not in METHODS:
        raise ValueError(f"unknown method; {nearest(name, list(METHODS))}")
    return name


def _known_measure(name: str) -> str:
    try:
        parse_measure(name)
    except InputError as error:
        raise ValueError(str(error)) from None
    return name


MethodName = Annotated[str, AfterValidator(_known_method), WithJsonSchema({"type": "string", "enum": list(METHODS)})]


class Learners(Section):
    """The classic learners and aggregators, tuned on validation as LETOR prescribes."""

    datasets: list[DatasetName] | None = Field(default=None, description="Data sets to run them on; null: all.")
    methods: list[MethodName] | None = Field(
        default=[
            *("ranksvm", "listnet", "adarank-map", "regression", "lambdamart-tuned"),
            *(name for name, method in METHODS.items() if method.aggregates),
        ],
        description="Which, of the list in docs/learners.md; null: all. Learners run on data with features, aggregators "
        "(bordacount and cps) on rankings.",
    )
    measure: Annotated[str, AfterValidator(_known_measure)] = Field(
        default="ap", description="What decides on the validation queries."
    )
    grids: dict[MethodName, dict[str, list[Any]]] = Field(
        default_factory=dict,
        description="Values to try by method and parameter, in place of all the usual ones of that method.",
    )
    scales: dict[DatasetName, Scale] = Field(
        default={"ohsumed-letor2": "minmax"},
        description="Scale of the features for learning where a data set needs another than training.scale.",
    )
    conventions: dict[DatasetName, Convention] = Field(
        default={"ohsumed": "letor3", "ohsumed-min": "letor3", "ohsumed-letor2": "letor3"},
        description="Convention of the tables where a data set has another than the first of evaluation.conventions.",
    )


class Figures(Section):
    """How pictures are written."""

    formats: list[Literal["pdf", "svg", "png"]] = Field(
        default=["pdf", "svg", "png"], min_length=1, description="Each figure is written in each of these."
    )
    dpi: Annotated[int, Field(ge=50, le=1200)] = Field(default=150, description="Resolution of png.")


class Settings(Section):
    """The whole configuration."""

    datasets: list[DatasetName] = Field(
        default=["simweb", "simweb-control"],
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
        default_factory=_control, description="Your own data sets by name; config/README.md shows one of each kind."
    )
    folds: list[Literal["fold1", "fold2", "fold3", "fold4", "fold5"]] = Field(
        default=["fold1", "fold2", "fold3", "fold4", "fold5"],
        min_length=1,
        description="Folds to run; a data set with one fixed split has fold1 only.",
    )
    seed: Annotated[int, Field(ge=0)] = Field(default=1, description="Seed of everything random.")
    text: Text = Field(default_factory=Text, description="From raw text to features.")
    queries: QueryVectors = Field(default_factory=QueryVectors, description="Query vectors.")
    neighbours: Neighbours = Field(default_factory=Neighbours, description="The k-NN graph.")
    evaluation: Evaluation = Field(default_factory=Evaluation, description="Measures and significance.")
    training: Training = Field(default_factory=Training, description="Training of models.")
    geng: Geng = Field(default_factory=Geng, description="The study of Geng 2008.")
    learners: Learners = Field(default_factory=Learners, description="The classic learners and aggregators.")
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

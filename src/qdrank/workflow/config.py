"""The typed configuration: the one source of keys, types, defaults and their explanations.

``config/config.yaml``, and the reference table in ``docs`` are generated
from these models (``qdrank config generate``); a test fails when they drift. Unknown keys are errors.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    Discriminator,
    Field,
    Tag,
    ValidationInfo,
    WithJsonSchema,
    create_model,
    field_validator,
    model_validator,
)

from qdrank.measures import CONVENTIONS, USUAL_CONVENTIONS
from qdrank.queries import METRICS
from qdrank.rankers.methods import CLASSIC
from qdrank.sections import (
    DatasetName,
    Fraction,
    MeasureName,
    PositiveFloat,
    PositiveInt,
    Scale,
    Section,
    StudySection,
    key,
    known,
)
from qdrank.studies import STUDIES
from qdrank.studies.study import Study
from qdrank.workflow.own_data import OwnDataset, SimulatedVariant

Convention = Annotated[
    str, AfterValidator(known("convention", CONVENTIONS)), WithJsonSchema({"type": "string", "enum": list(CONVENTIONS)})
]
MetricName = Annotated[
    str, AfterValidator(known("metric", METRICS)), WithJsonSchema({"type": "string", "enum": list(METRICS)})
]
MethodName = Annotated[
    str, AfterValidator(known("method", CLASSIC)), WithJsonSchema({"type": "string", "enum": list(CLASSIC)})
]
_SHORT = [STUDIES[name].short for name in STUDIES]
StudyName = Annotated[str, AfterValidator(known("study", _SHORT)), WithJsonSchema({"type": "string", "enum": _SHORT})]


def _control() -> dict[str, OwnDataset]:
    """The negative control of the default study."""
    title = "Simulated web with one rule for all queries (negative control)"
    return {
        "simweb-control": SimulatedVariant(kind="simulated", like="simweb", settings={"one_rule": True}, title=title)
    }


class FeedbackSection(Section):
    """Settings of RM3 that are tried on validation."""

    documents: list[PositiveInt] = key([5, 10], "How many of the first documents expand the query.", min_length=1)
    terms: list[PositiveInt] = key([10, 30], "How many of their terms are taken.", min_length=1)
    weight: list[Annotated[float, Field(ge=0, le=1)]] = key(
        [0.3, 0.5, 0.7], "Share of the original query.", min_length=1
    )


class Text(Section):
    """From raw text to features."""

    stemmer: str = key("english", "A Snowball algorithm (english, german, porter ...) or none.")
    stop_words: Literal["snowball", "lucene", "none"] = key("snowball", "Words to leave out.")
    variant: Literal["lucene", "robertson"] = key("lucene", "Variant of BM25 that finds the candidates.")
    k1: Annotated[float, Field(ge=0)] = key(0.9, "Its saturation of the term frequency.")
    b: Annotated[float, Field(ge=0, le=1)] = key(0.4, "Its normalisation by length.")
    tried_k1: list[Annotated[float, Field(ge=0)]] = key(
        [0.6, 0.9, 1.2, 1.6, 2.0], "Values of k1 that validation tries for the row of tuned BM25 alone."
    )
    tried_b: list[Annotated[float, Field(ge=0, le=1)]] = key([0.2, 0.4, 0.6, 0.8], "Values of b tried with them.")
    feedback: FeedbackSection = Field(default_factory=FeedbackSection, description="RM3 on tuned BM25.")
    candidates: PositiveInt = key(100, "Documents taken for each query, the best by BM25.")
    searched: bool = key(True, "Whether studies also search the whole collection, beside ranking its candidates.")
    judged: bool = key(False, "Whether judged documents that BM25 does not find are candidates too; unjudged count 0.")
    relevant: Literal["all", "candidates"] = key(
        "all",
        "Relevant documents that measures count: all, as trec_eval does, or those among the candidates, which reads "
        "higher.",
    )
    features: list[Literal["first", "letor25", "extra", "letor46", "dense"]] = key(
        ["first", "letor25", "extra"], "Sets of features; docs/text.md has them.", min_length=1
    )
    constants: Literal["gov", "ohsumed"] = key("gov", "Constants of the rank models: LETOR's for .GOV, or for OHSUMED.")
    folds: Literal["rotation", "split"] = key(
        "rotation", "Five seeded parts that rotate, or the collection's own train, dev and test."
    )
    lsa: Annotated[int, Field(ge=0)] = key(
        0, "Latent semantic columns of each query's top documents, for its vector; 0: none."
    )


class EncoderSection(Section):
    """An encoder in a folder, as the model hub has it."""

    folder: str = key(..., "Its folder.")
    queries: str | None = key(None, "Prompt before each query; null: the folder's own, if any.")
    documents: str | None = key(None, "Prompt before each document and title; null: likewise.")


class QueryVectorsSection(Section):
    """How a query becomes a vector."""

    vectors: Literal["documents", "dense"] = key(
        "documents",
        "What a vector is made of: the query's documents, or of raw text the encoder's vector of its words.",
    )

    top: PositiveInt = key(50, "T: how many documents, by the reference feature, describe a query.")
    pooling: Literal["mean", "mean+std", "mean+std+max", "none"] = key(
        "mean",
        "How features are summarised over these documents; none: the query's own columns are its vector, as where "
        "your data have vectors.",
    )
    view: Literal["given", "minmax"] = key("given", "Features as in the data, or scaled to [0, 1] within each query.")
    query_columns: bool = key(
        False, "Whether columns of the query itself (length, idf) are appended where the data have them."
    )
    scale: Literal["zscore", "none"] = key("zscore", "Standardise each dimension on the training queries, or leave it.")


class NeighboursSection(Section):
    """The k-nearest-neighbour graph of the queries."""

    metric: MetricName = key("euclidean", "Distance between query vectors.")
    largest: PositiveInt | None = key(None, "Length of the stored neighbour lists; null: as many as the studies use.")
    search: Literal["brute", "kdtree"] = key("brute", "How they are found; the result is the same.")


class EvaluationSection(Section):
    """What is measured, and how differences are compared."""

    conventions: list[Convention] = key(
        list(USUAL_CONVENTIONS),
        "Conventions in which every ranking is measured; tables use the first, those of all methods the first in "
        "which a short list is not 0. See docs/measures.md.",
        min_length=1,
    )
    confidence: Fraction = key(0.95, "Coverage of the intervals.")
    resamples: Annotated[int, Field(ge=100)] = key(2000, "Bootstrap and permutation resamples.")


def _baselines() -> list[str]:
    """The studies' models of all queries, in their order, then what is there without a study."""
    models = [STUDIES[name].one_model for name in STUDIES]
    return [*filter(None, models), "ranksvm", "reference"]


class DifficultySection(Section):
    """Measures by the difficulty of the queries, for every method."""

    classes: dict[str, list[PositiveInt | None]] = key(
        {"hard": [1, 3], "normal": [4, 20], "easy": [21, None]},
        "Least and greatest number of relevant documents of each class, rising; null: no limit. The default is Lin "
        "2011's.",
        min_length=1,
    )
    measures: list[MeasureName] = key(["ap"], "What is broken down.", min_length=1)
    against: list[str] = key(
        _baselines(), "Method that the others are compared with: the first of these that was run.", min_length=1
    )

    @field_validator("classes")
    @classmethod
    def _rising(cls, classes: dict[str, list[int | None]]) -> dict[str, list[int | None]]:
        if any(len(bounds) != 2 for bounds in classes.values()):
            raise ValueError("give two numbers for each class, for example hard: [1, 3]")
        return classes


class Training(Section):
    """How models are trained, for every study."""

    lambdas: list[PositiveFloat] = key(
        [10.0, 3.0, 1.0, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001, 0.0003, 0.0001, 0.00003],
        "Weights of the regulariser that are tried for models of all training queries (Single, QC).",
        min_length=1,
    )
    scale: Scale = key(
        "auto",
        "Features as given, standardised on training documents, or scaled to [0, 1] within each query. auto: given if "
        "all are in [0, 1], else zscore.",
    )
    measure: MeasureName = key("mean_ndcg/geng", "Measure by which validation queries decide.")
    block: PositiveInt | None = key(
        None, "Local models that are trained together; null: 256, in folds of many queries 512 or 1,024."
    )
    shards: PositiveInt | None = key(
        None,
        "Jobs among which the local models of a fold are divided; null: as the cores of the first run ask for. "
        "Changes no result.",
    )
    tol: PositiveFloat = key(1e-6, "Relative gap to the optimum at which training stops.")
    starts: PositiveInt = key(10, "Starts of K-means, wherever queries or documents are clustered; the best is kept.")
    trees: Annotated[int, Field(ge=1)] = key(300, "Most trees of LambdaMART.")
    tree_threads: PositiveInt | None = key(
        None,
        "Threads of a job that grows boosted trees; null: 4, on sets of few queries and on fewer than 8 cores 1. "
        "Changes no byte.",
    )


class Learners(Section):
    """The classic learners and aggregators, tuned on validation as LETOR prescribes."""

    datasets: list[DatasetName] | None = key(None, "Data sets to run them on; null: all.")
    methods: list[MethodName] | None = key(
        [
            *("ranksvm", "listnet", "adarank-map", "regression", "lambdamart-tuned"),
            *(name for name, method in CLASSIC.items() if method.aggregates),
        ],
        "Which, of the list in docs/learners.md; null: all. Learners run on data with features, aggregators "
        "(bordacount and cps) on rankings.",
    )
    measure: MeasureName = key("ap", "Measure by which validation queries decide.")
    own: dict[DatasetName, str] = Field(
        default_factory=dict,
        description="Learners of your own by name, run beside these: FILE.py:CLASS, MODULE:CLASS, or an entry point of the "
        "group qdrank.learners. See docs/learners.md.",
    )
    grids: dict[str, dict[str, list[Any]]] = Field(
        default_factory=dict,
        description="Values to try by method and parameter, in place of all the usual ones of that method.",
    )
    scales: dict[DatasetName, Scale] = key(
        {"ohsumed-letor2": "minmax"},
        "Scale of the features for learning where a data set needs another than training.scale.",
    )
    conventions: dict[DatasetName, Convention] = key(
        {"ohsumed": "letor3", "ohsumed-min": "letor3", "ohsumed-letor2": "letor3"},
        "Convention of the tables where a data set has another than the first of evaluation.conventions.",
    )

    @field_validator("grids")
    @classmethod
    def _known_methods(cls, grids: dict[str, Any], info: ValidationInfo) -> dict[str, Any]:
        for name in grids:
            known("method", [*CLASSIC, *info.data.get("own", {})])(name)
        return grids


class Figures(Section):
    """How pictures are written."""

    formats: list[Literal["pdf", "svg", "png"]] = key(
        ["pdf", "svg", "png"], "Each figure is written in each of these.", min_length=1
    )
    dpi: Annotated[int, Field(ge=50, le=1200)] = key(150, "Resolution of png.")


_Folds = list[Literal["fold1", "fold2", "fold3", "fold4", "fold5"]]
_FIVE: _Folds = ["fold1", "fold2", "fold3", "fold4", "fold5"]


class FoldsBySource(Section):
    """Folds that keep the queries of one source together."""

    by: Literal["source"] = key(..., "Data sets with known sources; the parts of the others stay.")


def written_as(value: Any) -> str:
    """How a key is written that takes a plain value or a section: faults are told of that one alone."""
    return "section" if isinstance(value, Mapping | BaseModel) else "plain"


class Settings(Section):
    """What the library knows of a configuration by name; every study adds a section (`WholeSettings`)."""

    datasets: list[DatasetName] = key(
        ["simweb", "simweb-control"],
        "Data sets to study: names from config/datasets.yaml or from own, below.",
        min_length=1,
    )
    studies: list[StudyName] | None = key(
        None, "Studies to run, by the names of their sections; null: all that suit the data sets."
    )
    missing: Literal["stop", "skip"] = key(
        "stop", "A data set that is not available stops the run, or is left out and named in the report."
    )
    mirror: str | None = key(
        None, "Folder with copies of the data, looked into before any download; QDRANK_MIRROR wins."
    )
    own: dict[DatasetName, OwnDataset] = Field(
        default_factory=_control, description="Your own data sets by name; config/README.md shows one of each kind."
    )
    folds: Annotated[
        Annotated[_Folds, Field(min_length=1), Tag("plain")] | Annotated[FoldsBySource, Tag("section")],
        Discriminator(written_as),
    ] = key(
        _FIVE,
        "Folds to run; a data set with one fixed split has fold1 only. Or {by: source}: all of them, with queries of "
        "one source in one fold where sources are known and parts are drawn; verdicts then count sources.",
    )
    seed: Annotated[int, Field(ge=0)] = key(1, "Seed of everything random.")
    refits: PositiveInt = key(
        5,
        "Fits, with other seeds, of every method that is random or unstable: means are judged, their spread widens "
        "intervals, the first is served.",
    )
    text: Text = Field(default_factory=Text, description="From raw text to features.")
    encoder: Annotated[
        Annotated[str | None, Tag("plain")] | Annotated[EncoderSection, Tag("section")], Discriminator(written_as)
    ] = key(
        None, "Encoder of raw text: a name of config/encoders.yaml, a folder with prompts, or none. See docs/dense.md."
    )
    queries: QueryVectorsSection = Field(default_factory=QueryVectorsSection, description="Query vectors.")
    neighbours: NeighboursSection = Field(default_factory=NeighboursSection, description="The k-NN graph.")
    evaluation: EvaluationSection = Field(default_factory=EvaluationSection, description="Measures and significance.")
    difficulty: DifficultySection = Field(
        default_factory=DifficultySection, description="Measures by the difficulty of the queries."
    )
    training: Training = Field(default_factory=Training, description="Training of models.")
    learners: Learners = Field(default_factory=Learners, description="The classic learners and aggregators.")
    figures: Figures = Field(default_factory=Figures, description="Pictures.")

    def of_study(self, study: Study) -> StudySection:
        """The section of a study."""
        section: StudySection = getattr(self, study.short)
        return section

    def wants(self, study: Study) -> bool:
        """Whether the configuration has a study among those to run."""
        return self.studies is None or study.short in self.studies

    @field_validator("datasets", "folds", "studies")
    @classmethod
    def _no_repeats(cls, names: Any) -> Any:
        if isinstance(names, list) and len(set(names)) < len(names):
            raise ValueError("each name may be listed once")
        return names

    @model_validator(mode="before")
    @classmethod
    def _sections_may_be_empty(cls, values: Any) -> Any:
        """``own:`` with nothing below it is YAML for null; a user means an empty section."""
        if isinstance(values, dict) and values.get("own", {}) is None:
            return {**values, "own": {}}
        return values


def _study_sections() -> dict[str, Any]:
    """A section for every registered study, with its own defaults."""
    studies = (STUDIES[name] for name in STUDIES)
    return {
        study.short: (study.settings, Field(default_factory=study.settings, description=f"The study of {study.paper}."))
        for study in studies
    }


WholeSettings: type[Settings] = create_model(
    "Settings", __base__=Settings, __doc__="The whole configuration.", **_study_sections()
)

"""The user's own data sets in the configuration: feature files, text collections in three forms, simulated variants."""

from __future__ import annotations

import codecs
from typing import Annotated, ClassVar, Literal, Self, get_args

from pydantic import AfterValidator, Field, field_validator, model_validator

from qdrank.datasets.sources import SourceRule
from qdrank.sections import PositiveInt, Section, key

_HELD_BACK = (
    "train and test need vali, for choosing settings: hold every fifth training query back, "
    """awk '$2 != q {q = $2; n++} {print > (n % 5 ? "train-part.txt" : "vali.txt")}' TRAIN, then train: train-part.txt, """
    "vali: vali.txt"
)


class OwnData(Section):
    """What an entry of every kind may say."""

    title: str = key("", "How the data set is called in tables and in the report.")
    note: str = key("", "A sentence for the report, such as what the data may be compared with.")
    queries_of: str = key(
        "", "Another data set with the same queries: in averages over data sets the first of the configuration counts."
    )


class GivenData(OwnData):
    """What an entry of every kind but the simulated one may say."""

    sources: SourceRule | None = key(
        None,
        "Which queries are of one source: {file: PATH}, a query and its source on each line; {blocks: 20}, so many "
        "consecutive queries; {shared: 1}, queries with a common document of this grade. For folds: {by: source}.",
    )


class FeatureFiles(GivenData):
    """Own data as LETOR text."""

    kind: Literal["letor"] = key(..., "LETOR text: label qid:N 1:v 2:v ... #docid = X")
    files: dict[str, str] = key(
        ...,
        "Part to file: S1 to S5, which rotate; train, vali, test; or all, cut into five by query. mirror:PATH is a "
        "file in the mirror.",
        min_length=1,
    )
    reference: PositiveInt = key(..., "Number of the feature that ranks like BM25 (1 is the first).")
    names: str | list[str] | None = key(
        None, "Names of the features for tables and figures: a list, or a file with one name per line."
    )
    max_label: PositiveInt = key(4, "Highest grade; a higher label is an error.", le=62)
    sparse: bool | None = key(None, "Whether rows may leave features out (zero); null: unless the first row has all.")
    missing_values: bool = key(False, "Whether NULL may mark a missing value.")

    @field_validator("files")
    @classmethod
    def _known_parts(cls, files: dict[str, str]) -> dict[str, str]:
        allowed = ({"S1", "S2", "S3", "S4", "S5"}, {"train", "vali", "test"}, {"all"})
        if set(files) == {"train", "test"}:
            raise ValueError(_HELD_BACK)
        if set(files) not in allowed:
            raise ValueError("parts must be S1 to S5, or train, vali and test, or all alone")
        return files


class RunFiles(GivenData):
    """Own data as the runs of search engines, with judgments."""

    kind: Literal["runs"] = key(..., "Runs and judgments in TREC's, BEIR's or JSON form; every run gives columns.")
    runs: str | list[str] = key(
        ..., "File of the runs, several, or a folder of nothing else; all tags of a file are taken.", min_length=1
    )
    qrels: str | dict[Literal["train", "dev", "test"], str] = key(
        ..., "File of the judgments, or one for each of train, dev and test: a fixed split.", min_length=1
    )
    folds: Annotated[int, Field(ge=3, le=5)] | str = key(
        5,
        "Number of seeded parts; or a file with a query and its part on each line: S1 to S3 or more, which rotate, or "
        "train, vali, test.",
    )
    queries: str | None = key(None, "Their texts: a file with a query and its text on each line, or queries.jsonl.")
    vectors: str | None = key(
        None, "Vectors of the queries: a file with a query and its numbers on each line. null: made of the documents."
    )
    reference: str | None = key(
        None, "Tag of the run that ranks like BM25; null: the run with the best MAP on training queries."
    )
    max_label: PositiveInt = key(4, "Highest grade; a higher one is an error.", le=62)

    @model_validator(mode="after")
    def _whole_split(self) -> Self:
        if isinstance(self.qrels, dict):
            if lacking := {"train", "dev", "test"} - self.qrels.keys():
                raise ValueError(
                    f"qrels: {min(lacking)} is missing; a split has train, dev (to choose settings) and test"
                )
            if "folds" in self.model_fields_set:
                raise ValueError("folds: qrels has a split already; leave one of the two out")
        return self


class TextCollection(GivenData):
    """Own data as a text collection in BEIR form."""

    kind: Literal["beir"] = key(..., "corpus.jsonl, queries.jsonl and qrels/*.tsv in one folder.")
    folder: str = key(..., "The folder with these files.")


def _known_encoding(name: str) -> str:
    try:
        codecs.lookup(name)
    except LookupError:
        raise ValueError("unknown encoding; utf-8 and latin-1 are usual") from None
    return name


Encoding = Annotated[str, AfterValidator(_known_encoding)]


class SmartCollection(GivenData):
    """Own data as a text collection in SMART form."""

    kind: Literal["smart"] = key(..., "SMART form, as CACM has it: .I, .T, .W in documents and queries.")
    documents: str | list[str] = key(..., "File of the documents, or several; plain, gz or xz.", min_length=1)
    queries: str = key(..., "File of the queries.", min_length=1)
    qrels: str = key(..., "File of the judgments.", min_length=1)
    judgments: Literal["auto", "listed", "graded", "rows", "trec", "cranfield"] = key(
        "auto",
        "Form of the judgments: listed (query document, each relevant), graded (query document grade), rows (query "
        "and all its relevant documents), trec (query 0 document grade), cranfield (query document code, 1 is best); "
        "auto tells them apart.",
    )
    queries_by: Literal["id", "position"] = key(
        "id", "Whether judgments name a query by its .I or by its position in the file."
    )
    title_in_text: bool = key(False, "Whether .W repeats the title at its beginning.")
    encoding: Encoding = key("utf-8", "Encoding of documents and queries, such as latin-1.")


class TrecCollection(GivenData):
    """Own data as a text collection in TREC form."""

    RENAMED: ClassVar = {"parts": "topic_fields"}
    kind: Literal["trec"] = key(..., "TREC form: <DOC> and <top> elements, qrels.")
    documents: str | list[str] = key(
        ..., "File of the documents, several, or a folder of nothing else; plain, gz or xz.", min_length=1
    )
    topics: str = key(..., "File of the queries.", min_length=1)
    qrels: str | dict[Literal["train", "dev", "test"], str] = key(
        ..., "File of the judgments, or one for each of train, dev and test (then set text.folds: split).", min_length=1
    )
    topic_fields: list[Literal["title", "desc", "narr"]] = key(
        ["title"], "Fields of a topic that make its text.", min_length=1
    )
    encoding: Encoding = key("utf-8", "Encoding of documents and topics, such as latin-1.")


class IrDatasetsCollection(GivenData):
    """Own data as a collection that ir_datasets knows."""

    kind: Literal["irds"] = key(
        ..., "A collection of ir_datasets by its id; needs the extra: pip install 'qdrank[irds]'."
    )
    id: str = key(
        ..., "Such as beir/nfcorpus, with its splits where it has any (then set text.folds: split).", min_length=1
    )
    home: str | None = key(
        None, "The library's folder; null: IR_DATASETS_HOME, else ~/.ir_datasets. It downloads what is not there."
    )


class SimulatedVariant(OwnData):
    """A simulated data set with some settings changed, for further seeds and negative controls."""

    kind: Literal["simulated"] = key(..., "A variant of a simulated data set.")
    like: Literal["sim1", "sim2", "simweb", "affine", "two-runs"] = key(..., "The data set that it varies.")
    settings: dict[str, int | float | bool | list[int]] = Field(
        default_factory=dict, description="Settings of the generator that differ, such as seed: 2 or locality: 0."
    )


_Own = (
    FeatureFiles
    | RunFiles
    | TextCollection
    | SmartCollection
    | TrecCollection
    | IrDatasetsCollection
    | SimulatedVariant
)
OwnDataset = Annotated[_Own, Field(discriminator="kind")]
#: What ``kind`` may be.
OWN_KINDS: tuple[str, ...] = tuple(get_args(one.model_fields["kind"].annotation)[0] for one in get_args(_Own))

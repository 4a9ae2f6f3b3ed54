"""The tables of data sets and encoders, ``config/datasets.yaml`` and ``encoders.yaml``, in their typed and checked form.

Only pydantic and yaml are imported here: the Snakefile reads the table each time it is parsed.
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from os import PathLike
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Literal, Self, TypeVar
from urllib.parse import urlsplit

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, ValidationError, model_validator

from qdrank.errors import InputError
from qdrank.project import PROJECT
from qdrank.registry import did_you_mean

DatasetKind = Literal["letor", "agg", "runs", "text", "simulated"]
Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
GitBlob = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{40}$")]
Name = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]*$", max_length=64)]
Size = Annotated[int, Field(gt=0)]
LOOPBACK = ("127.0.0.1", "localhost", "::1")


def _relative_path(text: str) -> str:
    """A path inside a folder: plain names, no way up, nothing a shell or another system would read differently."""
    steps = PurePosixPath(text).parts
    if not steps or text.startswith("/") or ".." in steps or "\\" in text or ":" in text or not text.isprintable():
        raise ValueError(f"{text!r} is not a path inside a folder")
    return text


def _address(text: str) -> str:
    """An https address; plain http only on this machine itself, as the tests use it."""
    address = urlsplit(text)
    if address.hostname and (address.scheme == "https" or (address.scheme == "http" and address.hostname in LOOPBACK)):
        return text
    raise ValueError(f"{text!r} is not an https address")


RelativePath = Annotated[str, AfterValidator(_relative_path)]
Address = Annotated[str, AfterValidator(_address)]


class _Row(BaseModel):
    """Base of the table's models: unknown keys forbidden, values never changed."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Content(_Row):
    """A content that is accepted for a file: the digest, and the size, of the uncompressed bytes."""

    sha256: Sha256 | None = None
    git_blob: GitBlob | None = None
    size: Size | None = None

    @model_validator(mode="after")
    def _one_digest(self) -> Self:
        if (self.sha256 is None) == (self.git_blob is None):
            raise ValueError("a content is known either by sha256 or by git_blob")
        return self


class Archive(_Row):
    """A package as published: zip, or tar with or without compression."""

    name: RelativePath
    sha256: Sha256 | None = None
    size: Size | None = None
    urls: tuple[Address, ...] = ()

    @model_validator(mode="after")
    def _digest_known(self) -> Self:
        if self.urls and self.sha256 is None:
            raise ValueError(f"{self.name}: an address without sha256")
        return self


class DataFile(_Row):
    """One file of a data set: how it is recognised and where it may be found."""

    name: RelativePath
    part: Literal["S1", "S2", "S3", "S4", "S5", "train", "vali", "test"] | None = None
    role: str | None = None
    contents: tuple[Content, ...] = ()
    mirror: RelativePath | None = None
    archive: str | None = None
    member: RelativePath | None = None
    also: tuple[RelativePath, ...] = ()
    urls: tuple[Address, ...] = ()
    optional: bool = False

    @property
    def size(self) -> int | None:
        """Size of the largest accepted content, if every content's is known."""
        sizes = [content.size for content in self.contents if content.size is not None]
        return max(sizes) if sizes and len(sizes) == len(self.contents) else None

    @property
    def has_sha256(self) -> bool:
        """Whether each accepted content has a sha256."""
        return bool(self.contents) and all(content.sha256 for content in self.contents)

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if (self.archive is None) != (self.member is None):
            raise ValueError(f"{self.name}: archive and member go together")
        if self.urls and not self.has_sha256:
            raise ValueError(f"{self.name}: an address without sha256")
        return self


NamedRow = TypeVar("NamedRow", Archive, DataFile)


class SourceRule(_Row):
    """Which queries are of one source, so that `folds: {by: source}` keeps them in one fold."""

    file: str | None = Field(default=None, description="File with a query and its source on each line.")
    blocks: Size | None = Field(default=None, description="So many consecutive queries are of one source.")
    starts: tuple[int, ...] | None = Field(default=None, description="Places of the first queries, from 0, rising.")
    shared: Size | None = Field(default=None, description="Queries with a common document of this grade or higher.")

    @model_validator(mode="after")
    def _one_rule(self) -> Self:
        if len(self.model_dump(exclude_none=True)) != 1:
            raise ValueError("give one of file, blocks, starts and shared")
        if self.starts is not None and (self.starts[:1] != (0,) or any(a >= b for a, b in pairwise(self.starts))):
            raise ValueError("starts must begin with 0 and rise")
        return self


class Source(_Row):
    """What is published and fetched: whose it is, its licence, its files."""

    name: Name
    title: str
    publisher: str
    licence: str
    citation: str
    page: Address | None = None
    licence_page: Address | None = None
    instruction: str | None = None
    folders: tuple[RelativePath, ...] = ()
    archives: tuple[Archive, ...] = ()
    files: tuple[DataFile, ...] = ()

    @property
    def required(self) -> tuple[DataFile, ...]:
        """The files without which it cannot be used."""
        return tuple(file for file in self.files if not file.optional)

    def file(self, name: str) -> DataFile:
        """The file called ``name``."""
        return _named(self.files, name, f"file of {self.name}")

    def archive(self, name: str) -> Archive:
        """The archive called ``name``."""
        return _named(self.archives, name, f"archive of {self.name}")

    def addresses(self, file: DataFile) -> tuple[str, ...]:
        """Where ``file``, or the archive that holds it, may be downloaded directly."""
        return file.urls or (self.archive(file.archive).urls if file.archive else ())

    @model_validator(mode="after")
    def _consistent_files(self) -> Self:
        _unique([file.name for file in self.files], "file")
        _unique([archive.name for archive in self.archives], "archive")
        if self.files and not self.instruction:
            raise ValueError("an instruction must say how to get the files")
        for file in self.files:
            if file.archive and file.archive not in [archive.name for archive in self.archives]:
                raise ValueError(f"{file.name}: there is no archive {file.archive}")
        return self


class Dataset(Source):
    """A data set of the table."""

    kind: DatasetKind
    note: str = ""
    queries_of: str = ""
    n_queries: Size | None = None
    n_documents: Size | None = None
    n_judgments: Size | None = None
    n_features: Size | None = None
    max_label: Annotated[int, Field(ge=1)]
    reference_feature: Size | None = None
    folds: Literal["rotation", "split"]
    sources: SourceRule | None = None
    missing: tuple[str, ...] = ()
    best: Literal["low", "high"] = "low"
    """Of rankings to aggregate: whether the best document has the lowest number in the files, or the highest."""

    @property
    def has_missing(self) -> bool:
        """Whether features may be missing."""
        return bool(self.missing)

    def by_part(self) -> dict[str, DataFile]:
        """Part (S1 to S5, or train, vali, test) to file."""
        return {file.part: file for file in self.files if file.part is not None}

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if (self.kind == "simulated") == bool(self.files):
            raise ValueError("a data set has files unless it is simulated")
        if self.reference_feature and self.reference_feature > (self.n_features or 0):
            raise ValueError("the reference feature is not among the features")
        return self


Row = TypeVar("Row", bound=Source)


def _named(rows: tuple[NamedRow, ...], name: str, kind: str) -> NamedRow:
    for row in rows:
        if row.name == name:
            return row
    raise InputError(f"unknown {kind}: {name!r}", fix=did_you_mean(name, [row.name for row in rows]))


def _unique(names: list[str], kind: str) -> None:
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"two {kind}s are called {twice[0]}")


class Datasets(dict[str, Dataset]):
    """The table: name to data set, in the order of the file."""

    def __missing__(self, name: str) -> Dataset:
        raise InputError(f"unknown data set {name!r}", fix=did_you_mean(name, list(self)))


class UniqueKeyLoader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """Safe YAML that refuses a key given twice, which YAML itself would let pass."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """Mapping of a node; a repeated key raises an error that names its place."""
        seen: list[Any] = []
        for node_of_key, _ in node.value:
            key = self.construct_object(node_of_key, deep=deep)
            if key in seen:
                problem = f"the key {key!r} is given twice"
                raise yaml.constructor.ConstructorError(None, None, problem, node_of_key.start_mark)
            seen.append(key)
        return dict(super().construct_mapping(node, deep=deep))


def default_table() -> Path:
    """The project's ``config/datasets.yaml``."""
    return PROJECT / "config" / "datasets.yaml"


def load(path: str | PathLike[str] | None = None) -> Datasets:
    """Read and check the table; the default one is read once."""
    return Datasets(_load(Path(path) if path is not None else default_table(), Dataset))


def load_encoders() -> dict[str, Source]:
    """The encoders that are known by name, ``config/encoders.yaml``."""
    return dict(_load(PROJECT / "config" / "encoders.yaml", Source))


@cache
def _load(path: Path, model: type[Row]) -> dict[str, Row]:
    try:
        table = yaml.load(path.read_text(encoding="utf-8"), Loader=UniqueKeyLoader)  # noqa: S506 (a safe loader)
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise InputError("not a YAML table", file=path, found=str(error)) from None
    if not isinstance(table, dict) or not all(isinstance(row, dict) for row in table.values()):
        raise InputError("not a table of data sets", file=path, fix="each name maps to keys and values")
    return {name: _checked(name, row, path, model) for name, row in table.items()}


def _checked(name: object, row: dict[str, Any], path: Path, model: type[Row]) -> Row:
    try:
        return model.model_validate({"name": name, **row})
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(step) for step in (name, *first["loc"]))
        message = first["msg"].removeprefix("Value error, ")
        raise InputError(f"{where}: {message}", file=path, found=str(first["input"])) from None

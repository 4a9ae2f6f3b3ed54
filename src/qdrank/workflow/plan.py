"""From a configuration to a plan: which data sets, of which kind, with which folds, and which are not available."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from qdrank.datasets import sources as table
from qdrank.datasets.fetching.presence import available, download_folder, instruction
from qdrank.errors import InputError
from qdrank.rankers import FIRST_STAGES
from qdrank.rankers.methods import CLASSIC
from qdrank.registry import did_you_mean, own_source, own_target
from qdrank.studies import STUDIES
from qdrank.workflow.config import Settings
from qdrank.workflow.own_data import (
    FeatureFiles,
    GivenData,
    IrDatasetsCollection,
    RunFiles,
    SimulatedVariant,
    SmartCollection,
    TextCollection,
    TrecCollection,
)

ROTATION = ("fold1", "fold2", "fold3", "fold4", "fold5")


@dataclass(frozen=True)
class PlannedDataset:
    """A data set as the workflow needs to know it."""

    name: str
    kind: table.DatasetKind
    title: str
    note: str = ""
    queries_of: str = ""
    """The data set whose queries it has, if it is another form of that."""
    folds: tuple[str, ...] = ("fold1",)
    registered: bool = True
    """Whether its files are those of the registry, to be fetched; else they are the user's."""
    files: Mapping[str, str] = field(default_factory=dict)
    """Part to path, for the user's own files."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """What the step that makes its judged documents needs to know."""
    n_queries: int | None = None
    """Number of its queries, where the registry says it."""

    @property
    def kinds(self) -> set[str]:
        """Its kind, and ``runs`` if it is made of the runs of search engines, real or simulated."""
        return {self.kind, "runs"} if self.options.get("like", self.name) in ("runs", "two-runs") else {self.kind}

    @property
    def source_file(self) -> str | None:
        """File that says of which source each query is, where folds go by it."""
        path: str | None = self.options.get("sources", {}).get("file")
        return path


#: More jobs per fold do not pay off: each reads the documents and trains Single again.
MOST_SHARDS = 32


@dataclass(frozen=True)
class Plan:
    """The data sets of a run, and those left out with the reason."""

    datasets: Mapping[str, PlannedDataset]
    left_out: Mapping[str, str]
    learners: Mapping[str, str] = field(default_factory=dict)
    """Learners of the user's own: ``FILE.py:CLASS`` or ``MODULE:CLASS`` by name."""
    encoder: Mapping[str, str] = field(default_factory=dict)
    """Arguments of `qdrank.text.encoder.encoder_form`; empty where there is no encoder."""
    encoders: tuple[str, ...] = ()
    """Name of a registered encoder, which is fetched."""

    def of_kind(self, *kinds: table.DatasetKind) -> list[str]:
        """Names of the data sets of these kinds."""
        return [name for name, dataset in self.datasets.items() if dataset.kind in kinds]


def shards_of(settings: Settings, planned: Plan, workers: int, recorded: Path) -> int:
    """Jobs among which the work of a fold is divided.

    Parameters
    ----------
    settings, planned : the configuration, and the data sets that it stands for
    workers : cores, or jobs of a cluster, that the run may use at a time
    recorded : file with the number of an earlier run in this folder. It is kept: another number would mean other files, and
        Snakemake would remake what is there.
    """
    if settings.training.shards is not None:
        return settings.training.shards
    try:
        return max(1, int(recorded.read_text()))
    except (OSError, ValueError):
        folds = max(1, sum(len(dataset.folds) for dataset in planned.datasets.values()))
        # Other jobs of a fold run beside its shards: with as many folds as cores nothing is gained by dividing one.
        return max(1, min(workers, MOST_SHARDS, -(-2 * workers // folds) if 2 * folds <= workers else 1))


def mirror_of(settings: Settings) -> str | None:
    """The folder with copies of the data: the environment's, else the configuration's."""
    return os.environ.get("QDRANK_MIRROR") or settings.mirror


def plan(settings: Settings, folders: Sequence[str | Path] = ()) -> Plan:
    """Look up every data set of the configuration.

    A relative path to the user's own data is searched for in the current folder, then in ``folders``.

    Raises
    ------
    InputError
        If a name is unknown, a data set of the user's own has the name of a registered one or lacks a file, or a data
        set is not available and ``missing`` is ``stop``; the message says how to get it.
    """
    known = table.load()
    _refuse_shadowing(settings, known)
    _refuse_unknown_datasets(settings, known)
    datasets: dict[str, PlannedDataset] = {}
    left_out: dict[str, str] = {}
    for name in settings.datasets:
        if name in settings.own:
            dataset = _planned_own_data(name, settings, folders)
            rule = getattr(settings.own[name], "sources", None)
            sources = _by_source(rule, settings, partial(_path, settings=settings, folders=folders))
            dataset = replace(dataset, options={**dataset.options, **sources})
            _refuse_missing_files(dataset)
        elif name in known:
            dataset = _registered(known[name], settings)
        else:
            fix = did_you_mean(name, [*known, *settings.own])
            problem = f"datasets.{settings.datasets.index(name)}: unknown data set {name!r}"
            raise InputError(problem, fix=f"{fix} `qdrank datasets` lists them; data of yours need an entry under own:")
        datasets[name] = dataset
        if dataset.registered and not (access := available(known[name], mirror=mirror_of(settings))):
            if settings.missing == "stop":
                raise InputError(f"{dataset.title} ({name}) is not available: {access.reason}", fix=_fix(known[name]))
            left_out[name] = access.reason
            del datasets[name]
    if not datasets:
        raise InputError("no data set is left to study", fix="see `qdrank datasets`")
    return Plan(datasets, left_out, dict(_own_learners(settings, folders)), *_encoder(settings, folders))


def _own_learners(settings: Settings, folders: Sequence[str | Path]) -> Iterator[tuple[str, str]]:
    """Learners of the user's own; raise if there is no such class."""
    taken = {*CLASSIC, *FIRST_STAGES, *(method.name for study in STUDIES.values() for method in study.methods)}
    for name, named in settings.learners.own.items():
        try:
            if name in taken:
                raise InputError("there is a method of this name already", fix="choose another name")
            module, _, wanted = own_target(named).rpartition(":")
            target = f"{_path(module, settings, folders) if module.endswith('.py') else module}:{wanted}"
            own_source(target)
        except InputError as error:
            problem = f"learners.own.{name}: {error.problem}"
            raise InputError(problem, found=error.found or named, fix=error.fix) from None
        yield name, target


def _encoder(settings: Settings, folders: Sequence[str | Path]) -> tuple[dict[str, str], tuple[str, ...]]:
    """The encoder of a configuration, and the name of a registered one."""
    given = settings.encoder
    if given is None:
        wants = {
            "text.features": "dense" in settings.text.features,
            "queries.vectors": settings.queries.vectors == "dense",
        }
        for key in (key for key, dense in wants.items() if dense):
            raise InputError(f"{key}: dense needs an encoder", fix="name one, such as encoder: minilm")
        return {}, ()
    if not isinstance(given, str):
        found = {**given.model_dump(exclude_none=True), "folder": _path(given.folder, settings, folders)}
        if not os.path.isdir(found["folder"]):
            raise InputError("encoder.folder: no such folder", found=found["folder"], fix="correct the path")
        return found, ()
    known = table.load_encoders()
    if given not in known:
        fix = f"{did_you_mean(given, list(known))} An encoder in a folder is named as encoder: {{folder: PATH}}"
        raise InputError(f"encoder: unknown encoder {given!r}", fix=fix)
    return {"folder": str(download_folder(known[given]))}, (given,)


def _fix(dataset: table.Dataset) -> str:
    return instruction(dataset) + "\n         or leave it out: missing: skip"


def _refuse_shadowing(settings: Settings, known: Iterable[str]) -> None:
    for name in settings.own:
        if name in known:
            problem = f"own.{name}: there is a registered data set called {name} already"
            raise InputError(problem, fix=f"choose another name, such as my-{name}, here and under datasets")


def _refuse_unknown_datasets(settings: Settings, known: Iterable[str]) -> None:
    """Raise if another section names an unknown data set: a misspelt one would silently run nothing."""
    names = [*known, *settings.own]
    named = {f"learners.{key}": getattr(settings.learners, key) for key in ("datasets", "scales", "conventions")}
    named |= {f"{STUDIES[name].short}.datasets": settings.of_study(STUDIES[name]).datasets for name in STUDIES}
    named |= {f"own.{name}.queries_of": [of.queries_of] for name, of in settings.own.items() if of.queries_of}
    for key, datasets in named.items():
        for name in datasets or ():
            if name not in names:
                raise InputError(f"{key}: unknown data set {name!r}", fix=did_you_mean(name, names))


def _refuse_missing_files(dataset: PlannedDataset) -> None:
    if (path := dataset.source_file) and not os.path.isfile(path):
        raise InputError(f"own.{dataset.name}.sources.file: no such file", found=path, fix="correct the path")
    for part, path in dataset.files.items():
        if not os.path.isfile(path):
            what = "no such file"
            if os.path.exists(path):
                pipe = "not a file: data are read more than once, so a pipe will not do"
                what = "a folder, not a file" if os.path.isdir(path) else pipe
            key = f"files.{part}" if dataset.kind == "letor" and "like" not in dataset.options else part
            if part == "documents.1" and "documents.2" not in dataset.files and not os.path.exists(path):
                key, what = "documents", "no such file or folder"
            raise InputError(f"own.{dataset.name}.{key}: {what}", found=path, fix="correct the path")
    if dataset.kind == "letor" and "like" not in dataset.options:
        _refuse_one_file_twice(dataset)
    folder = dataset.options.get("folder")
    if folder is not None and not os.path.isdir(folder):
        key = "home" if dataset.options["like"] == "irds" else "folder"
        raise InputError(f"own.{dataset.name}.{key}: no such folder", found=folder, fix="correct the path")


def _refuse_one_file_twice(dataset: PlannedDataset) -> None:
    """Two parts with the same queries would train on what they test."""
    seen: dict[str, str] = {}
    for part, path in dataset.files.items():
        other = seen.setdefault(os.path.realpath(path), part)
        if other != part:
            problem = f"own.{dataset.name}.files: {other} and {part} are the same file"
            fix = "give each part queries of its own; `files: {all: FILE}` divides the queries of one file into five parts"
            raise InputError(problem, found=path, fix=fix)


def _registered(entry: table.Dataset, settings: Settings) -> PlannedDataset:
    rotates = entry.folds == "rotation" if entry.kind != "text" else settings.text.folds == "rotation"
    folds = ROTATION[: len(entry.by_part()) or 5] if rotates else ("fold1",)
    options: dict[str, Any] = {"seed": settings.seed} if entry.kind == "simulated" else {}
    if entry.kind == "text":
        options = {"like": entry.name, "folder": str(download_folder(entry))}
        options |= _by_source(entry.sources, settings)
    if entry.kind in ("letor", "agg"):
        options = {
            "reference": entry.reference_feature,
            "max_label": entry.max_label,
            "missing_values": entry.has_missing,
            **({"best": entry.best} if entry.kind == "agg" else {}),
        }
    if entry.kind == "runs":
        options = {"like": "runs", "max_label": entry.max_label}
    return PlannedDataset(
        entry.name,
        # runs become features, as the user's own do
        "letor" if entry.kind == "runs" else entry.kind,
        entry.title,
        entry.note,
        entry.queries_of,
        folds=_wanted(folds, settings),
        options=options,
        n_queries=entry.n_queries,
    )


def _by_source(rule: table.SourceRule | None, settings: Settings, at: Callable[[str], str] = str) -> dict[str, Any]:
    """The option ``sources``, where folds are by source and it is known what the sources are."""
    if rule is None or isinstance(settings.folds, list):
        return {}
    known = rule.model_dump(exclude_none=True)
    return {"sources": known | ({"file": at(rule.file)} if rule.file else {})}


def _planned_own_data(name: str, settings: Settings, folders: Sequence[str | Path]) -> PlannedDataset:
    section = settings.own[name]
    bare = PlannedDataset(name, "letor", section.title or name, section.note, section.queries_of, registered=False)
    at = partial(_path, settings=settings, folders=folders)
    rotating = ROTATION if settings.text.folds == "rotation" else ("fold1",)
    text = replace(bare, kind="text", folds=_wanted(rotating, settings))
    match section:
        case FeatureFiles():
            folds = ("fold1",) if "train" in section.files else ROTATION
            options = section.model_dump(include={"reference", "max_label", "sparse", "missing_values", "names"})
            if isinstance(section.names, str):
                options["names"] = _lines(name, at(section.names))
            files = {part: at(path) for part, path in section.files.items()}
            return replace(bare, folds=_wanted(folds, settings), files=files, options=options)
        case RunFiles():
            return _runs(replace(bare, options={"like": section.kind}), section, settings, at)
        case TextCollection():
            return replace(text, options={"like": "beir", "folder": at(section.folder)})
        case SmartCollection():
            files = {"queries": at(section.queries), "qrels": at(section.qrels)}
            return _with_files(text, section, {"documents": _several(section.documents, at), **files})
        case TrecCollection():
            judged = {"topics": at(section.topics), "qrels": _by_split(section.qrels, at)}
            return _with_files(text, section, {"documents": _several(section.documents, at), **judged})
        case IrDatasetsCollection():
            home = section.home or os.environ.get("IR_DATASETS_HOME") or os.path.expanduser("~/.ir_datasets")
            form = section.model_dump(include={"id", "md5"})
            return replace(text, options={"like": section.kind, "folder": at(home), "form": form})
        case SimulatedVariant():
            return replace(
                bare, kind="simulated", options={"seed": settings.seed, **section.settings, "like": section.like}
            )


def _runs(bare: PlannedDataset, section: RunFiles, settings: Settings, at: Callable[[str], str]) -> PlannedDataset:
    """Runs with judgments: a fixed split, a file of parts, or parts that are drawn."""
    files: dict[str, Any] = {"runs": _several(section.runs, at), "qrels": _by_split(section.qrels, at)}
    files |= {
        key: at(value) for key in ("folds", "queries", "vectors") if isinstance(value := getattr(section, key), str)
    }
    options = {**bare.options, **section.model_dump(include={"reference", "max_label"})}
    folds: tuple[str, ...] = ROTATION[:1]
    if isinstance(section.folds, int) and isinstance(section.qrels, str):
        folds, options["n_parts"] = ROTATION[: section.folds], section.folds
    elif isinstance(section.folds, str):
        folds = _folds_of(bare.name, files["folds"])
    return replace(bare, folds=_wanted(folds, settings), files=_named(files), options=options)


def _folds_of(name: str, path: str) -> tuple[str, ...]:
    """Folds that the parts in a file make; whether they are sound is seen when the data are read."""
    if not os.path.isfile(path):
        return ROTATION[:1]  # the file is missed below, with the others
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError:
        raise InputError(f"own.{name}.folds: not plain text", found=path, fix="uncompress it") from None
    parts = {line.split()[-1] for line in lines if line.strip()}
    return ROTATION[:1] if "train" in parts else ROTATION[: max(1, len(parts))]


def _with_files(
    bare: PlannedDataset, section: SmartCollection | TrecCollection, files: Mapping[str, Any]
) -> PlannedDataset:
    """A text collection of several files; ``files`` are those of each key of its section."""
    form = section.model_dump(exclude={*GivenData.model_fields, "kind", *files})
    return replace(bare, files=_named(files), options={"like": section.kind, "files": dict(files), "form": form})


def _named(files: Mapping[str, Any]) -> dict[str, str]:
    """Paths by name, ``key`` or ``key.part``, from those of each key."""
    return {f"{key}.{name}" if name else key: path for key, value in files.items() for name, path in _paths_of(value)}


def _paths_of(value: Any) -> list[tuple[str, str]]:
    """Paths of a key, one or several, each with its name below the key."""
    if isinstance(value, str):
        return [("", value)]
    return list(value.items()) if isinstance(value, Mapping) else [(str(i + 1), path) for i, path in enumerate(value)]


def _by_split(judgments: str | Mapping[Any, str], at: Callable[[str], str]) -> str | dict[str, str]:
    """Path of the judgments, or that of each split."""
    return at(judgments) if isinstance(judgments, str) else {split: at(path) for split, path in judgments.items()}


def _several(documents: str | list[str], at: Callable[[str], str]) -> list[str]:
    """Paths of documents or runs: those named, or all files of a folder."""
    paths = [at(path) for path in ([documents] if isinstance(documents, str) else documents)]
    if len(paths) == 1 and os.path.isdir(paths[0]):
        paths = sorted(str(path) for path in Path(paths[0]).rglob("*") if path.is_file())
    return paths


def _lines(name: str, path: str) -> list[str]:
    """Names of features from a file, one per line."""
    if not os.path.isfile(path):
        raise InputError(f"own.{name}.names: no such file", found=path, fix="correct the path, or give a list of names")
    return [line.strip() for line in Path(path).read_text(encoding="utf-8").splitlines() if line.strip()]


def _path(path: str, settings: Settings, folders: Sequence[str | Path]) -> str:
    """A user's path, found here or in one of ``folders``; ``mirror:x`` is the file x in the mirror."""
    if not path.startswith("mirror:"):
        places = (os.path.join(folder, path) for folder in ("", *folders))
        return next((place for place in places if os.path.exists(place)), path)
    mirror = mirror_of(settings)
    if mirror is None:
        raise InputError("no mirror is known", found=path, fix="set QDRANK_MIRROR, or mirror: in the configuration")
    return os.path.join(mirror, path.removeprefix("mirror:"))


def _wanted(folds: tuple[str, ...], settings: Settings) -> tuple[str, ...]:
    if not isinstance(settings.folds, list):
        return folds
    return tuple(fold for fold in folds if fold in settings.folds) or folds[:1]

"""Which files of a data set are here, and which can be fetched. No file is read, so the Snakefile may ask."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from qdrank.datasets.sources import DataFile, Dataset, Source
from qdrank.datasets.textfiles import find
from qdrank.errors import AnyPath, InputError

DOWNLOADS = Path("resources") / "downloads"


@dataclass(frozen=True)
class Found:
    """Where a file is: on its own (perhaps compressed), or inside an archive."""

    path: Path
    kind: Literal["downloaded", "mirror", "archive"]


@dataclass(frozen=True)
class Availability:
    """Whether a data set can be used, and why or why not; truthy if it can."""

    present: bool
    downloadable: bool
    reason: str

    def __bool__(self) -> bool:
        return self.present or self.downloadable


def download_folder(dataset: Source, downloads: AnyPath | None = None) -> Path:
    """Folder of the data set's files: its name, in ``resources/downloads`` by default."""
    return Path(downloads if downloads is not None else DOWNLOADS) / dataset.name


def mirror_root(mirror: AnyPath | None = None) -> Path | None:
    """The local mirror: the argument, else ``QDRANK_MIRROR``, else none."""
    named = os.fspath(mirror) if mirror is not None else os.environ.get("QDRANK_MIRROR", "")
    if not named:
        return None
    root = Path(named)
    if not root.is_dir():
        raise InputError("the mirror is not a folder", file=root, fix="correct QDRANK_MIRROR or mirror: in the config")
    return root


def locate(
    dataset: Source, name: str, *, mirror: AnyPath | None = None, downloads: AnyPath | None = None
) -> Found | None:
    """Where the file ``name`` is: among the downloads, else in the mirror, else in a downloaded archive, else None."""
    file, folder = dataset.file(name), download_folder(dataset, downloads)
    for place in _hand_placed(dataset, file, folder):
        path = find(place)
        if path:
            return Found(path, "downloaded")
    root = mirror_root(mirror)
    path = find(root / file.mirror) if root and file.mirror else None
    if path:
        return Found(path, "mirror")
    if file.archive and (folder / file.archive).is_file():
        return Found(folder / file.archive, "archive")
    return None


def _hand_placed(dataset: Source, file: DataFile, folder: Path) -> Iterator[Path]:
    """Places where a user who unpacked the publisher's package by hand may have put the file."""
    yield folder / file.name
    for inner in ("", *dataset.folders):
        yield from (folder / inner / name for name in (file.name, *file.also, *([file.member] if file.member else [])))


def status(
    dataset: Source, *, mirror: AnyPath | None = None, downloads: AnyPath | None = None
) -> dict[str, Found | None]:
    """Where each file of the data set is."""
    return {file.name: locate(dataset, file.name, mirror=mirror, downloads=downloads) for file in dataset.files}


def available(dataset: Dataset, *, mirror: AnyPath | None = None, downloads: AnyPath | None = None) -> Availability:
    """Whether the data set can be used now or after a download, and the reason."""
    if dataset.kind == "simulated":
        return Availability(True, False, "simulated: made when it is needed")
    places = status(dataset, mirror=mirror, downloads=downloads)
    absent = [file for file in dataset.required if places[file.name] is None]
    if not absent:
        kinds = sorted({place.kind for file in dataset.required if (place := places[file.name])})
        return Availability(True, False, "present: " + ", ".join(kinds))
    if all(dataset.addresses(file) for file in absent):
        return Availability(False, True, f"absent: {_some(absent)}; can be downloaded")
    return Availability(False, False, f"absent: {_some(absent)}; must be fetched by hand")


def _some(files: list[DataFile], limit: int = 3) -> str:
    names = ", ".join(file.name for file in files[:limit])
    return names if len(files) <= limit else f"{names} and {len(files) - limit} more"


def instruction(dataset: Source, downloads: AnyPath | None = None) -> str:
    """How to get the data set by hand: where to go, what to accept, which file, where to put it."""
    if dataset.instruction is None:
        return "nothing is needed: the data set is simulated"
    rows = [dataset.instruction, f"page: {dataset.licence_page or dataset.page}"]
    rows += [f"address: {url}" for archive in dataset.archives for url in archive.urls]
    rows += [f"download folder: {download_folder(dataset, downloads)}", f"licence: {dataset.licence}"]
    return "\n         ".join(rows)

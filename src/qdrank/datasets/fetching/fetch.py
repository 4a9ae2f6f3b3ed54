"""Getting a file of a data set: placed by the user, from the mirror, an archive or an address; always checked."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from qdrank.datasets.fetching.contents import LARGEST_DOWNLOAD, check, checked_blocks, extract, opened, sha256
from qdrank.datasets.fetching.download import PATIENT, Expected, Patience, download
from qdrank.datasets.fetching.presence import Found, download_folder, instruction, locate
from qdrank.datasets.sources import Archive, Content, DataFile, Source, load, load_encoders
from qdrank.errors import AnyPath, InputError
from qdrank.store.atomic import atomic_path, write_text


def fetch(
    dataset: Source,
    name: str,
    destination: AnyPath | None = None,
    *,
    mirror: AnyPath | None = None,
    downloads: AnyPath | None = None,
    patience: Patience = PATIENT,
) -> Path:
    """Put the file ``name`` of ``dataset``, uncompressed and checked, into the folder ``destination``.

    It is looked up among the downloads (placed by hand or fetched by an earlier run), then in the mirror, then at the
    addresses of the table. A file that fails its check is not used. Nothing half-written remains except the ``.part``
    of a download, which the next call continues.

    Raises `InputError` if the file is nowhere (the message says how to get it), or is not what the table says it is.

    Parameters
    ----------
    destination : by default the data set's download folder
    mirror : root of the local mirror; by default ``QDRANK_MIRROR``
    downloads : folder of the download folders, by default ``resources/downloads``; archives are kept there
    """
    file, folder = dataset.file(name), download_folder(dataset, downloads)
    target = (Path(destination) if destination is not None else folder) / file.name
    if target.is_file():
        check(target, file)
        return target
    source = locate(dataset, name, mirror=mirror, downloads=downloads)
    if source is None:
        source = _downloaded(dataset, file, folder, patience)
    _bring(dataset, file, source, target)
    return target


def fetch_all(
    dataset: Source,
    destination: AnyPath | None = None,
    *,
    mirror: AnyPath | None = None,
    downloads: AnyPath | None = None,
    patience: Patience = PATIENT,
) -> dict[str, Path]:
    """Fetch every required file; name to path."""
    return {
        file.name: fetch(dataset, file.name, destination, mirror=mirror, downloads=downloads, patience=patience)
        for file in dataset.required
    }


def fetch_listed(dataset: str, path: AnyPath, *, config: Mapping[str, Any], log: Callable[..., None]) -> None:
    """Fetch a registered data set or encoder to the folder named like ``path``, and list there where its files are.

    QDRANK_MIRROR wins over the key ``mirror`` of the configuration.
    """
    mirror = os.environ.get("QDRANK_MIRROR") or config.get("mirror")
    source = load_encoders().get(dataset) or load()[dataset]
    files = fetch_all(source, Path(path).with_suffix(""), mirror=mirror)
    for name, file in files.items():
        log("%s: %s", name, file)
    write_text(path, json.dumps({name: str(file) for name, file in files.items()}, indent=1) + "\n")


def _downloaded(dataset: Source, file: DataFile, folder: Path, patience: Patience) -> Found:
    """The file, or the archive with it, from its addresses."""
    how = instruction(dataset, folder.parent)
    if not dataset.addresses(file):
        raise InputError(f"{dataset.name}: {file.name} is not here, and you must fetch it yourself", fix=how)
    if file.urls:
        download(file.urls, folder / file.name, _expected(file.contents), patience=patience, fix=how)
        return Found(folder / file.name, "downloaded")
    archive = dataset.archive(str(file.archive))
    download(archive.urls, folder / archive.name, _expected([archive]), patience=patience, fix=how)
    return Found(folder / archive.name, "archive")


def _expected(contents: Sequence[Content | Archive]) -> Expected:
    """Digests and, if every one is known, sizes."""
    sizes = [content.size for content in contents if content.size is not None]
    digests = [content.sha256 for content in contents if content.sha256 is not None]
    return Expected(tuple(digests), tuple(sizes) if len(sizes) == len(contents) else ())


def _bring(dataset: Source, file: DataFile, source: Found, target: Path) -> None:
    """Write the content of the located file to ``target``, if it passes its check."""
    if source.path == target:
        check(target, file)
        return
    with atomic_path(target) as partial:
        if source.kind == "archive":
            known = _check_archive(dataset.archive(str(file.archive)), source.path)
            extract(source.path, {str(file.member): partial})
            # A file from a known archive needs no separate digest.
            if known and not file.contents:
                return
        else:
            _unpack(source.path, partial, file)
        check(partial, file, origin=source.path, record=target)


def _unpack(source: Path, partial: Path, file: DataFile) -> None:
    """Copy and decompress, up to the largest size allowed."""
    largest = file.size or LARGEST_DOWNLOAD
    with opened(source, file.name) as handle, partial.open("wb") as target:
        for block in checked_blocks(handle, largest=largest, file=source):
            target.write(block)


def _check_archive(archive: Archive, path: Path) -> bool:
    """Whether ``path`` is the archive as published; an archive without a published digest is accepted."""
    if archive.sha256 is None:
        warnings.warn(f"{path}: no published digest of {archive.name} is known", stacklevel=4)
        return False
    digest = sha256(path)
    if digest != archive.sha256:
        raise InputError(
            f"not the archive that is known as {archive.name}",
            file=path,
            found=f"sha256 {digest}, {path.stat().st_size} bytes",
            fix=f"remove it and get it again; expected sha256 {archive.sha256}",
        )
    return True

"""The digest of every file in a folder, and the manifest of a run."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection
from fnmatch import fnmatchcase
from pathlib import Path

from qdrank.errors import InputError
from qdrank.store.atomic import write_text
from qdrank.store.digest import verify
from qdrank.store.machine import machine_record

# Written by the run, but not part of its results.
_NOT_RESULTS = {"manifest.json", "report.html", "report.zip", "ro-crate-metadata.json"}


def digests(folder: str | Path, timed: Collection[str] = (), passing: Collection[str] = ()) -> dict[str, str]:
    """Path below ``folder`` to digest, for every file; artifacts are checked against the digest they carry.

    ``timed`` are names of files, without suffix, that hold times: they differ from run to run and are left out.
    ``passing`` are patterns of files that a run deletes at its end, left out too.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise InputError("no such folder", file=folder, fix="run the workflow first, or give the folder of its results")
    files = sorted(p for p in folder.rglob("*") if p.is_file() and not p.name.startswith("."))
    kept = (p for p in files if p.name not in _NOT_RESULTS and p.stem not in timed)
    named = {str(p.relative_to(folder)): p for p in kept}
    return {name: digest(p) for name, p in named.items() if not any(fnmatchcase(name, one) for one in passing)}


def digest(path: Path) -> str:
    """Digest of one file: the one it carries, checked, if it is an artifact; else that of its bytes."""
    if path.suffix == ".parquet":
        return verify(path)
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def manifest_text(folder: str | Path, timed: Collection[str] = (), passing: Collection[str] = ()) -> str:
    """The manifest of a run as JSON: every file with its digest, one digest of them all, and the machine that wrote it.

    The machine is not part of the digest: runs on different machines can have the same one.
    """
    files = digests(folder, timed, passing)
    rows = "".join(f"{value}  {name}\n" for name, value in files.items())
    record = {"all": hashlib.sha256(rows.encode()).hexdigest(), "machine": machine_record(), "files": files}
    return json.dumps(record, indent=1) + "\n"


def write_manifest(path: str, *, timed: Collection[str], passing: Collection[str]) -> None:
    """Write the manifest of the folder that it is in."""
    write_text(path, manifest_text(Path(path).parent, timed, passing))


def _recorded(place: Path) -> dict[str, str]:
    """Files and digests of the manifest at ``place``."""
    try:
        files: dict[str, str] = dict(json.loads(place.read_text(encoding="utf-8"))["files"])
    except (ValueError, KeyError, TypeError):
        raise InputError("not a manifest", file=place, fix="delete it and run the workflow again") from None
    return files


def changed(folder: str | Path, timed: Collection[str] = ()) -> list[str]:
    """What differs from the manifest in ``folder``: one line per file that was changed, removed or added."""
    place = Path(folder) / "manifest.json"
    if not place.is_file():
        raise InputError("no manifest", file=place, fix="run the workflow to its end first")
    recorded, present = _recorded(place), digests(folder, timed)
    words = {(True, True): "changed", (True, False): "gone", (False, True): "not in the manifest"}
    names = sorted(name for name in {**recorded, **present} if recorded.get(name) != present.get(name))
    return [f"{name}: {words[name in recorded, name in present]}" for name in names]

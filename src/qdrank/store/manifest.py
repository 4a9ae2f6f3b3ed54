"""``qdrank digest``: the digest of every artifact in a folder, and the manifest of a run."""

from __future__ import annotations

import argparse
import hashlib
import json
from pathlib import Path

from qdrank.errors import InputError
from qdrank.store.digest import verify

# Written by the run, but about it rather than of it: times differ from run to run.
_NOT_RESULTS = {"manifest.json", "report.html", "report.zip"}
_TIMES = {"geng-table1"}


def digests(folder: str | Path) -> dict[str, str]:
    """Path below ``folder`` to digest, for every file; artifacts are checked against the digest they carry."""
    folder = Path(folder)
    if not folder.is_dir():
        raise InputError(
            "no such folder", file=folder, mend="run the workflow first, or give the folder of its results"
        )
    files = sorted(p for p in folder.rglob("*") if p.is_file() and not p.name.startswith("."))
    return {str(p.relative_to(folder)): digest(p) for p in files if p.name not in _NOT_RESULTS and p.stem not in _TIMES}


def digest(path: Path) -> str:
    """Digest of one file: the one it carries, checked, if it is an artifact; else that of its bytes."""
    if path.suffix == ".parquet":
        return verify(path)
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def manifest_text(folder: str | Path) -> str:
    """The manifest of a run as JSON: every file with its digest, and one digest of them all."""
    files = digests(folder)
    rows = "".join(f"{value}  {name}\n" for name, value in files.items())
    return json.dumps({"all": hashlib.sha256(rows.encode()).hexdigest(), "files": files}, indent=1) + "\n"


def changed(folder: str | Path) -> list[str]:
    """What differs from the manifest in ``folder``: one line a file that changed, is gone, or came after it."""
    place = Path(folder) / "manifest.json"
    if not place.is_file():
        raise InputError("no manifest", file=place, mend="run the workflow to its end first")
    recorded, found = json.loads(place.read_text(encoding="utf-8"))["files"], digests(folder)
    words = {(True, True): "changed", (True, False): "gone", (False, True): "not in the manifest"}
    names = sorted(name for name in {**recorded, **found} if recorded.get(name) != found.get(name))
    return [f"{name}: {words[name in recorded, name in found]}" for name in names]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.add_argument("folder", nargs="?", type=Path, default=Path("results"), help="default: results")
    parser.add_argument("--check", action="store_true", help="compare with the folder's manifest.json instead")


def run(args: argparse.Namespace) -> int:
    """Print one line a file, as sha256sum does; or, with ``--check``, one for each that is not as the run left it."""
    if args.check:
        faults = changed(args.folder)
        print("\n".join(faults) or "all files are as the run left them")
        if faults:
            print("  mend:  delete what changed and ask for it by name: snakemake --cores all FILE ...")
        return 1 if faults else 0
    for name, value in digests(args.folder).items():
        print(f"{value}  {name}")
    return 0

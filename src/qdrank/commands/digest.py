"""``qdrank digest``: the digest of every file in a folder of results."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path

from qdrank.store.manifest import changed, digests
from qdrank.studies import timed_outputs
from qdrank.workflow.recorded import command


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.add_argument("folder", nargs="?", type=Path, default=Path("results"), help="default: results")
    parser.add_argument("--check", action="store_true", help="compare with the folder's manifest.json instead")


def run(args: argparse.Namespace) -> int:
    """Print one line per file, as sha256sum does; with ``--check``, one per file that changed since the run."""
    if args.check:
        faults = changed(args.folder, timed_outputs())
        print("\n".join(faults) or "all files are as the run left them")
        if faults:
            print(f"  fix:   {_fix(args.folder, faults)}")
        return 1 if faults else 0
    for name, value in digests(args.folder, timed_outputs()).items():
        print(f"{value}  {name}")
    return 0


def _fix(results: Path, faults: list[str]) -> str:
    """Commands that delete what changed and make it again."""
    files = [results / fault.rpartition(": ")[0] for fault in faults]
    known = [path for path, fault in zip(files, faults, strict=True) if not fault.endswith("not in the manifest")]
    rows = [f"rm -f {shlex.join(map(str, files))}"]
    rows += [command(results, *(path.relative_to(results.parent) for path in known))] if known else []
    return "delete what differs, and make it again:\n         " + "\n         ".join(rows)

"""``qdrank doctor``: what on this machine would stop or slow a run, each with the fix."""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import NamedTuple

from qdrank.jobs import cores

GIGABYTE = 1 << 30
LEAST_MEMORY, LEAST_DISK = 2.0, 2.0


class Finding(NamedTuple):
    """What was checked, what was found, and the fix; ``fix`` is empty if all is well."""

    what: str
    found: str
    fix: str = ""
    stops: bool = False
    """Whether a run would fail."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.add_argument("--compile", action="store_true", help="compile the kernels now, if they are not")


def run(args: argparse.Namespace) -> int:
    """Print one line per finding; return 1 if a run would fail."""
    if args.compile and n_compiled() == 0:
        print("compiling the kernels (about 20 seconds, once for this version)", flush=True)
        _compile()
    checks = list(findings())
    for one in checks:
        mark = "ok  " if not one.fix else ("FAIL" if one.stops else "note")
        print(f"{mark}  {one.what:<10} {one.found}" + (f"\n      fix:       {one.fix}" if one.fix else ""))
    return 1 if any(one.stops for one in checks) else 0


def findings() -> Iterator[Finding]:
    """All findings, in order."""
    yield _python()
    yield _snakemake()
    yield Finding("cores", str(cores()))
    yield _memory()
    yield _disk(Path())
    yield _mirror(os.environ.get("QDRANK_MIRROR", ""))
    yield _kernels(n_compiled())
    yield _slurm(shutil.which("sinfo"))


def _python() -> Finding:
    known = (3, 11) <= sys.version_info < (3, 14)
    return Finding(
        "Python", platform.python_version(), "" if known else "use Python 3.11, 3.12 or 3.13", stops=not known
    )


def _snakemake() -> Finding:
    try:
        return Finding("Snakemake", version("snakemake"))
    except PackageNotFoundError:
        return Finding(
            "Snakemake", "not installed", "pip install 'qdrank[workflow]'; in a checkout: make setup", stops=True
        )


def _memory() -> Finding:
    size = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / GIGABYTE
    fix = "" if size >= LEAST_MEMORY else "use a machine with more memory, or run fewer jobs at once: --cores 1"
    return Finding("memory", f"{size:.1f} GB", fix)


def _disk(place: Path) -> Finding:
    free = shutil.disk_usage(place).free / GIGABYTE
    little = free < LEAST_DISK
    fix = "free some space, or run elsewhere: snakemake --cores all --directory FOLDER" if little else ""
    return Finding("disk", f"{free:.1f} GB free here", fix, stops=free < LEAST_DISK / 20)


def _mirror(named: str) -> Finding:
    if not named:
        return Finding(
            "mirror", "none (QDRANK_MIRROR is not set): data are downloaded, or put where `qdrank datasets` says"
        )
    if not Path(named).is_dir():
        return Finding("mirror", f"{named} is not a folder", "correct QDRANK_MIRROR, or unset it", stops=True)
    return Finding("mirror", named)


def n_compiled() -> int:
    """Number of compiled functions in the cache."""
    return sum(1 for _ in Path(os.environ["NUMBA_CACHE_DIR"]).rglob("*.nbc"))


def _compile() -> None:
    """Train once what nearly every study trains."""
    from qdrank.learners import LEARNERS

    LEARNERS["ranksvm"]().fit([[0.0], [1.0]], [0, 1], [0, 0])


def _kernels(compiled: int) -> Finding:
    fix = "" if compiled else "qdrank doctor --compile (else the first training takes about 20 seconds longer)"
    return Finding("kernels", f"{compiled} functions compiled" if compiled else "not compiled yet", fix)


def _slurm(sinfo: str | None) -> Finding:
    if sinfo is None:
        return Finding("SLURM", "none here: runs use the cores of this machine")
    try:
        asked = subprocess.run([sinfo, "-h"], capture_output=True, text=True, timeout=10, check=False)  # noqa: S603
        answer = asked.stderr.strip().splitlines()[0] if asked.returncode and asked.stderr.strip() else ""
        reached = asked.returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        reached, answer = False, "no answer within 10 seconds"
    if reached:
        return Finding("SLURM", "reachable: snakemake --workflow-profile workflow/profiles/slurm")
    return Finding(
        "SLURM",
        f"installed, but not reachable: {answer or 'sinfo said nothing'}",
        "ask sinfo; runs without SLURM are not affected",
    )

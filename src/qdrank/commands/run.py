"""``qdrank run``: the workflow from a configuration to the report, in any folder, with or without a checkout."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

from qdrank.errors import InputError
from qdrank.project import PROJECT
from qdrank.workflow.config_files import load_sources

_REPORT, _MANIFEST = "results/report.html", "results/manifest.json"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.add_argument(
        "config", nargs="*", type=Path, metavar="CONFIG", help="what differs from the default configuration"
    )
    parser.add_argument(
        "--directory", type=Path, default=Path(), metavar="FOLDER", help="where results go (default: here)"
    )
    parser.add_argument("--cores", default="all", metavar="N", help="cores to use (default: all)")
    parser.add_argument(
        "--target", action="append", default=[], metavar="NAME", help="a study, figure or file; repeatable"
    )
    parser.add_argument("--workflow-profile", metavar="FOLDER", help="a profile for a cluster; see docs/clusters.md")
    parser.add_argument("--dry-run", action="store_true", help="show what would be done")


def run(args: argparse.Namespace) -> int:
    """Run the workflow, then write the report where results changed; return Snakemake's exit code."""
    if find_spec("snakemake") is None:
        raise InputError("Snakemake is not installed", fix="pip install 'qdrank[workflow]'")
    load_sources(args.config)  # Snakemake would show a traceback
    common = [sys.executable, "-m", "snakemake", "--snakefile", str(PROJECT / "workflow" / "Snakefile")]
    common += ["--directory", str(args.directory)]
    common += ["--workflow-profile", args.workflow_profile] if args.workflow_profile else []
    config = ["--configfile", *map(str, args.config)] if args.config else []
    # On a terminal a bar and the time left; plain lines in a log.
    view = ["--logger", "qdrank"] if sys.stderr.isatty() and not args.dry_run else []
    dry = ["--dry-run"] if args.dry_run else []
    code = _called([*common, "--cores", args.cores, *view, *dry, *args.target, *config])
    if code or args.dry_run or args.target:
        return code
    return _report(args.directory, [*common, *config])


def _called(command: list[str], env: Mapping[str, str] | None = None) -> int:
    """Exit code of a command. After Ctrl-C, which it gets too, it ends its jobs in order: wait for that."""
    with subprocess.Popen(command, env=env) as child:  # noqa: S603
        while True:
            try:
                return child.wait()
            except KeyboardInterrupt:
                continue


def _report(folder: Path, command: list[str]) -> int:
    """Write the report, unless it is newer than the results."""
    report, manifest = folder / _REPORT, folder / _MANIFEST
    if report.exists() and report.stat().st_mtime > manifest.stat().st_mtime:
        print("Nothing changed since the last run; the report is up to date.")
    else:
        print(f"Writing {report} ...", flush=True)
        # Snakemake leaves a coroutine behind when it asks for the size of an input in a report; harmless, and noisy.
        quiet = {**os.environ, "PYTHONWARNINGS": "ignore::RuntimeWarning"}
        code = _called([*command, "--report", _REPORT, "--quiet", "all"], env=quiet)
        if code:
            return code
    print(f"Start here: {folder / 'results' / 'index.html'}. Every table and figure with its caption: {report}")
    return 0

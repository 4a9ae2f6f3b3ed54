"""``qdrank run``: the workflow from a configuration to the report, in any folder, with or without a checkout."""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

from qdrank.errors import InputError
from qdrank.project import PROJECT
from qdrank.workflow.config_files import load_sources
from qdrank.workflow.recorded import SHORT, options, recorded_files, recorded_options, without_short

_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_REPORT, _MANIFEST = "results/report.html", "results/manifest.json"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.add_argument(
        "config", nargs="*", type=Path, metavar="CONFIG", help="what differs from the default configuration"
    )
    parser.add_argument(
        "--directory", type=Path, default=Path(), metavar="FOLDER", help="where results go (default: here)"
    )
    parser.add_argument(
        "--all", action="store_true", help="all studies, where CONFIG names none (default: a short one)"
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
    files = _configuration(args)
    common = [sys.executable, "-m", "snakemake", "--snakefile", str(PROJECT / "workflow" / "Snakefile")]
    common += ["--directory", str(args.directory)]
    common += ["--workflow-profile", args.workflow_profile] if args.workflow_profile else []
    config = ["--configfile", *map(str, files)] if files else []
    # On a terminal a bar and the time left; plain lines in a log.
    view = ["--logger", "qdrank"] if sys.stderr.isatty() and not args.dry_run else []
    dry = ["--dry-run"] if args.dry_run else []
    # Targets before the view, whose option takes every word after it.
    code = _called([*common, "--cores", args.cores, *args.target, *view, *dry, *config])
    if code or args.dry_run or args.target:
        return code
    return _report(args.directory, [*common, *config])


def _configuration(args: argparse.Namespace) -> list[Path]:
    """Configuration files of the run: those given, on top of the short study unless they name studies or ``--all`` is given.

    Without any, a run goes on with the configuration of its folder, and a folder begun with all studies stays with them.
    """
    folder, given = args.directory, list(args.config)
    names_studies = any("studies" in values for _, values in load_sources(given))
    begun = recorded_options(folder / "results")
    if args.all and not given:
        begun_with = without_short(recorded_files(folder / "results"))
        return [folder / file for file in begun_with] or [PROJECT / "config" / "config.yaml"]
    goes_on = begun is not None and begun == options([os.path.relpath(file, folder) for file in given])
    if args.all or names_studies or goes_on or (begun and not given):
        return given
    print("qdrank: the short study; with --all all studies, in the same folder", file=sys.stderr, flush=True)
    return [SHORT, *given]


def _called(command: list[str], env: Mapping[str, str] | None = None) -> int:
    """Exit code of a command, which is ended with all its jobs when this process is to end.

    It has a process group of its own, so that Ctrl-C on a terminal reaches it once, from here. It gets SIGTERM whatever
    the signal was, at which jobs end without a traceback.
    """
    children: list[subprocess.Popen[bytes]] = []
    stopped: list[int] = []

    def end(number: int, _: object) -> None:
        stopped.append(number)
        _to_group(children, signal.SIGTERM)

    def pause(_number: int, _: object) -> None:
        _to_group(children, signal.SIGSTOP)
        os.kill(os.getpid(), signal.SIGSTOP)  # until `fg`
        _to_group(children, signal.SIGCONT)

    handlers = {number: end for number in _ENDING if number != signal.SIGHUP or not _outlives_terminal()}
    before = {number: signal.signal(number, what) for number, what in {**handlers, signal.SIGTSTP: pause}.items()}
    try:
        with subprocess.Popen(command, env=env, process_group=0) as child:  # noqa: S603
            children.append(child)
            if stopped:
                _to_group(children, signal.SIGTERM)
            code = child.wait()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if stopped and code < 0:  # too early to say it itself
        print("qdrank: stopped; the same command goes on", file=sys.stderr)
    return 128 + stopped[0] if stopped else code


def _to_group(children: list[subprocess.Popen[bytes]], number: int) -> None:
    for child in children:
        with suppress(ProcessLookupError):
            os.killpg(child.pid, number)


def _outlives_terminal() -> bool:
    """Whether it was started with nohup."""
    return signal.getsignal(signal.SIGHUP) == signal.SIG_IGN


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

"""From Snakemake's workflow to a run: the configuration checked, the data sets planned, the environment of the jobs."""

from __future__ import annotations

import atexit
import gc
import os
import shlex
import signal
import sys
import tomllib
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

import yaml
from snakemake.exceptions import WorkflowError
from snakemake.logging import logger

from qdrank import __version__
from qdrank.errors import QdrankError
from qdrank.jobs import MISTAKES, SAID_LAST, prepare_environment
from qdrank.project import PROJECT, SOURCE
from qdrank.registry import did_you_mean
from qdrank.workflow.config_files import layered, load_sources, located, merged, resolve
from qdrank.workflow.plan import plan, shards_of
from qdrank.workflow.recorded import (
    options,
    record_configuration,
    recorded_files,
    refuse_other_configuration,
    seen_from,
    started_in,
    words_from,
)
from qdrank.workflow.run import WorkflowRun

_RECORDED_SHARDS = Path(".snakemake", "shards")
_RESULTS = Path("results")
#: What a job takes on one of two cores, with the simulated web: 49 jobs in some 180 s.
_SECONDS_OF_A_JOB = 7.0


def start(workflow: Any, config: dict[str, Any]) -> WorkflowRun:
    """The run that Snakemake's ``workflow`` is about to plan, with the values of its configuration.

    Without a configuration file, a run continues with the one that the results in its folder were made with: ``config``
    is updated.

    Raises
    ------
    SystemExit
        In words, if the configuration has faults or a data set is not available.
    WorkflowError
        If there is no core to run on, or the library is of another version.
    """
    # Snakemake would wait for a core forever.
    if workflow.resource_settings.cores == 0:
        raise WorkflowError("--cores 0 leaves no core to run on; use --cores all, or the number of cores")
    _refuse_other_version(workflow)
    if workflow.is_main_process:
        _end_in_words()
        atexit.register(_name_near_targets, workflow)
    prepare_environment(SOURCE)
    # All objects of a large graph of jobs are in use: looking for garbage among them took a sixth of the planning time.
    gc.set_threshold(500_000, 20, 100)
    default = PROJECT / "config" / "config.yaml"
    typed = _given(workflow)
    given = [file for file in typed if file != default]
    try:
        if not typed and (given := recorded_files(_RESULTS)):
            config.update(_continued(workflow, given))
        # Another workflow that uses this one as a module with a `config:` of its own does not get ours, by Snakemake's rule.
        sources = [] if workflow.modifier.skip_configfile else load_sources([default])
        named = [*sources, *load_sources(given), ("--config", workflow.config_settings.config)]
        settings = resolve(merged([*sources, ("", config)]), named)
        # A relative path to the user's own data is searched for here, beside the configuration file, and in the
        # project.
        with located(named):
            planned = plan(settings, [*(file.parent for file in given), PROJECT])
    except QdrankError as error:
        _stop(workflow, error)
    resources = workflow.resource_settings
    # A job that parses the workflow where no record is gets the number as `scattered` passes it on.
    given_shards = resources.overwrite_scatter.get("local")
    run = WorkflowRun(
        settings,
        planned,
        config_files=[os.path.relpath(file) for file in given],
        values=dict(workflow.config_settings.config),
        # By now Snakemake is in the folder of the run, but users type printed commands where they typed this one.
        started_in=started_in(workflow.overwrite_workdir),
        shards=given_shards or shards_of(settings, planned, resources.cores or resources.nodes or 1, _RECORDED_SHARDS),
        cores=resources.cores,
    )
    try:
        run.refuse_leaks()
        if workflow.output_settings.dryrun:  # which ends before `on_start`
            refuse_other_configuration(_RESULTS, run.config_files, run.started_in)
    except QdrankError as error:
        _stop(workflow, error)
    return run


def _stop(workflow: Any, error: QdrankError) -> NoReturn:
    """End the planning with our words as the last that is said: Snakemake would put the places in its files below them."""
    print(f"\nqdrank: {words_from(started_in(workflow.overwrite_workdir), str(error))}", file=sys.stderr)
    raise SystemExit(1)


def _refuse_other_version(workflow: Any) -> None:
    """Rules that Snakemake reads from a repository must be those of the installed library."""
    folder = workflow.current_basedir
    if folder.is_local:
        return
    with workflow.sourcecache.open(folder.join("../../pyproject.toml"), "r") as file:
        version = tomllib.loads(file.read())["project"]["version"]
    if version != __version__:
        problem = f"the workflow read from {folder} is version {version}, the installed library is {__version__}"
        raise WorkflowError(
            f"{problem}\n  fix: pip install 'qdrank[workflow]=={version}', or name the tag of version {__version__}"
        )


def _given(workflow: Any) -> list[Path]:
    """Configuration files, those of a Snakefile before those of the command line, which override them."""
    typed, every = (
        [Path(file).absolute() for file in files] for files in (workflow.overwrite_configfiles, workflow.configfiles)
    )
    return [*(file for file in every if file not in typed), *typed]


def _continued(workflow: Any, files: Sequence[Path]) -> dict[str, Any]:
    """Values of the configuration that the results were begun with, below those of the command line."""
    if workflow.is_main_process:
        start = started_in(workflow.overwrite_workdir)
        named = shlex.join(seen_from(start, file) for file in files)
        logger.info(f"{seen_from(start, _RESULTS)} was begun with --configfile {named}; this run goes on with it.")
    return layered([*load_sources(files), ("--config", workflow.config_settings.overwrite_config)])


def on_start(workflow: Any, run: WorkflowRun) -> None:
    """Stop a run in the results of another configuration; else record the configuration and the number of shards.

    A folder of results belongs to one configuration from its first job on, whatever the target.
    """
    expect_mistakes()
    _end_in_words()  # Snakemake's scheduler has a handler of its own by now
    if jobs := sum(1 for _ in workflow.dag.needrun_jobs()):
        try:
            refuse_other_configuration(_RESULTS, run.config_files, run.started_in)
        except QdrankError as error:
            # Last, below the places in our files that Snakemake adds.
            atexit.register(print, f"\nqdrank: {error}", file=sys.stderr)
            raise WorkflowError("these results belong to another run; see below") from None
        settings = yaml.safe_dump(run.settings.model_dump(mode="json"), sort_keys=False)
        record_configuration(_RESULTS, run.config_files, settings)
        print(_announced(workflow, run, jobs), file=sys.stderr, flush=True)
    _RECORDED_SHARDS.parent.mkdir(exist_ok=True)
    _RECORDED_SHARDS.write_text(f"{run.shards}\n")


def _announced(workflow: Any, run: WorkflowRun, jobs: int) -> str:
    """How much a run is, and with which configuration."""
    words = f"qdrank: {jobs} jobs with {options([seen_from(run.started_in, file) for file in run.config_files])}"
    if not workflow.local_exec:
        return words
    cores = workflow.resource_settings.cores or 1
    minutes = max(1, round(jobs * _SECONDS_OF_A_JOB / cores / 60))
    of = "core" if cores == 1 else "cores"
    return f"{words}\n        about {minutes} min on {cores} {of} for 900 queries of 100 documents"


def _end_in_words() -> None:
    """Let Ctrl-C and `kill` end the run with one sentence, not with all that Snakemake says of each job that was ended."""
    with suppress(ValueError):  # not in the main thread, where Snakemake is used as a library
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, _ended)


def _ended(number: int, _: object) -> NoReturn:
    if not logger.disabled:
        logger.disabled = True
        atexit.register(print, "\nqdrank: stopped; the same command goes on", file=sys.stderr)
    raise SystemExit(128 + number)  # Snakemake cancels its jobs, and takes its lock away


def _name_near_targets(workflow: Any) -> None:
    """Say which target is near one that nothing makes."""
    asked = workflow.dag_settings.targets if workflow.dag_settings else ()
    for target in asked:
        if os.sep not in target and not any(target == rule.name or rule.is_producer(target) for rule in workflow.rules):
            targets = [rule.name for rule in workflow.rules if not rule.has_wildcards()]
            print(f"\nqdrank: nothing makes {target}; {did_you_mean(target, targets)}", file=sys.stderr)


def expect_mistakes() -> None:
    """A run begins: forget what jobs of an earlier one said, and let jobs of this one leave the saying to its end."""
    for file in MISTAKES.iterdir() if MISTAKES.is_dir() else ():
        file.unlink()
    os.environ[SAID_LAST] = "1"


def last_words(start: str | os.PathLike[str] = os.curdir) -> str:
    """What the failed jobs said, each thing once, however many said it; empty if none did.

    Paths in the folder of the run are shown as seen from ``start``.
    """
    logs: dict[str, list[str]] = {}
    for file in MISTAKES.iterdir() if MISTAKES.is_dir() else ():
        log, _, words = file.read_text(encoding="utf-8").partition("\n")
        logs.setdefault(words, []).append(seen_from(start, log))
    return "".join(
        f"\nqdrank: {words_from(start, words)}\n  log:   {_first(sorted(logs[words]))}\n" for words in sorted(logs)
    )


def _first(logs: list[str]) -> str:
    return logs[0] if len(logs) == 1 else f"{logs[0]}, and {len(logs) - 1} more that say the same"

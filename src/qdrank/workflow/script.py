"""What a job of the workflow does: the function that its rule names as ``call``, with what the function takes, and what surrounds it.

A rule's params are the function's further arguments. Three have a meaning of their own: ``call``; ``arguments``, several of them
that depend on the wildcards; and ``looked_up``, names that the function looks up and does not take, so that the job's digest covers
them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from inspect import signature
from typing import Any

from qdrank import jobs
from qdrank.registry import loaded, restricted


@dataclass(frozen=True)
class Job:
    """A job as its script sees it.

    Attributes
    ----------
    files : input files by name; a list where a name stands for several
    inputs : all input files in order
    out : output files by name; a list where a job makes one of each fold
    outputs : all output files in order
    params : the params of the rule
    wildcards : values of the wildcards
    config : the configuration; what is taken from it must not change the result, since no rerun follows it
    log : adds a line to the log, as `logging.info` does
    """

    files: dict[str, Any]
    inputs: list[str]
    out: dict[str, Any]
    outputs: list[str]
    params: dict[str, Any]
    wildcards: dict[str, str]
    config: dict[str, Any]
    log: Callable[..., None]

    def given(self) -> dict[str, Any]:
        """What a function may take besides the params, by the name of its argument: ``path`` is the first output."""
        names = ("files", "inputs", "out", "shard", "config", "log")
        return {**self.wildcards, "path": self.outputs[0], **{name: getattr(self, name) for name in names}}

    @property
    def folds(self) -> Iterator[Job]:
        """The job of each fold that this one has, with that fold's files and those that belong to no fold."""
        data = f"results/{self.wildcards['dataset']}/"  # further up is the folder of the run, or a storage
        for fold in dict.fromkeys(path.rpartition(data)[2].partition("/")[0] for path in self.outputs):
            folder = f"{data}{fold}/"
            yield replace(
                self,
                files=_of_fold(self.files, folder),
                out=_of_fold(self.out, folder),
                outputs=[path for path in self.outputs if folder in path],
                wildcards={**self.wildcards, "fold": fold},
            )

    @property
    def shard(self) -> tuple[int, int]:
        """Number of the shard, from 0, and how many there are; (0, 1) for work that is not divided."""
        number, shards = map(int, self.wildcards.get("scatteritem", "1-of-1").split("-of-"))
        return number - 1, shards


def run_job() -> None:
    """Run the job whose script is running: its function, with its log and threads; allow only code that its digest covers."""
    main = sys.modules["__main__"]
    given: Any = main.__dict__["snakemake"]  # put there by Snakemake
    params = {name: value for name, value in given.params.items() if name != "code"}

    @cache
    def known() -> frozenset[str]:
        from qdrank.workflow.provenance import code_modules

        return code_modules(params)

    with jobs.job(given.log[0], given.threads) as log, restricted(known):
        do(
            Job(
                files=_by_name(given.input),
                inputs=[str(file) for file in given.input],
                out=_by_name(given.output),
                outputs=[str(file) for file in given.output],
                params=params,
                wildcards=dict(given.wildcards.items()),
                config=given.config,
                log=log.info,
            )
        )


def do(job: Job) -> None:
    """Call the function of a job, for each of its folds if it takes a fold and the job has several."""
    params = {name: value for name, value in job.params.items() if name not in ("call", "arguments", "looked_up")}
    params |= job.params.get("arguments", {})
    work = loaded(job.params["call"])
    takes = signature(work).parameters
    by_fold = "fold" in takes and "fold" not in {**params, **job.wildcards}
    for one in job.folds if by_fold else [job]:
        try:
            work(**{name: value for name, value in one.given().items() if name in takes} | params)
        except Exception as error:
            error.add_note(f"in {job.params['call']}, for {one.outputs[0]}")
            raise


def _by_name(files: Any) -> dict[str, Any]:
    return {name: str(file) if isinstance(file, str) else list(map(str, file)) for name, file in files.items()}


def _of_fold(files: dict[str, Any], folder: str) -> dict[str, Any]:
    """The files of one fold, in its ``folder``, of names that have a file per fold; a list of one becomes that file."""
    chosen = {
        name: [path for path in paths if folder in path] for name, paths in files.items() if isinstance(paths, list)
    }
    return files | {name: paths[0] if len(paths) == 1 else paths for name, paths in chosen.items()}

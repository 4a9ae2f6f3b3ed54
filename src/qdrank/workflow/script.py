"""What a script of the workflow is given, with types, and what surrounds its work.

A script is one call of one function of the library::

    with job() as this:
        write_scores(this.files, this.out, this.fold, log=this.log, **this.params)

A job that may have several folds makes that call for each of them: ``for one in this.folds``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from qdrank import jobs
from qdrank.registry import restricted


@dataclass(frozen=True)
class Job:
    """A job as its script sees it.

    Attributes
    ----------
    files : input files by name; a list where a name stands for several
    inputs : all input files in order
    out : output files by name; a list where a job makes one of each fold
    outputs : all output files in order
    params : the params of the rule: arguments of the function that does the work
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

    @property
    def path(self) -> str:
        """The first output, for jobs that make one file."""
        return self.outputs[0]

    @property
    def dataset(self) -> str:
        """Name of the data set."""
        return self.wildcards["dataset"]

    @property
    def fold(self) -> str:
        """Name of the fold."""
        return self.wildcards["fold"]

    @property
    def folds(self) -> Iterator[Job]:
        """The job of each fold that this one has, with that fold's files and those that belong to no fold."""
        data = f"results/{self.dataset}/"  # further up is the folder of the run, or a storage
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


@contextmanager
def job() -> Iterator[Job]:
    """Run the work of a job with its log and threads; explain errors, and allow only code that its digest covers."""
    main = sys.modules["__main__"]
    given: Any = main.__dict__["snakemake"]  # put there by Snakemake
    params = {name: value for name, value in given.params.items() if name != "code"}

    @cache
    def known() -> frozenset[str]:
        from qdrank.workflow.provenance import code_modules

        return code_modules(Path(str(main.__file__)), params)

    with jobs.job(given.log[0], given.threads) as log, restricted(known):
        yield Job(
            files=_by_name(given.input),
            inputs=[str(file) for file in given.input],
            out=_by_name(given.output),
            outputs=[str(file) for file in given.output],
            params=params,
            wildcards=dict(given.wildcards.items()),
            config=given.config,
            log=log.info,
        )


def _by_name(files: Any) -> dict[str, Any]:
    return {name: str(file) if isinstance(file, str) else list(map(str, file)) for name, file in files.items()}


def _of_fold(files: dict[str, Any], folder: str) -> dict[str, Any]:
    """The files of one fold, in its ``folder``, of names that have a file per fold; a list of one becomes that file."""
    chosen = {
        name: [path for path in paths if folder in path] for name, paths in files.items() if isinstance(paths, list)
    }
    return files | {name: paths[0] if len(paths) == 1 else paths for name, paths in chosen.items()}

"""What the functions of a study that make figures, tables and evidence are given.

draw(inputs, shown) -> (figure, numbers behind it)
tabulate(inputs, shown) -> tables by id
evidence(inputs, shown) -> parts by claim
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from qdrank.store import read
from qdrank.store.schemas import ArtifactKind


@dataclass(frozen=True)
class Inputs:
    """Files of a job by the names under which the study asked for them."""

    files: Mapping[str, Sequence[str]]

    def path(self, name: str) -> Path:
        """The one file of a name."""
        (file,) = self.files[name]
        return Path(file)

    def tables(self, name: str, shape: ArtifactKind) -> list[pa.Table]:
        """The artifacts of a name, one per file: mostly one per fold."""
        return [read(file, shape) for file in self.files[name]]

    def table(self, name: str, shape: ArtifactKind) -> pa.Table:
        """The artifacts of a name as one table."""
        return pa.concat_tables(self.tables(name, shape))


@dataclass(frozen=True)
class Shown:
    """How results are shown.

    Attributes
    ----------
    dataset, title : its name, and how it is called
    folds : names of the folds
    interval : level, resamples and seed of the bootstrap
    options : the keys of the configuration that were asked for, by their last part
    """

    dataset: str
    title: str
    folds: Sequence[str]
    interval: Mapping[str, Any]
    options: Mapping[str, Any]


def from_job(job: Any) -> tuple[Inputs, Shown]:
    """What a job of the workflow (its ``snakemake`` object) gives to such a function."""
    files = {name: [path] if isinstance(path, str) else list(path) for name, path in job.input.items()}
    params = job.params
    return Inputs(files), Shown(job.wildcards.dataset, params.title, params.folds, params.interval, params.options)

"""Arguments of the study functions that make figures, tables and observations.

draw(inputs, shown) -> (figure, numbers behind it)
tabulate(inputs, shown) -> tables by id
gather(inputs, shown) -> measures of methods, and contrasts by claim that are no difference of two methods
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from qdrank.registry import loaded
from qdrank.store import read
from qdrank.store.schemas import ArtifactKind

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Inputs:
    """Input files of a job, by the names that the study gives them."""

    files: Mapping[str, Sequence[str]]

    def path(self, name: str) -> Path:
        """The only file under a name."""
        (file,) = self.files[name]
        return Path(file)

    def tables(self, name: str, shape: ArtifactKind) -> list[pa.Table]:
        """The artifacts under a name, one per file and usually one per fold."""
        return [read(file, shape) for file in self.files[name]]

    def table(self, name: str, shape: ArtifactKind) -> pa.Table:
        """The artifacts under a name as one table."""
        return pa.concat_tables(self.tables(name, shape))

    def frame(self, name: str, shape: ArtifactKind) -> pd.DataFrame:
        """The artifacts under a name as one frame."""
        frame: pd.DataFrame = self.table(name, shape).to_pandas()
        return frame


@dataclass(frozen=True)
class Shown:
    """How results are shown.

    Attributes
    ----------
    dataset, title : name and title of the data set
    folds : names of the folds
    interval : level, resamples and seed of the bootstrap
    options : the requested keys of the configuration, by their last part
    """

    dataset: str
    title: str
    folds: Sequence[str]
    interval: Mapping[str, Any]
    options: Mapping[str, Any]


def made(make: str, files: Mapping[str, str | Sequence[str]], shown: Shown) -> Any:
    """What the function ``make``, a ``"module:attribute"``, gives for the input ``files`` of a job."""
    return loaded(make)(
        Inputs({name: [path] if isinstance(path, str) else path for name, path in files.items()}), shown
    )

"""What a run made, read back as pandas DataFrames: ``qdrank.results("results")``."""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from qdrank.errors import InputError
from qdrank.registry import did_you_mean
from qdrank.store import read

if TYPE_CHECKING:
    import pandas as pd


def results(folder: str | PathLike[str] = "results") -> Results:
    """The results in ``folder``, where a run has finished or is under way."""
    return Results(folder)


class Results:
    """Claims, measures, scores, choices and tables of a run; each is read, and its digest checked, on access.

    Where a run has several data sets, every frame has a column ``dataset``, and ``dataset=`` asks for one of them.

    ``folder``: the folder that a run writes to, ``results`` unless ``--directory`` named another.
    """

    def __init__(self, folder: str | PathLike[str] = "results") -> None:
        self.folder = Path(folder)
        if not self.datasets:
            raise InputError(
                "here are no results of a run",
                file=self.folder,
                fix="give the folder results/ of a run, or run `make run`",
            )

    def __repr__(self) -> str:
        return f"Results({str(self.folder)!r}): {', '.join(self.datasets)}"

    @property
    def datasets(self) -> list[str]:
        """Names of the data sets."""
        return sorted(path.parent.name for path in self.folder.glob("*/judged.parquet"))

    @property
    def methods(self) -> list[str]:
        """Names of the methods that have scores."""
        return sorted({path.stem for path in self._paths("*/*/scores/*.parquet")})

    @property
    def tables(self) -> list[str]:
        """Names of the tables."""
        return sorted({path.stem for path in self._paths("*/tables/*.parquet")})

    @property
    def figures(self) -> list[str]:
        """Names of the figures whose numbers are kept."""
        return sorted({path.stem for path in self._paths("*/figures/*.parquet")})

    def claims(self) -> pd.DataFrame:
        """Every claim of the papers on every data set: what was expected, what was measured, the verdict."""
        return self._joined([self.folder / "claims.parquet"], "verdicts", named=False)

    def measures(self, dataset: str | None = None, *, fits: bool = False) -> pd.DataFrame:
        """Every measure of every query under every method: one row per fold, method and query.

        Methods that draw at random are fitted several times, and claims are about the mean over their fits: so are these rows.
        With ``fits`` every fit has a row of its own.
        """
        rows = self._joined(self._paths("*/measures.parquet", dataset), "measures")
        if fits:
            return rows
        keys = ["dataset", "fold", "method", "query_id"]
        return rows.drop(columns="fit").groupby(keys, sort=False, as_index=False).mean()

    def choices(self, dataset: str | None = None) -> pd.DataFrame:
        """Settings that were tried on validation, their values, and which were chosen."""
        paths = [*self._paths("*/*/choices/*.parquet", dataset), *self._paths("*/*/**/choices.parquet", dataset)]
        return self._joined(paths, "choices")

    def scores(self, method: str, dataset: str | None = None) -> pd.DataFrame:
        """Scores of a method: one row per fold, query and document."""
        paths = self._paths(f"*/*/scores/{method}.parquet", dataset) if method in self.methods else []
        if not paths:
            raise InputError(
                f"there are no scores of {method!r}", file=self.folder, fix=did_you_mean(method, self.methods)
            )
        return self._joined(paths, "scores", fold=True)

    def table(self, name: str, dataset: str | None = None) -> pd.DataFrame:
        """The numbers of a table, as its CSV has them."""
        return self._shown("tables", "table", name, dataset)

    def figure(self, name: str, dataset: str | None = None) -> pd.DataFrame:
        """The numbers behind a figure."""
        return self._shown("figures", "figure", name, dataset)

    def _shown(self, folder: str, kind: str, name: str, dataset: str | None) -> pd.DataFrame:
        known = self.tables if kind == "table" else self.figures
        paths = self._paths(f"*/{folder}/{name}.parquet", dataset) if name in known else []
        if not paths:
            raise InputError(f"there is no {kind} {name!r}", file=self.folder, fix=did_you_mean(name, known))
        return self._joined(paths, kind)

    def _paths(self, pattern: str, dataset: str | None = None) -> list[Path]:
        if dataset is not None and dataset not in self.datasets:
            fix = did_you_mean(dataset, self.datasets)
            raise InputError(f"there is no data set {dataset!r}", file=self.folder, fix=fix)
        return sorted(path for path in self.folder.glob(pattern) if dataset in (None, self._dataset(path)))

    def _dataset(self, path: Path) -> str:
        return path.relative_to(self.folder).parts[0]

    def _joined(self, paths: Iterable[Path], kind: str, *, named: bool = True, fold: bool = False) -> pd.DataFrame:
        """Artifacts of one kind stacked, with the data set of each, and its fold where the rows do not say it."""
        import pandas as pd

        frames: list[pd.DataFrame] = []
        for path in paths:
            if not path.exists():
                raise InputError("the run has not made this yet", file=path, fix="finish the run first")
            frame = read(path, kind).to_pandas()
            if fold:
                frame.insert(0, "fold", path.relative_to(self.folder).parts[1])
            if named:
                frame.insert(0, "dataset", self._dataset(path))
            frames.append(frame)
        if not frames:
            raise InputError(f"the run has made no {kind} yet", file=self.folder, fix="finish the run first")
        joined: pd.DataFrame = pd.concat(frames, ignore_index=True)
        return joined

"""The jobs that make figures, tables and verdicts of a study, and the arguments of the functions that they call.

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
import pyarrow.compute as pc

from qdrank.evaluation.deciding import decide
from qdrank.evaluation.values import load_observations, observations_table
from qdrank.figures.style import add_to_title, save_figure
from qdrank.figures.tables import write_table, write_tables
from qdrank.figures.verdicts import FOLDED, readable
from qdrank.registry import loaded
from qdrank.store import read, table_of, write
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


def without_intervals(numbers: pa.Table) -> bool:
    """Whether a figure has intervals by its numbers, and none of them could be drawn (`qdrank.evaluation.intervals`)."""
    ends = [numbers.column(name) for name in numbers.column_names if name == "low" or name.endswith("_low")]
    lacks = "lacks" in numbers.column_names  # such a figure says itself what is missing
    return bool(ends) and not lacks and all(pc.all(pc.is_null(end, nan_is_null=True)).as_py() for end in ends)


def draw_figures(
    files: Mapping[str, Any], out: Mapping[str, str], dataset: str, *, makes: Sequence[str], dpi: int, **shown: Any
) -> None:
    """Write the figure that each of ``makes`` draws, and the numbers behind it; ``shown`` as in `Shown`.

    Files of the first are named ``f0_svg`` and so on.
    """
    for place, make in enumerate(makes):
        figure, numbers = made(make, files, Shown(dataset, **shown))
        forms = {name.partition("_")[2]: path for name, path in out.items() if name.startswith(f"f{place}_")}
        numbers = table_of(numbers)
        write(forms.pop("parquet"), "figure", numbers)
        if without_intervals(numbers):
            add_to_title(figure, "no intervals: too few queries, or too few that differ")
        save_figure(figure, forms, dpi=dpi)


def make_tables(
    files: Mapping[str, Any],
    out: Mapping[str, str],
    dataset: str,
    *,
    make: str,
    titles: Mapping[str, str],
    **shown: Any,
) -> None:
    """Write the tables that ``make`` computes, each with its title; ``shown`` as in `Shown`."""
    tables = made(make, files, Shown(dataset, **shown))
    named = enumerate(titles.items())
    write_tables({f"t{place}": (tables[id_], f"{shown['title']}: {title}") for place, (id_, title) in named}, out)


def gather_observations(
    files: Mapping[str, Any],
    out: Mapping[str, str],
    dataset: str,
    *,
    make: str,
    claims: str,
    budget: Mapping[str, Any],
    world: str,
    **shown: Any,
) -> None:
    """Write the observations of claims, and the verdicts on them.

    ``files["sources"]`` has the artifact ``topics`` where folds are by source. ``claims`` declares them with ``budget``, ``make``
    gathers what decides them; ``world`` names a simulated data set, ``shown`` is as in `Shown`.
    """
    declaration = loaded(claims)(budget)
    source: dict[str, str] = {}
    for topics in files["sources"]:
        table = read(topics, "topics")
        source = dict(zip(table.column("query_id").to_pylist(), table.column("source").to_pylist(), strict=True))
    values, own = made(make, files, Shown(dataset, **shown))
    observations = observations_table(own, values, declaration, source)
    write(out["observations"], "observations", observations)
    decided = {dataset: load_observations(observations, declaration)}
    table = decide(declaration, decided, dataset=dataset, world=world)
    forms = {form: path for form, path in out.items() if form != "observations"}
    title = f"{shown['title']}: claims of {declaration.paper}"
    write_table(readable(table), forms, title=title, folded=[*FOLDED, "data set", "paper"])

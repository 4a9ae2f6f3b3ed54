"""The job that draws a figure of a study."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from qdrank.figures.style import add_to_title, save_figure
from qdrank.store import write
from qdrank.studies.making import Shown, made


def without_intervals(numbers: pa.Table) -> bool:
    """Whether a figure has intervals by its numbers, and none of them could be drawn (`qdrank.evaluation.guard`)."""
    ends = [numbers.column(name) for name in numbers.column_names if name == "low" or name.endswith("_low")]
    lacks = "lacks" in numbers.column_names  # such a figure says itself what is missing
    return bool(ends) and not lacks and all(pc.all(pc.is_null(end, nan_is_null=True)).as_py() for end in ends)


def draw_figure(
    files: Mapping[str, Any], out: Mapping[str, str], dataset: str, *, make: str, dpi: int, **shown: Any
) -> None:
    """Write the figure that ``make`` draws, and the numbers behind it; ``shown`` as in `Shown`."""
    figure, numbers = made(make, files, Shown(dataset, **shown))
    write(out["parquet"], "figure", numbers)
    if without_intervals(numbers):
        add_to_title(figure, "no intervals: too few queries, or too few that differ")
    save_figure(figure, {form: path for form, path in out.items() if form != "parquet"}, dpi=dpi)

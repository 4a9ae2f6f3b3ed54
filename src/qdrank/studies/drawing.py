"""The job that draws figures of a study."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from qdrank.figures.style import add_to_title, save_figure
from qdrank.store import table_of, write
from qdrank.studies.making import Shown, made


def without_intervals(numbers: pa.Table) -> bool:
    """Whether a figure has intervals by its numbers, and none of them could be drawn (`qdrank.evaluation.intervals`)."""
    ends = [numbers.column(name) for name in numbers.column_names if name == "low" or name.endswith("_low")]
    lacks = "lacks" in numbers.column_names  # such a figure says itself what is missing
    return bool(ends) and not lacks and all(pc.all(pc.is_null(end, nan_is_null=True)).as_py() for end in ends)


def draw_figures(
    files: Mapping[str, Any],
    out: Mapping[str, str],
    dataset: str,
    *,
    makes: Sequence[str],
    dpi: int,
    **shown: Any,
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

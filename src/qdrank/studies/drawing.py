"""The job that draws a figure of a study."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from qdrank.figures.style import save_figure
from qdrank.store import write
from qdrank.studies.making import Shown, made


def draw_figure(
    files: Mapping[str, Any], out: Mapping[str, str], dataset: str, *, make: str, dpi: int, **shown: Any
) -> None:
    """Write the figure that ``make`` draws, and the numbers behind it; ``shown`` as in `Shown`."""
    figure, numbers = made(make, files, Shown(dataset, **shown))
    write(out["parquet"], "figure", numbers)
    save_figure(figure, {form: path for form, path in out.items() if form != "parquet"}, dpi=dpi)

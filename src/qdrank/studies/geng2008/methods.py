"""What the figures of Geng 2008 share: the names of the methods, their colours and marks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from qdrank.figures.style import COLOURS, MARKERS, save_figure
from qdrank.store import write

BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, BLACK, GREY = COLOURS


@dataclass(frozen=True)
class Look:
    """How a method is shown."""

    label: str
    colour: str
    marker: str

    @property
    def marked(self) -> dict[str, Any]:
        """Options of a line with markers."""
        return {"color": self.colour, "marker": self.marker, "label": self.label}


LOOKS = {
    "knn-online": Look("KNN Online", BLUE, MARKERS[0]),
    "knn-offline1": Look("KNN Offline-1", VERMILION, MARKERS[1]),
    "knn-offline2": Look("KNN Offline-2", GREEN, MARKERS[2]),
    "single": Look("Single", BLACK, MARKERS[3]),
    "qc": Look("QC", PURPLE, MARKERS[4]),
    "single-equal": Look("Single, equal query weights", GREY, MARKERS[3]),
    "knn-equal": Look("KNN Online, equal query weights", SKY, MARKERS[0]),
    "knn-random": Look("random queries for neighbours", ORANGE, MARKERS[5]),
    "lambdamart": Look("LambdaMART", GREEN, MARKERS[6]),
    "reference": Look("reference feature alone", PURPLE, MARKERS[7]),
}
#: The five methods of the paper, and what the paper lacks.
PAPER = ("knn-online", "knn-offline1", "knn-offline2", "single", "qc")
KNN = PAPER[:3]


def controls(methods: list[str]) -> list[str]:
    """Controls that were run, in the order of ``LOOKS``."""
    return [method for method in LOOKS if method in methods and method not in PAPER]


def finish(figure: Any, numbers: pa.Table, paths: Mapping[str, str | Path], dpi: int) -> None:
    """Write the numbers behind a figure, and the figure in its formats."""
    write(paths["parquet"], "figure", numbers)
    save_figure(figure, {form: path for form, path in paths.items() if form != "parquet"}, dpi=dpi)

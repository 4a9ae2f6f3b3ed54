"""Colours, markers and lines; light, so that the lists of methods need no plotting library."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

# Okabe and Ito's palette: readers who are colour-blind can tell the colours apart; in grey print the markers differ.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999999")
BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, BLACK, GREY = COLOURS
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")


@dataclass(frozen=True)
class Look:
    """What is drawn under a name: its label, and how it looks in pictures."""

    name: str
    label: str
    colour: str
    marker: str
    line: str = "-"

    @property
    def marked(self) -> dict[str, Any]:
        """Options of a line with markers."""
        return {"color": self.colour, "marker": self.marker, "linestyle": self.line, "label": self.label}

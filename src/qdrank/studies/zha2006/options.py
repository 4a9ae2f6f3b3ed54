"""What the computation needs to know of section ``zha``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from qdrank.learners.choose import most_regularised_first
from qdrank.studies.zha2006.targets import TargetKind

Cell = tuple[float, float]
"""lam_alpha and lam_beta."""


@dataclass(frozen=True, kw_only=True)
class Options:
    """Keys of section ``zha`` that decide what is computed; named as there."""

    targets: TargetKind
    gains: TargetKind
    depth: int
    penalties: Literal["scaled", "raw"]
    weighted: bool
    tol: float
    rounds: int
    lam_alpha: Sequence[float]
    lam_beta: Sequence[float]
    paper_alpha: float
    paper_beta: float
    weak: float
    lam_h: Sequence[float]
    trees: Sequence[int]
    learning_rates: Sequence[float]
    leaves: int
    min_leaf: int
    refits: int
    jitter: float

    @property
    def cells(self) -> list[Cell]:
        """Penalties among which validation decides, from the most to the least regularised."""
        return [(a, b) for a in self.scale_penalties for b in most_regularised_first("lam_beta", self.lam_beta)]

    @property
    def scale_penalties(self) -> list[float]:
        """``lam_alpha`` in the order in which it is tried."""
        return most_regularised_first("lam_alpha", self.lam_alpha)

    @property
    def rates(self) -> list[float]:
        """``learning_rates`` in the order in which they are tried."""
        return most_regularised_first("learning_rate", self.learning_rates)

    @property
    def cross(self) -> list[Cell]:
        """Those that share a penalty with the paper's: the few that are tried with L1."""
        return [cell for cell in self.cells if cell[0] == self.paper_alpha or cell[1] == self.paper_beta]

    @property
    def paper(self) -> Cell:
        """Penalties of the paper's tables 5 to 7."""
        return self.paper_alpha, self.paper_beta

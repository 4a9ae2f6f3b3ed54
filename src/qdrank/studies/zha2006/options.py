"""What the computation needs to know of section ``zha``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qdrank.learners.choose import most_regularised_first

if TYPE_CHECKING:
    from qdrank.studies.zha2006.settings import Zha as _Keys
else:
    from qdrank.studies.keys import Keys as _Keys

Cell = tuple[float, float]
"""lam_alpha and lam_beta."""


class Options(_Keys):
    """Keys of section ``zha`` that decide what is computed; named as there."""

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

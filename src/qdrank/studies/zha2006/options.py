"""The part of section ``zha`` that the computation needs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from qdrank.learners.grids import most_regularised_first

if TYPE_CHECKING:
    from qdrank.studies.zha2006.settings import Zha as _Keys
else:
    from qdrank.studies.keys import Keys as _Keys

Cell = tuple[float, float]
"""lam_alpha and lam_beta."""


class Options(_Keys):
    """Keys of section ``zha`` that decide what is computed, under the same names.

    ``refits`` is shared by all studies; ``usual`` has the usual grids of the learners that regressors are set against.
    """

    refits: int
    usual: Mapping[str, Mapping[str, list[Any]]]

    @property
    def cells(self) -> list[Cell]:
        """Penalties that validation chooses from, from the most to the least regularised."""
        return [(a, b) for a in self.scale_penalties for b in most_regularised_first("lam_beta", self.lam_beta)]

    @property
    def scale_penalties(self) -> list[float]:
        """Values of ``lam_alpha`` in the order tried."""
        return most_regularised_first("lam_alpha", self.lam_alpha)

    @property
    def rates(self) -> list[float]:
        """``learning_rates`` in the order tried."""
        return most_regularised_first("learning_rate", self.learning_rates)

    @property
    def cross(self) -> list[Cell]:
        """Cells that share a penalty with the paper's: the few to try with L1."""
        return [cell for cell in self.cells if cell[0] == self.paper_alpha or cell[1] == self.paper_beta]

    @property
    def paper(self) -> Cell:
        """Penalties of the paper's tables 5 to 7."""
        return self.paper_alpha, self.paper_beta

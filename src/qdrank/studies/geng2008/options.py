"""The part of section ``geng`` that the computation needs, and the settings it defines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qdrank.learners.regularised import most_regularised_first
from qdrank.rankers.sizes import Setting, neighbour_count, neighbour_counts

if TYPE_CHECKING:
    from qdrank.studies.geng2008.settings import Geng as _Keys
else:
    from qdrank.studies.keys import Keys as _Keys


class Options(_Keys):
    """Keys of section ``geng`` that decide which models exist and how one is chosen, under the same names."""

    def curve(self, m: int) -> list[Setting]:
        """Settings of the curves against k: all ``ks`` at the one lambda."""
        return [Setting(k, self.lam) for k in neighbour_counts(self.ks, m)]

    def fixed(self, m: int) -> Setting:
        """The fixed setting, used when nothing is chosen."""
        return Setting(neighbour_count(self.k, m), self.lam)

    def eligible(self, m: int) -> list[Setting]:
        """Settings a local model may have: the fixed one, or all that validation chooses from, in order."""
        if self.choose == "fixed":
            return [self.fixed(m)]
        ks = most_regularised_first("k", neighbour_counts(self.candidates, m))
        return [Setting(k, lam) for lam in most_regularised_first("lam", self.lambdas) for k in ks]

    def swept(self, m: int) -> list[Setting]:
        """Settings of all models of nearest neighbours: those of the curves, and those to choose from."""
        return [*self.curve(m), *self.eligible(m)]

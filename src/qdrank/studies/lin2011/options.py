"""The part of section ``lin`` that the computation needs."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from qdrank.learners.grids import most_regularised_first

if TYPE_CHECKING:
    from qdrank.studies.lin2011.settings import Lin as _Keys
else:
    from qdrank.studies.keys import Keys as _Keys


class Readings(_Keys):
    """The inferred choices: the keys from ``training_set`` on."""


class Grid(_Keys):
    """The settings that validation chooses from."""

    def sizes(self, kind: str) -> list[int]:
        """Values of t of Naive, or of k of SelectRanker; Transform has neither: 0."""
        given = {"naive": ("t", "ts"), "select": ("k", "ks")}
        return most_regularised_first(given[kind][0], getattr(self, given[kind][1])) if kind in given else [0]

    @property
    def models(self) -> list[tuple[int, float]]:
        """Numbers of clusters and lambdas in the order tried."""
        return list(product(most_regularised_first("m", self.ms), most_regularised_first("lam", self.lambdas)))

    @property
    def budget(self) -> int:
        """Largest number of settings that any method chooses from; the global Ranking SVM gets as many."""
        return len(set(self.ms)) * len(set(self.lambdas)) * max(len(set(self.ts)), len(set(self.ks)), 1)

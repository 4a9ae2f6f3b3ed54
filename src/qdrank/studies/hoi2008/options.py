"""The part of section ``hoi`` that the computation needs, and the estimators it defines."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import TYPE_CHECKING, Any

from qdrank.learners.ensemble.sser import SSER
from qdrank.learners.ensemble.trace_coefficients import Ties
from qdrank.learners.regularised import most_regularised_first

if TYPE_CHECKING:
    from qdrank.studies.hoi2008.settings import Hoi as _Keys
else:
    from qdrank.studies.keys import Keys as _Keys


class Options(_Keys):
    """Keys of section ``hoi`` that decide the weights, under the same names."""

    @property
    def path(self) -> list[float]:
        """Gammas to solve, ascending: those to choose from, 0 and the fixed one."""
        return sorted({0.0, float(self.gamma), *map(float, self.gammas)})

    @property
    def eligible(self) -> list[float]:
        """Gammas that validation chooses from, starting with the one model for all queries."""
        return most_regularised_first("gamma", {float(gamma) for gamma in self.gammas})

    def estimator(self, ties: Ties, **changed: Any) -> SSER:
        """SSER with these options, not yet fitted."""
        names = ("C", "theta", "delta", "gamma", "similarity", "normalise")
        graph = ("neighbours", "edges", "symmetry", "neighbour_ties", "laplacian")
        return SSER(ties=ties, **{name: getattr(self, name) for name in (*names, *graph)} | changed)

    def tried(self) -> Iterator[dict[str, float]]:
        """Combinations of C, theta and delta for the tuned variants, C from the most to the least regularised."""
        for theta, delta, C in product(self.tried_theta, self.tried_delta, most_regularised_first("C", self.tried_C)):
            yield {"C": float(C), "theta": float(theta), "delta": float(delta)}

"""The part of section ``hoi`` that the computation needs, and the ensembles it defines."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

from qdrank.learners.ensemble.ser import SSER
from qdrank.learners.grids import most_regularised_first
from qdrank.rankers.base import QueryRanker
from qdrank.rankers.others import OfOthers
from qdrank.studies.hoi2008.methods import GAMMA
from qdrank.studies.hoi2008.rankers import EnsembleRanker, StackedRanker

if TYPE_CHECKING:
    from qdrank.studies.hoi2008.settings import Hoi as _Keys
else:
    from qdrank.studies.keys import Keys as _Keys

_GRAPH = ("neighbours", "edges", "symmetry", "neighbour_ties", "laplacian")


class Options(_Keys):
    """Keys of section ``hoi`` that decide the weights, under the same names; ``max_grade`` is the highest of training."""

    max_grade: int

    @property
    def path(self) -> list[float]:
        """Gammas to solve, ascending: those to choose from, 0 and the fixed one."""
        return sorted({0.0, GAMMA, *map(float, self.gammas)})

    @property
    def eligible(self) -> list[float]:
        """Gammas that validation chooses from, starting with the one model for all queries."""
        return most_regularised_first("gamma", {float(gamma) for gamma in self.gammas})

    def estimator(self, ties: str, **changed: Any) -> SSER:
        """SSER with these options, and the paper's C, theta and delta; not yet fitted."""
        given = {name: getattr(self, name) for name in ("similarity", "normalise", *_GRAPH)}
        return SSER(ties=ties, gamma=GAMMA, max_grade=self.max_grade, **given | changed)  # type: ignore[arg-type]

    def ensemble(self, ties: str, **changed: Any) -> EnsembleRanker:
        """SER, from which SSER's paths start."""
        return EnsembleRanker(learner=self.estimator(ties, **changed), gammas=self.path)

    def tried(self, ties: str) -> list[EnsembleRanker]:
        """SER with combinations of C, theta and delta, C from the most to the least regularised."""
        each = product(self.tried_theta, self.tried_delta, most_regularised_first("C", self.tried_C))
        return [self.ensemble(ties, C=float(C), theta=float(theta), delta=float(delta)) for theta, delta, C in each]

    def of_others(self, ensemble: EnsembleRanker, seed: int) -> OfOthers:
        """The ensemble with the weights that the documents of another query give."""
        return OfOthers(base=ensemble, seed=seed, given="models")

    def stacked(self, kind: Any, bases: Sequence[QueryRanker]) -> list[StackedRanker]:
        """An ensemble of fitted methods."""
        return [StackedRanker(bases=bases, kind=kind, learner=None if kind == "borda" else self.estimator("half"))]

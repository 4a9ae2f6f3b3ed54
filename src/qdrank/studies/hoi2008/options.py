"""What the computation needs to know of section ``hoi``, and the estimators that follow from it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from qdrank.learners.choose import most_regularised_first
from qdrank.learners.ensemble.document_graph import Edges, Laplacian, NeighbourTies, Symmetry
from qdrank.learners.ensemble.sser import SSER
from qdrank.learners.ensemble.trace_coefficients import EnsembleSimilarity, Ties


@dataclass(frozen=True, kw_only=True)
class Options:
    """Keys of section ``hoi`` that decide the weights; named as there."""

    C: float = 1.0
    theta: float = 0.5
    delta: float = 1.0
    gammas: Sequence[float] = (0, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 2, 5)
    gamma: float = 0.5
    tried_C: Sequence[float] = (0.1, 1, 10)  # noqa: N815
    tried_theta: Sequence[float] = (0.25, 0.5, 0.75)
    tried_delta: Sequence[float] = (1, 5)
    similarity: EnsembleSimilarity = "trace"
    normalise: bool = False
    neighbours: int = 5
    edges: Edges = "binary"
    symmetry: Symmetry = "either"
    neighbour_ties: NeighbourTies = "all"
    laplacian: Laplacian = "normalised"

    @property
    def path(self) -> list[float]:
        """Gammas that are solved, rising: those to choose from, 0 and the fixed one."""
        return sorted({0.0, float(self.gamma), *map(float, self.gammas)})

    @property
    def eligible(self) -> list[float]:
        """Gammas among which validation decides, from the one model for all queries on."""
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

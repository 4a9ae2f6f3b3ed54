"""Semi-supervised ensemble ranking (SSER), Hoi and Jin 2008, eq. 10: own weights for each query, from its documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from qdrank.errors import InputError
from qdrank.layout import FloatArray
from qdrank.learners.ensemble.document_graph import Edges, Laplacian, NeighbourTies, Symmetry, document_graph, roughness
from qdrank.learners.ensemble.program import ProgramSolution, printed_weights
from qdrank.learners.ensemble.ser import SER


@dataclass(kw_only=True, eq=False)
class SSER(SER):
    """Semi-supervised ensemble ranking: SER's program for each query, with neighbouring documents scored alike.

    ``min 1/2 w^T (I + gamma G^T L G) w + C sum_i max(0, 1 - b_i.w)``, w >= 0, where G holds the documents of the query
    to be ranked and L is the Laplacian of their nearest-neighbour graph (eq. 9). gamma = 0 is SER.

    Parameters
    ----------
    gamma : weight of the query's documents
    neighbours, edges, symmetry, neighbour_ties
        The graph; see `qdrank.learners.ensemble.document_graph.document_graph`.
    laplacian : "normalised" or "unnormalised"; eq. 10, or eq. 8 to the letter
    printed : whether the weights are those of eq. 13 as printed, without eta: a control, not the optimum

    Other parameters and attributes are SER's. ``weights_`` are SER's weights; ``weights_for`` gives those of a query.
    """

    NAME: ClassVar[str] = "sser"

    gamma: float = 0.5
    neighbours: int = 5
    edges: Edges = "binary"
    symmetry: Symmetry = "either"
    neighbour_ties: NeighbourTies = "all"
    laplacian: Laplacian = "normalised"
    printed: bool = False

    def fit(self, X: ArrayLike, y: ArrayLike, query: ArrayLike | None = None) -> Self:
        """Learn from scores X (n_documents, n_rankers), grades y and query ids (n_documents,), each query's together."""
        if not (self.gamma >= 0 and np.isfinite(self.gamma)):
            raise InputError(f"gamma must not be negative, and is {self.gamma}")
        return super().fit(X, y, query)

    def weights_for(self, X_query: ArrayLike) -> FloatArray:
        """Weights (n_rankers,) for the documents (n, n_rankers) of one query."""
        return self.path_for(X_query, [self.gamma])[0].weights

    def path_for(self, X_query: ArrayLike, gammas: Sequence[float]) -> list[ProgramSolution]:
        """Solutions for the documents of one query and several gammas."""
        return self.path(self.roughness_of(X_query), gammas)

    def path(self, K: FloatArray, gammas: Sequence[float]) -> list[ProgramSolution]:
        """Solutions for a query with the roughness K (n_rankers, n_rankers); each gamma starts from the one before."""
        program, solution = self.solved()
        path = []
        for gamma in gammas:
            M = np.eye(len(K)) + gamma * K
            if gamma > 0:
                solution = program.minimise(M, solution)
            path.append(self.as_printed(M, solution) if self.printed else solution)
        return path

    def as_printed(self, M: FloatArray, solution: ProgramSolution) -> ProgramSolution:
        """A solution for the matrix M with the weights of eq. 13 as printed, without eta."""
        return replace(solution, weights=printed_weights(M, self.coefficients_, solution.alpha))

    def roughness_of(self, X_query: ArrayLike) -> FloatArray:
        """``G^T L G`` (n_rankers, n_rankers) of the documents of one query."""
        G = np.asarray(X_query, dtype=np.float64)
        if G.ndim != 2 or G.shape[1] != self.coefficients_.shape[1]:
            raise InputError(
                f"the documents have shape {G.shape}, and there are {self.coefficients_.shape[1]} rankers",
                fix="give one row a document and one column a ranker, as in fit",
            )
        if not np.isfinite(G).all():
            raise InputError("the scores hold missing or infinite values", fix="fill them first")
        S = document_graph(G, self.neighbours, edges=self.edges, symmetry=self.symmetry, ties=self.neighbour_ties)
        return roughness(G, S, self.laplacian)

"""Supervised and semi-supervised ensemble ranking, Hoi and Jin 2008: one weight per ranker, one margin per training query.

SER (eq. 6) has one vector of weights; SSER (eq. 10) own weights for each query, from its documents.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from math import floor, log10
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from qdrank.errors import InputError
from qdrank.layout import FloatArray
from qdrank.learners.base import Learner
from qdrank.learners.ensemble.graph import Edges, Laplacian, NeighbourTies, Symmetry, document_graph, roughness
from qdrank.learners.ensemble.program import Program, ProgramSolution, printed_weights
from qdrank.learners.ensemble.trace import EnsembleSimilarity, Ties, coefficients, relevance_levels
from qdrank.learners.inputs import as_offsets

#: Significant digits of a score, relative to the largest feature times the sum of the weights; the rest is rounding.
DIGITS = 10


@dataclass(kw_only=True, eq=False)
class SER(Learner):
    """Supervised ensemble ranking: ``min 1/2 |w|^2 + C sum_i max(0, 1 - b_i.w)``, w >= 0.

    The features are the scores of rankers, taken as they are: bring them to one scale per query first. ``b_i`` says
    how well each ranker agrees with the grades of query i (`qdrank.learners.ensemble.trace`); a document's score
    is ``w.x``.

    Parameters
    ----------
    C : weight of the margins
    theta, delta : preference of highly over possibly relevant documents, and smoothing of the rankings
    ties : "half" or "file"
        How documents of equal score rank: each counts 1/2 before the other, or in the order of the rows.
    similarity, width, normalise
        Eq. 7 in place of the trace, and its options; see `qdrank.learners.ensemble.trace.coefficients`.
    nonnegative : whether w >= 0, as in the paper
    max_grade : int, optional
        Highest grade of the scale; default: the highest in the training data. Grades 2, 1, 0 are the paper's +1, 0, -1.

    Attributes
    ----------
    weights_ : (n_rankers,) float64; weights; exactly 0 where the optimum is
    objective_ : float
    gap_ : certified relative duality gap
    kkt_ : largest residual of the optimality conditions
    alpha_, eta_ : (n_queries,), (n_rankers,); multipliers of the margins and of w >= 0
    coefficients_ : (n_queries, n_rankers)
    n_iter_ : linear systems solved
    """

    NAME: ClassVar[str] = "ser"

    WEIGHTS: ClassVar[str] = "weights_"

    C: float = 1.0
    theta: float = 0.5
    delta: float = 1.0
    ties: Ties = "half"
    similarity: EnsembleSimilarity = "trace"
    width: float | None = None
    normalise: bool = False
    nonnegative: bool = True
    max_grade: int | None = None
    weights_: FloatArray = field(init=False, repr=False)
    objective_: float = field(init=False, repr=False)
    gap_: float = field(init=False, repr=False)
    kkt_: float = field(init=False, repr=False)
    alpha_: FloatArray = field(init=False, repr=False)
    eta_: FloatArray = field(init=False, repr=False)
    coefficients_: FloatArray = field(init=False, repr=False)
    n_iter_: int = field(init=False, repr=False)
    _solved: tuple[Program, ProgramSolution] = field(init=False, repr=False)

    def fit(self, X: ArrayLike, y: ArrayLike, query: ArrayLike | None = None) -> Self:
        """Learn from scores X (n_documents, n_rankers), grades y and query ids (n_documents,), each query's together."""
        X, grades, offsets = self.training(X, y, query)
        B = coefficients(X, relevance_levels(grades, self.max_grade), offsets, **self._coefficient_options())
        return self.fit_coefficients(B)

    def fit_coefficients(self, B: FloatArray) -> Self:
        """Learn from known coefficients (n_queries, n_rankers)."""
        self.coefficients_ = B
        self.__dict__.pop("_solved", None)
        solution = self.solved()[1]
        self.weights_, self.objective_, self.gap_, self.kkt_ = (
            solution.weights,
            solution.objective,
            solution.gap,
            solution.kkt,
        )
        self.alpha_, self.eta_, self.n_iter_ = solution.alpha, solution.eta, solution.steps
        return self

    def solved(self) -> tuple[Program, ProgramSolution]:
        """The program and its solution; solved again in a learner that was stored, which gives the same."""
        if not hasattr(self, "_solved"):
            program = Program(self.coefficients_, self.C, bounded=self.nonnegative)
            self._solved = program, program.minimise(np.eye(self.coefficients_.shape[1]))
        return self._solved

    def _coefficient_options(self) -> dict[str, Any]:
        names = ("theta", "delta", "ties", "similarity", "width", "normalise")
        return {name: getattr(self, name) for name in names}

    def predict(self, X: ArrayLike, query: ArrayLike | None = None) -> FloatArray:
        """Scores (n_documents,), each query's by its weights and rounded to their accuracy; without ``query`` all rows are one."""
        X = self.documents(X)
        scores = np.empty(len(X))
        for start, end in pairwise(as_offsets(query, len(X)).tolist()):
            scores[start:end] = rounded_scores(X[start:end], self.weights_for(X[start:end]))
        return scores

    def weights_for(self, X_query: ArrayLike) -> FloatArray:  # noqa: ARG002
        """Weights (n_rankers,) for the documents of one query: the same for every query."""
        return self.weights_

    @property
    def coef_(self) -> FloatArray:
        """The weights, under the name that linear models use."""
        return self.weights_


def rounded_scores(X: Any, w: FloatArray) -> FloatArray:
    """``X w`` (n_documents,), rounded: differences beyond the accuracy of the weights must not break ties.

    The digits are relative to max |X| times sum |w|, the largest possible score.
    """
    total = float(np.abs(w).sum()) * float(np.abs(X).max(initial=0.0))
    scores: FloatArray = np.einsum("nf,f->n", X.astype(np.float64), w)
    # NumPy's rounding overflows beyond 300 decimals.
    return scores if total == 0 else np.round(scores, min(DIGITS - 1 - floor(log10(total)), 300))


@dataclass(kw_only=True, eq=False)
class SSER(SER):
    """Semi-supervised ensemble ranking: SER's program for each query, with neighbouring documents scored alike.

    ``min 1/2 w^T (I + gamma G^T L G) w + C sum_i max(0, 1 - b_i.w)``, w >= 0, where G holds the documents of the query
    to be ranked and L is the Laplacian of their nearest-neighbour graph (eq. 9). gamma = 0 is SER.

    Parameters
    ----------
    gamma : weight of the query's documents
    neighbours, edges, symmetry, neighbour_ties
        The graph; see `qdrank.learners.ensemble.graph.document_graph`.
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

"""Linear Ranking SVM to its true optimum.

Two ways to write one objective, p = number of pairs (weighted by ``query_weights``)::

    lam/2 ||w - prox||^2 + (1/p) sum of loss      (``lam``; the default, lam = 0.01)
    1/2   ||w - prox||^2 +  C    sum of loss      (``C``), where C = 1 / (lam p)

Papers also write lam ||w||^2 without the 1/2. Geng et al. 2008 print no objective, so their lam = 0.01 may be read either
way. Both readings are offered: ``penalty="half"``, the default and that of every model of this project unless it says
otherwise, and ``penalty="whole"``, which is "half" with twice the lam.

The loss of a pair with margin m = w.(x_i - x_j) is max(0, 1 - m)^2 or max(0, 1 - m), with no 1/2 before it.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qdrank.errors import InputError
from qdrank.layout import FloatArray, query_index, query_offsets
from qdrank.learners.base import Learner, LinearLearner
from qdrank.learners.inputs import as_offsets
from qdrank.learners.ranksvm import anderson
from qdrank.learners.ranksvm.anderson import inverted, shared
from qdrank.learners.ranksvm.hinge import Problem, minimise_hinge, newton
from qdrank.learners.ranksvm.kernels import one_thread
from qdrank.learners.ranksvm.preferences import Preferences, pair_weights, prepare
from qdrank.measures.ranking import borda_points
from qdrank.registry import refuse_unknown

Loss = Literal["squared_hinge", "hinge"]
Penalty = Literal["half", "whole"]


@dataclass(frozen=True)
class Model:
    """One trained model: weights (d,), objective, certified relative gap and iterations."""

    w: FloatArray
    objective: float
    gap: float
    iterations: int


@dataclass(kw_only=True, eq=False)
class RankSVM(LinearLearner):
    """Ranking SVM (Herbrich et al. 1999; Joachims 2002), linear, trained without forming pairs.

    Parameters
    ----------
    C : float, optional
        Weight of the sum of losses; replaces ``lam`` if given. C = 1 / (lam p).
    lam : float; weight of the regulariser against the mean loss
    penalty : "half" or "whole"; whether ``lam`` multiplies half the squared norm or the whole of it
    loss : "squared_hinge" or "hinge"
        The squared hinge is the loss of the batched engine; the hinge takes several times longer.
    query_weights : "pairs" or "equal"
        Whether each pair counts the same or each query does (each of its pairs then weighs 1 / pairs of the query).
    prox : (n_features,) array, optional
        Model to stay close to, instead of 0. For ``a/2 ||w||^2 + b/2 ||w - w0||^2`` take lam = a + b and
        prox = b / (a + b) w0.
    tol : float; certified relative duality gap to reach
    max_iter : int; maximum number of Newton steps (with the hinge, for each width of smoothing)

    Attributes
    ----------
    coef_ : (n_features,) float64
    gap_ : float; certified relative duality gap: (objective - dual value) / objective
    objective_ : float; objective in the ``lam`` form
    lam_ : float; the factor of half the squared norm, computed from ``C`` if that was given
    n_iter_ : int; evaluations and Newton steps
    """

    NAME: ClassVar[str] = "ranksvm"

    GRADED: ClassVar[bool] = False

    C: float | None = None
    lam: float = 0.01
    penalty: Penalty = "half"
    loss: Loss = "squared_hinge"
    query_weights: str = "pairs"
    prox: ArrayLike | None = None
    tol: float = 1e-6
    max_iter: int = 100
    gap_: float = field(init=False, repr=False)
    objective_: float = field(init=False, repr=False)
    lam_: float = field(init=False, repr=False)
    n_iter_: int = field(init=False, repr=False)

    def fit(
        self, X: ArrayLike, y: ArrayLike, query: ArrayLike | None = None, weights: NDArray[Any] | None = None
    ) -> Self:
        """Train on X (n_documents, n_features), grades y and query ids (n_documents,).

        ``weights`` (n_queries,), in the order of the queries' first rows, multiply the pairs of each query.
        Without ``query`` all documents belong to one query.
        """
        return self.fit_preferences(prepare(*self.training(X, y, query)), weights)

    def fit_preferences(
        self, data: Preferences, weights: NDArray[Any] | None = None, all_pairs: FloatArray | None = None
    ) -> Self:
        """Train on documents from `prepare`; ``all_pairs`` is what `all_pairs` gives for them, if known."""
        problem = self.problem(data, weights)
        inverse = None if all_pairs is None else inverted(preconditioner(problem, all_pairs))
        with one_thread():
            model = solve(problem, loss=self.loss, tol=self.tol, limit=self.max_iter, inverse=inverse)
        self.coef_, self.gap_, self.objective_ = model.w, model.gap, model.objective
        self.lam_, self.n_iter_ = problem.lam, model.iterations
        if model.gap > self.tol:
            warnings.warn(f"the certified gap is {model.gap:.1e}, not {self.tol:.1e}", RuntimeWarning, stacklevel=2)
        return self

    def problem(self, data: Preferences, weights: NDArray[Any] | None = None) -> Problem:
        """The optimisation problem that `fit` solves."""
        coef = pair_weights(data.pairs, self.query_weights, weights)
        total = float(coef @ data.pairs)
        if self.C is None:
            return whole_problem(data, coef, before_half(self.lam, self.penalty), self.prox)
        if not self.C > 0:
            raise InputError(f"C must be positive, not {self.C}")
        return whole_problem(data, coef, 1 / (self.C * total) if total else 1.0, self.prox)


def before_half(lam: float, penalty: Penalty) -> float:
    """The lam of ``lam/2 ||w||^2`` that is equivalent to ``lam`` with this ``penalty``."""
    if penalty not in ("half", "whole"):
        raise InputError(f"unknown penalty {penalty!r}", fix='use "half" for lam/2 |w|^2 or "whole" for lam |w|^2')
    return lam if penalty == "half" else 2 * lam


def whole_problem(data: Preferences, coef: FloatArray, lam: float, prox: ArrayLike | None = None) -> Problem:
    """Problem over all queries with pair weights ``coef`` (n_queries,), which are normalised to give the mean loss."""
    if not (lam > 0 and np.isfinite(lam)):
        raise InputError(f"lam must be positive, not {lam}")
    centre = np.zeros(data.n_features) if prox is None else np.array(prox, dtype=np.float64)
    if centre.shape != (data.n_features,):
        raise InputError(f"prox must have {data.n_features} weights, not {centre.shape}")
    used = np.flatnonzero((coef > 0) & (data.pairs > 0))
    total = float(coef[used] @ data.pairs[used])
    return Problem(data, used, coef[used] / (total or 1.0), lam, centre)


def all_pairs(data: Preferences, query_weights: str = "pairs") -> FloatArray:
    """Mean of ``(x_i - x_j)(x_i - x_j)^T`` over all pairs, (d, d); models for several lambdas can share it."""
    with one_thread():
        return whole_problem(data, pair_weights(data.pairs, query_weights), 1.0).all_pairs()


def preconditioner(problem: Problem, matrix: FloatArray | None = None) -> FloatArray:
    """``lam I + 2 sum of coef (x_i - x_j)(x_i - x_j)^T`` over all pairs: the Hessian if every pair were active.

    ``matrix`` is the sum, if known.
    """
    return problem.lam * np.eye(problem.data.n_features) + 2 * (problem.all_pairs() if matrix is None else matrix)


def solve(problem: Problem, *, loss: Loss, tol: float, limit: int, inverse: FloatArray | None = None) -> Model:
    """Train one model from its centre.

    The squared hinge takes Anderson steps with the all-pairs matrix (its ``inverse``, if known) and then exact Newton
    steps; the hinge takes only Newton steps.
    """
    refuse_unknown("loss", loss, ("squared_hinge", "hinge"))
    if len(problem.queries) == 0:  # no pair: the centre is the optimum
        return Model(problem.centre.copy(), 0.0, 0.0, 0)
    if loss == "hinge":
        at, steps = minimise_hinge(problem, problem.centre, tol, limit)
        return Model(at.w, at.objective, at.gap, steps)
    inverse = inverted(preconditioner(problem)) if inverse is None else inverse
    step = shared(inverse)
    quick = anderson.minimise(
        _evaluator(problem), problem.centre[None], problem.centre[None], problem.lam, step, tol=tol
    )
    if quick.gap[0] <= tol:
        return Model(quick.W[0], float(quick.objective[0]), float(quick.gap[0]), int(quick.evaluations[0]))
    at, steps = newton(problem, quick.W[0], tol, limit)
    return Model(at.w, at.objective, at.gap, int(quick.evaluations[0]) + steps)


def _evaluator(problem: Problem) -> anderson.Evaluate:
    """Loss and gradient of one problem as a block of one."""

    def evaluate(_: Any, W: FloatArray) -> tuple[FloatArray, FloatArray]:
        sums, G = problem.sums(W[0], 1.0)
        return sums[:, 1], 2 * G

    return evaluate


@dataclass(kw_only=True, eq=False)
class MultipleHyperplaneRanker(Learner):
    """One Ranking SVM for each pair of grades, learned from their document pairs alone; BordaCount sums the rankings.

    Parameters
    ----------
    C : weight of the sum of losses in each Ranking SVM; replaces ``lam`` if given
    lam : weight of the regulariser against the mean loss
    """

    NAME: ClassVar[str] = "mhr-bc"

    C: float | None = None
    lam: float = 0.01
    grades_: NDArray[np.int64] = field(init=False, repr=False)
    """Higher and lower grade of each hyperplane, shape (n_hyperplanes, 2)."""
    coef_: FloatArray = field(init=False, repr=False)
    """Weights of each hyperplane, shape (n_hyperplanes, n_features)."""

    def fit(self, X: ArrayLike, y: ArrayLike, query: ArrayLike | None = None) -> Self:
        """Learn from judged documents, the rows of each query together."""
        X, grades, offsets = self.training(X, y, query)
        pairs = [(high, low) for low, high in combinations(np.unique(grades).tolist(), 2)]
        self.grades_ = np.array(pairs, dtype=np.int64).reshape(-1, 2)
        of_query = query_index(offsets)
        weights = [self._hyperplane(X, grades, of_query, np.isin(grades, pair)) for pair in pairs]
        self.coef_ = np.array(weights).reshape(-1, X.shape[1])
        return self

    def _hyperplane(self, X: NDArray[Any], y: NDArray[Any], query: NDArray[Any], rows: NDArray[np.bool_]) -> FloatArray:
        data = prepare(X[rows], y[rows], query_offsets(query[rows]))
        return RankSVM(C=self.C, lam=self.lam).fit_preferences(data).coef_

    def predict(self, X: ArrayLike, query: ArrayLike | None = None) -> FloatArray:
        """Sum of the BordaCount points, shape (n_documents,); without ``query`` the rows are one list."""
        X = self.documents(X).astype(np.float64, copy=False)
        offsets = as_offsets(query, len(X))
        points: FloatArray = np.zeros(len(X))
        for w in self.coef_:
            points += borda_points(X @ w, offsets)
        return points

"""Many strongly convex problems at once: preconditioned steps, mixed by Anderson's method, a duality gap for each.

Every problem is ``F(w) = lam/2 ||w - centre||^2 + L(w)`` with a convex loss L. The step is
``w - B^-1 grad F(w)`` with a preconditioner B, mixed with the last steps by Anderson's method. The gradients certify
the gap: see `gap`.

The preconditioner of a model is the Hessian of its pairs at the global model:
``lam I + 2 sum of coef (x_i - x_j)(x_i - x_j)^T`` over the pairs that are active there. Local models are near the
global one, so few pairs differ. After a step that led upwards a model falls back to the matrix of all pairs of the training
set, whose steps are shorter. All models take that matrix if those of the queries would need too much memory.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from qdrank.layout import FloatArray, IntArray
from qdrank.learners.ranksvm import kernels
from qdrank.learners.ranksvm.preferences import Preferences

Evaluate = Callable[[IntArray, FloatArray], tuple[FloatArray, FloatArray]]
"""Rows of the active problems and their points (n_active, d) to losses (n_active,) and gradients (n_active, d)."""

Precondition = Callable[[IntArray, FloatArray, NDArray[np.bool_]], FloatArray]
"""Maps rows of some problems, their gradients (n, d), and which follow a step upwards, to B^-1 times the gradients."""

SLACK = 1e-6  # an objective may rise by this fraction: the noise of float32 scores
SHRINK = 0.3  # a rejected step is shortened to this fraction


@dataclass(frozen=True)
class Solution:
    """Points (n, d), objectives (n,), certified relative gaps (n,) and evaluations (n,) of n problems."""

    W: FloatArray
    objective: FloatArray
    gap: FloatArray
    evaluations: IntArray


def gap(gradient: FloatArray, objective: FloatArray, lam: float, noise: float = 0.0) -> FloatArray:
    """Relative duality gap, certified by the gradient; ``gradient`` (..., d), ``objective`` (...).

    For the squared hinge take the dual point ``alpha_ij = 2 c_ij v_ij``, feasible because slacks are not negative.
    Its dual value is F(w) - ||grad F(w)||^2 / (2 lam): the distance to the optimum is at most the second term.
    ``noise * sqrt(objective)`` is added to the gradient's norm, to allow for its rounding errors.
    """
    length = np.sqrt(np.einsum("...f,...f->...", gradient, gradient)) + noise * np.sqrt(np.maximum(objective, 0))
    absolute = length**2 / (2 * lam)
    return np.where(absolute == 0, 0.0, absolute / np.maximum(objective, np.finfo(float).tiny))


class _Run:
    """State of n problems: the accepted points, the points to try next, and the last differences for the mixing."""

    def __init__(self, start: FloatArray, depth: int) -> None:
        n, d = start.shape
        self.W, self.trial = start.copy(), start.copy()
        self.gradient, self.best, self.gap = np.zeros((n, d)), np.full(n, np.inf), np.full(n, np.inf)
        self.points, self.gradients = np.zeros((n, depth, d)), np.zeros((n, depth, d))
        self.used, self.rejected = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)

    def accept(self, rows: IntArray, value: FloatArray, gradient: FloatArray, gaps: FloatArray) -> None:
        """Move to the points tried, and remember the differences to the last ones."""
        known = np.isfinite(self.best[rows])
        slot, moved = self.used[rows[known]] % self.points.shape[1], rows[known]
        self.points[moved, slot] = self.trial[moved] - self.W[moved]
        self.gradients[moved, slot] = gradient[known] - self.gradient[moved]
        self.used[moved] += 1
        self.W[rows], self.gradient[rows], self.best[rows] = self.trial[rows], gradient, value
        self.gap[rows], self.rejected[rows] = gaps, 0

    def forget(self, rows: IntArray) -> None:
        """Forget the differences after a step that led upwards, since they are no longer reliable."""
        self.points[rows], self.gradients[rows], self.used[rows] = 0, 0, 0
        self.rejected[rows] += 1

    def propose(self, rows: IntArray, precondition: Precondition) -> None:
        """Preconditioned step from the mixture of the last points that has the smallest gradient."""
        filled = max(1, min(int(self.used[rows].max(initial=0)), self.points.shape[1]))
        points, gradients = self.points[rows, :filled], self.gradients[rows, :filled]
        gram = gradients @ gradients.transpose(0, 2, 1)
        diagonal = np.einsum("nii->ni", gram)  # a view: empty slots get 1, the others a little regularisation
        diagonal += np.where(diagonal == 0, 1, 1e-10 * diagonal)
        share = np.linalg.solve(gram, gradients @ self.gradient[rows][:, :, None])
        mixed = self.gradient[rows] - (gradients.transpose(0, 2, 1) @ share)[:, :, 0]
        step = precondition(rows, mixed, self.rejected[rows] > 0)
        shift = (points.transpose(0, 2, 1) @ share)[:, :, 0] + step
        self.trial[rows] = self.W[rows] - SHRINK ** self.rejected[rows][:, None] * shift


def minimise(
    evaluate: Evaluate,
    start: FloatArray,
    centre: FloatArray,
    lam: float,
    precondition: Precondition,
    *,
    first: tuple[FloatArray, FloatArray] | None = None,
    guess: FloatArray | None = None,
    tol: float = 1e-6,
    limit: int = 50,
    depth: int = 10,
    noise: float = 0.0,
) -> Solution:
    """Minimise all problems until each one's certified relative gap is at most ``tol``.

    Parameters
    ----------
    evaluate : callable; losses and gradients of the active problems
    start, centre : (n, d) float64
    lam : float
    precondition : callable; gradients to steps, see `qdrank.learners.ranksvm.anderson`
    first : losses (n,) and gradients (n, d), optional; those of ``start``, if already known
    guess : (n, d) float64, optional; points to try right after ``start``, instead of the first step
    limit : int; evaluations after which a problem is given up; its gap then says how far it is from the optimum
    depth : int; number of steps that are mixed
    noise : float; rounding error of the gradients, see `gap`
    """
    run = _Run(start, depth)
    evaluations = np.zeros(len(start), dtype=np.int64)
    active = np.arange(len(start))
    while len(active):
        trial = run.trial[active]
        evaluations[active] += first is None
        loss, gradient = first or evaluate(active, trial)
        first = None
        away = trial - centre[active]
        value = loss + lam / 2 * np.einsum("nf,nf->n", away, away)
        gradient = gradient + lam * away
        good = value <= run.best[active] * (1 + SLACK)
        run.accept(active[good], value[good], gradient[good], gap(gradient[good], value[good], lam, noise))
        run.forget(active[~good])
        active = active[(run.gap[active] > tol) & (evaluations[active] < limit)]
        run.propose(active, precondition)
        if guess is not None:
            run.trial[active], guess = guess[active], None
    return Solution(run.W, run.best, run.gap, evaluations)


_FEW = 16  # number of models for which a sparse product is faster than a dense one
_TOGETHER = 256  # models whose matrices are summed in one product
LARGEST = 2**27  # numbers in the matrices of all queries: 512 MiB in float32


def inverted(matrix: FloatArray) -> FloatArray:
    """Inverse of a symmetric positive definite matrix, exactly symmetric."""
    inverse = np.linalg.inv(matrix)
    symmetric: FloatArray = (inverse + inverse.T) / 2
    return symmetric


def shared(inverse: FloatArray) -> Precondition:
    """One inverse (d, d) for all models."""

    def step(_: IntArray, G: FloatArray, __: NDArray[np.bool_]) -> FloatArray:
        return G @ inverse

    return step


class QueryCurvature:
    """Lower triangles of the matrices of each query's active pairs at a model ``w`` (d,), computed on first use."""

    def __init__(self, data: Preferences, w: FloatArray) -> None:
        self.data, self.w = data, w.astype(data.X.dtype)
        self.size = data.n_features * (data.n_features + 1) // 2
        self._known = np.zeros(data.n_queries, dtype=bool)

    @property
    def fits(self) -> bool:
        """Whether the matrices of all queries may be kept."""
        return self.data.n_queries * self.size <= LARGEST

    def kept(self, queries: IntArray) -> NDArray[np.floating]:
        """Matrices (n_queries, d (d + 1) / 2) of all queries, cached; rows of queries never requested may be empty."""
        data, new = self.data, queries[~self._known[queries]]
        if not self._known.any():
            self._packed = np.zeros((data.n_queries, self.size), data.X.dtype)
        added = np.empty((len(new), self.size), data.X.dtype)
        kernels.active_matrices(data.X, data.offsets, data.lower, new, self.w, added)
        self._packed[new] = added
        self._known[new] = True
        return self._packed

    def preconditioner(self, use: csr_array, lam: float, fallback: FloatArray) -> Precondition:
        """Of models with the weights ``use`` (n_models, n_queries) of the queries' pairs; ``fallback`` (d, d) is an inverse."""
        if not self.fits:
            return shared(fallback)
        factors = np.empty((use.shape[0], self.size))
        for start in range(0, len(factors), _TOGETHER):
            rows = slice(start, start + _TOGETHER)
            kernels.factorise(self._sums(use[rows]), lam, factors[rows])

        def step(rows: IntArray, G: FloatArray, rejected: NDArray[np.bool_]) -> FloatArray:
            steps: FloatArray = kernels.solve_factors(factors, rows, G)
            steps[rejected] = G[rejected] @ fallback
            return steps

        return step

    def _sums(self, use: csr_array) -> NDArray[np.floating]:
        """Matrices (n, d (d + 1) / 2) of some models: one product, sparse if each model uses few of the queries."""
        used = np.flatnonzero(np.bincount(use.indices, minlength=use.shape[1]))
        matrices, used_by = self.kept(used), use.astype(self.data.X.dtype)
        few = use.shape[0] < _FEW or 6 * use.nnz < len(used) * use.shape[0]
        sums: NDArray[np.floating] = used_by @ matrices if few else used_by[:, used].toarray() @ matrices[used]
        return sums

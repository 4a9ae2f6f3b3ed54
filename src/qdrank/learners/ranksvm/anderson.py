"""Many strongly convex problems at once: preconditioned steps, mixed by Anderson's method, a duality gap for each.

Every problem is ``F(w) = lam/2 ||w - centre||^2 + L(w)`` with a convex loss L. The step is
``w - B^-1 grad F(w)`` with a preconditioner B, mixed with the last steps by Anderson's method. The gradients certify
the gap: see `gap`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qdrank.layout import FloatArray, IntArray

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
    precondition : callable; gradients to steps, see `qdrank.learners.ranksvm.preconditioning`
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

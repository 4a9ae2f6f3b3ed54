"""One Ranking SVM to its optimum in float64 by exact Newton steps, for the squared and for the smoothed hinge.

The smoothed hinge ``h_mu(v) = (v_+^2 - (v - mu)_+^2) / (2 mu)`` is a difference of two squared hinges, so the same
sums over pairs serve both losses. Its dual point ``alpha = c h_mu'(v)`` lies between 0 and c and is therefore feasible
for the plain hinge: it certifies the gap of the *unsmoothed* problem.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from qdrank.layout import FloatArray, IntArray
from qdrank.learners.newton import descend
from qdrank.learners.ranksvm import kernels
from qdrank.learners.ranksvm.preferences import Preferences, normal_matrix, subset


@dataclass(frozen=True)
class Problem:
    """``F(w) = lam/2 ||w - centre||^2 + sum over queries of coef[q] times the loss of each of its pairs``."""

    data: Preferences
    queries: IntArray
    coef: FloatArray
    lam: float
    centre: FloatArray

    def sums(self, w: FloatArray, *thresholds: float) -> tuple[FloatArray, FloatArray]:
        """Weighted sums of slacks and squared slacks (n, 2) and half gradients (n, d) of the latter."""
        data = self.data
        levels = np.asarray(thresholds)
        evaluated: Any = kernels.evaluate_single(data.X, data.offsets, data.lower, self.queries, self.coef, w, levels)
        return evaluated[0], evaluated[1]

    def curvature(self, w: FloatArray, width: float) -> FloatArray:
        """Weighted sum of ``(x_i - x_j)(x_i - x_j)^T`` over the pairs with slack between 0 and ``width``."""
        data = self.data
        H: FloatArray = kernels.hessian_single(data.X, data.offsets, data.lower, self.queries, self.coef, w, 1.0, width)
        return H

    def all_pairs(self) -> FloatArray:
        """The same over all pairs, at any weights."""
        used, place = np.unique(self.queries, return_inverse=True)
        coef = np.zeros(len(used))
        np.add.at(coef, place, self.coef)
        if 2 * np.diff(self.data.offsets)[used].sum() < self.data.offsets[-1]:
            # a copy of these documents costs less than the zeros of all others
            return normal_matrix(subset(self.data, used), coef)
        whole = np.zeros(self.data.n_queries)
        whole[used] = coef
        return normal_matrix(self.data, whole)


@dataclass(frozen=True)
class Point:
    """A point with its smoothed value and gradient, and the objective and certified gap of the true problem.

    ``excess`` is the part of the gap due to smoothing, in units of the objective.
    """

    w: FloatArray
    value: float
    gradient: FloatArray
    objective: float
    gap: float
    excess: float = 0.0


def evaluate_point(problem: Problem, w: FloatArray, mu: float | None = None) -> Point:
    """Objective, gradient and certificate at ``w``; ``mu`` is the width of smoothing, None for the squared hinge."""
    away, lam = w - problem.centre, problem.lam
    ridge = lam / 2 * float(away @ away)
    if mu is None:
        sums, G = problem.sums(w, 1.0)
        loss, gradient, excess = sums[0, 1], 2 * G[0] + lam * away, 0.0
        true = loss
    else:
        sums, G = problem.sums(w, 1.0, 1.0 - mu)
        (true, full), (inner, reduced) = sums
        loss, gradient = (full - reduced) / (2 * mu), (G[0] - G[1]) / mu + lam * away
        # hinge minus alpha-weighted slack: the loss of the dual point on the pairs in the smoothed zone
        excess = max(0.0, true - (full - reduced - mu * inner) / mu)
    absolute = excess + float(gradient @ gradient) / (2 * lam)
    relative = 0.0 if absolute == 0 else absolute / max(true + ridge, np.finfo(float).tiny)
    return Point(w, float(loss + ridge), gradient, float(true + ridge), float(relative), excess)


def newton(
    problem: Problem, start: FloatArray, tol: float, limit: int, mu: float | None = None, enough: float = 0.0
) -> tuple[Point, int]:
    """Newton steps until the gradient alone accounts for a relative gap of at most ``tol``; point and steps.

    A step expected to gain less than ``enough`` times the excess of smoothing is also the last one.
    """
    ridge = problem.lam * np.eye(len(start))

    def direction(at: Point) -> tuple[FloatArray, bool] | None:
        if float(at.gradient @ at.gradient) / (2 * problem.lam) <= tol * at.value:
            return None
        H = problem.curvature(at.w, np.inf if mu is None else mu) * (2.0 if mu is None else 1 / mu) + ridge
        step = np.asarray(-np.linalg.solve(H, at.gradient), dtype=np.float64)
        return step, -float(at.gradient @ step) / 2 < enough * at.excess

    return descend(evaluate_point(problem, start, mu), lambda w: evaluate_point(problem, w, mu), direction, limit)

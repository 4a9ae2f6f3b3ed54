"""One Ranking SVM to its optimum in float64 by exact Newton steps, for the squared, the smoothed and the plain hinge.

The smoothed hinge ``h_mu(v) = (v_+^2 - (v - mu)_+^2) / (2 mu)`` is a difference of two squared hinges, so the same
sums over pairs serve both losses. Its dual point ``alpha = c h_mu'(v)`` lies between 0 and c and is therefore feasible
for the plain hinge: it certifies the gap of the *unsmoothed* problem.

The plain hinge is minimised by less and less smoothing, then by a small quadratic programme for the pairs at the margin.
At the optimum all pairs but a few are clear: their slack is positive (dual variable c) or their margin is above 1
(dual variable 0). Newton on the smoothed loss finds which; the few remaining pairs are solved exactly. Even if
that guess was wrong, the result has its own certificate: the dual point lies between 0 and c.

The pairs at the margin are a Ranking SVM of a few explicit pairs, solved by a primal-dual interior point method:

    min over w    lam/2 ||w - centre||^2 + coef.xi,    xi >= 0,    s = D w + xi - 1 >= 0
    dual          alpha for s and beta = coef - alpha for xi, both >= 0;    lam (w - centre) = D^T alpha

A Newton step on the products alpha s and beta xi needs one system of as many equations as there are features.
Steps are predicted and corrected as by Mehrotra (SIAM J. Optim. 1992).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs

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


_STEPS = 60
_SHORTEST = 1e-8  # a step shortened to this fraction gets nowhere because of rounding
_INSIDE = 0.995  # fraction of the way to the nearest bound


class _State(NamedTuple):
    w: FloatArray
    xi: FloatArray
    s: FloatArray
    alpha: FloatArray
    beta: FloatArray

    def moved(self, step: _State, size: float) -> _State:
        return _State(*(a + size * b for a, b in zip(self, step, strict=True)))

    def products(self) -> float:
        """Sum of alpha s and beta xi: the duality gap of a feasible point."""
        return float(self.alpha @ self.s + self.beta @ self.xi)

    def gap(self, D: FloatArray, lam: float, centre: FloatArray) -> float:
        """The same before w moves to ``centre + D^T alpha / lam``."""
        off = lam * (self.w - centre) - self.alpha @ D
        return self.products() + float(off @ off) / (2 * lam)

    def room(self, step: _State) -> float:
        """Fraction of the step (at most 1) that reaches the first bound."""
        fastest = max(float((-b / a).max()) for a, b in zip(self[1:], step[1:], strict=True))
        return 1.0 if fastest <= 1 else 1 / fastest


def margin_duals(
    D: FloatArray, coef: FloatArray, lam: float, centre: FloatArray, start: FloatArray, tol: float
) -> FloatArray:
    """Dual variables alpha (n,), between 0 and ``coef``, at a duality gap of about ``tol``.

    Parameters
    ----------
    D : (n, d) float64; differences of the pairs
    coef : (n,) float64; their weights, positive
    lam : float
    centre, start : (d,) float64; ``start`` is a point near the optimum
    tol : float; absolute
    """
    if len(D) == 0:
        return np.zeros(0)
    v = 1 - D @ start
    xi = np.maximum(v, 0) + 0.01 * float(np.abs(v).max()) + np.finfo(float).tiny
    at = _State(start, xi, xi - v, coef / 2, coef / 2)
    for _ in range(_STEPS):
        if at.gap(D, lam, centre) <= tol:
            break
        step = _step(D, lam, centre, at)
        size = _INSIDE * at.room(step)
        if not size > _SHORTEST:
            break
        at = at.moved(step, size)
    duals: FloatArray = np.clip(at.alpha, 0.0, coef)
    return duals


def _step(D: FloatArray, lam: float, centre: FloatArray, at: _State) -> _State:
    """Newton step towards equal products, as small as a first step towards products of 0 shows to be possible."""
    w, xi, s, alpha, beta = at
    weight = 1 / (xi / beta + s / alpha)
    root = D * np.sqrt(weight)[:, None]
    factor = dpotrf(root.T @ root + lam * np.eye(len(w)), lower=1)[0]
    stationary, feasible = lam * (w - centre) - alpha @ D, D @ w + xi - 1 - s

    def towards(first: FloatArray, second: FloatArray) -> _State:
        """Step that changes alpha s by ``first`` and beta xi by ``second``, to first order."""
        right = first / alpha - second / beta - feasible
        dw = dpotrs(factor, (weight * right) @ D - stationary, lower=1)[0]
        dual = weight * (right - D @ dw)
        return _State(dw, (second + xi * dual) / beta, (first - s * dual) / alpha, dual, -dual)

    guess, now = towards(-alpha * s, -beta * xi), at.products()
    left = at.moved(guess, at.room(guess)).products()
    aim = (left / now) ** 3 * now / (2 * len(D))
    return towards(aim - alpha * s - guess.alpha * guess.s, aim - beta * xi - guess.beta * guess.xi)


WIDEST = 2.0  # the width of the first step; at weights 0 every pair lies in its middle
FALL = 4.0  # the width of smoothing falls by this factor
NARROWEST = 1e-9
_ENOUGH = 0.3  # a Newton step that gains less than this share of the cost of smoothing is the last one of its width
MANY = 1000  # with this many pairs at the margin another width of smoothing is faster than the quadratic programme


def minimise_hinge(problem: Problem, start: FloatArray, tol: float, limit: int) -> tuple[Point, int]:
    """Point with a certified relative gap of at most ``tol`` (or the best one found), and Newton steps taken."""
    mu, total, best, enough = WIDEST / FALL, 1, None, _ENOUGH
    w = _first_step(problem, start)
    before: FloatArray | None = None
    while mu > NARROWEST:
        at, steps = newton(problem, w, tol / 10, limit, mu, enough)
        total += steps
        finished = finish(problem, at, mu, tol)
        for point in (at, finished):
            if point is not None and (best is None or point.gap < best.gap):
                best = point
        if best is not None and best.gap <= tol:
            break
        if finished is not None and enough > 0:  # pairs were on the wrong side: now solve every width to its optimum
            w, enough = at.w, 0.0
            continue
        # between changes of the pairs at the margin the minimum moves linearly with the width
        w, before = at.w if before is None else at.w + (at.w - before) / FALL, at.w
        mu /= FALL
    assert best is not None
    return best, total


def _first_step(problem: Problem, start: FloatArray) -> FloatArray:
    """Step with an upper bound on the second derivatives of the widest smoothing, so that it cannot lead upwards."""
    bound = problem.lam * np.eye(len(start)) + problem.all_pairs() / WIDEST
    step = np.linalg.solve(bound, evaluate_point(problem, start, WIDEST).gradient)
    return np.asarray(start - step, dtype=np.float64)


def finish(problem: Problem, near: Point, mu: float, tol: float) -> Point | None:
    """Optimum if the pairs with slack outside (-mu, 2 mu) keep their side; None if too many lie inside."""
    data = problem.data
    split: Any = kernels.split_pairs(
        data.X, data.offsets, data.lower, problem.queries, problem.coef, near.w, -mu, 2 * mu, MANY
    )
    better, worse, coef, clear, clear_weight = split
    if len(coef) == MANY:
        return None
    D = data.X[better].astype(np.float64) - data.X[worse].astype(np.float64)
    unit = max(near.value, np.finfo(float).tiny)  # makes the solver's tolerance relative to the objective
    centre = problem.centre + clear / problem.lam
    alpha = unit * margin_duals(D, coef / unit, problem.lam / unit, centre, near.w, tol / 10)
    step = (clear + alpha @ D) / problem.lam
    at = problem.centre + step
    loss, ridge = problem.sums(at, 1.0)[0][0, 0], problem.lam / 2 * float(step @ step)
    # primal minus dual value, with w = centre + sum of alpha (x_i - x_j) / lam
    absolute = max(0.0, float(loss - (clear_weight - at @ clear) - alpha @ (1 - D @ at)))
    value = float(loss + ridge)
    return Point(at, value, np.zeros_like(at), value, 0.0 if absolute == 0 else absolute / value)

"""The plain hinge to its optimum: less and less smoothing, then a small quadratic programme for the pairs at the margin.

At the optimum all pairs but a few are clear: their slack is positive (dual variable c) or their margin is above 1
(dual variable 0). Newton on the smoothed loss finds which; the few remaining pairs are solved exactly. Even if
that guess was wrong, the result has its own certificate: the dual point lies between 0 and c.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from qdrank.layout import FloatArray
from qdrank.learners.ranksvm import kernels
from qdrank.learners.ranksvm.margin import margin_duals
from qdrank.learners.ranksvm.newton import Point, Problem, evaluate_point, newton

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

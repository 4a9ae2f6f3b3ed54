"""The plain hinge to its optimum: less and less smoothing, then a small quadratic programme for the pairs at the margin.

At the optimum all pairs but a few are clear: their slack is positive (dual variable c) or their margin is above 1
(dual variable 0). Newton on the smoothed loss finds which; the few that are left are solved exactly. Even if
that guess was wrong, the result has its own certificate: the dual point lies between 0 and c.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from qdrank.groups import FloatArray
from qdrank.learners import kernels
from qdrank.learners.newton import Point, Problem, newton

FALL = 4.0  # the width of smoothing falls by this factor
NARROWEST = 1e-9
MANY = 500  # pairs at the margin that the quadratic programme is asked to solve for: more take it longer than another width of smoothing


def minimise_hinge(problem: Problem, start: FloatArray, tol: float, limit: int) -> tuple[Point, int]:
    """Point with a certified relative gap of at most ``tol`` (or the best one found), and Newton steps taken."""
    mu, total, best = 1.0, 0, None
    w = before = start
    while mu > NARROWEST:
        at, steps = newton(problem, w, tol / 10, limit, mu)
        total += steps
        for point in (at, finish(problem, at, mu)):
            if point is not None and (best is None or point.gap < best.gap):
                best = point
        if best is not None and best.gap <= tol:
            break
        # between changes of the pairs at the margin the minimum moves linearly with the width
        w, before = at.w + ((at.w - before) / FALL if mu < 1 else 0), at.w
        mu /= FALL
    assert best is not None
    return best, total


def finish(problem: Problem, near: Point, mu: float) -> Point | None:
    """Optimum if the pairs with slack outside (-mu, 2 mu) keep their side; None where too many lie inside."""
    data = problem.data
    found: Any = kernels.split_pairs(
        data.X, data.offsets, data.lower, problem.queries, problem.coef, near.w, -mu, 2 * mu, MANY
    )
    better, worse, coef, clear, clear_weight = found
    if len(coef) == MANY:
        return None
    D = data.X[better].astype(np.float64) - data.X[worse].astype(np.float64)
    # in units of the objective: the solver's tolerances are absolute
    unit = max(near.value, np.finfo(float).tiny)
    alpha = unit * margin_duals(D, coef / unit, problem.lam / unit, problem.centre + clear / problem.lam)
    step = (clear + alpha @ D) / problem.lam
    at = problem.centre + step
    loss, ridge = problem.sums(at, 1.0)[0][0, 0], problem.lam / 2 * float(step @ step)
    # primal minus dual value, with w = centre + sum of alpha (x_i - x_j) / lam
    absolute = max(0.0, float(loss - (clear_weight - at @ clear) - alpha @ (1 - D @ at)))
    value = float(loss + ridge)
    return Point(at, value, np.zeros_like(at), value, 0.0 if absolute == 0 else absolute / value)


def margin_duals(D: FloatArray, coef: FloatArray, lam: float, centre: FloatArray) -> FloatArray:
    """Dual variables (n,) of ``min lam/2 ||w - centre||^2 + coef.xi`` with ``xi >= 0``, ``xi >= 1 - D w``."""
    import clarabel
    from scipy import sparse

    n, d = D.shape
    if n == 0:
        return np.zeros(0)
    scale = np.sqrt(np.einsum("nf,nf->n", D, D).max()) or 1.0
    P = sparse.diags_array(np.concatenate([np.full(d, lam / scale**2), np.zeros(n)])).tocsc()
    one = sparse.eye_array(n)
    parts: Any = [[-sparse.csc_array(D / scale), -one], [None, -one]]
    A: Any = sparse.block_array(parts).tocsc()
    settings = clarabel.DefaultSettings()
    settings.verbose, settings.max_threads = False, 1
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-11
    linear, bound = np.concatenate([np.zeros(d), coef]), np.concatenate([D @ centre - 1, np.zeros(n)])
    solver = clarabel.DefaultSolver(P, linear, A, bound, [clarabel.NonnegativeConeT(2 * n)], settings)
    duals: FloatArray = np.clip(np.asarray(solver.solve().z)[:n], 0.0, coef)
    return duals

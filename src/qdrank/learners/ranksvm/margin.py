"""A small quadratic programme, the Ranking SVM of a few explicit pairs, by a primal-dual interior point method.

    min over w    lam/2 ||w - centre||^2 + coef.xi,    xi >= 0,    s = D w + xi - 1 >= 0
    dual          alpha for s and beta = coef - alpha for xi, both >= 0;    lam (w - centre) = D^T alpha

A Newton step on the products alpha s and beta xi needs one system of as many equations as there are features.
Steps are predicted and corrected as by Mehrotra (SIAM J. Optim. 1992).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs

from qdrank.layout import FloatArray

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
    D : (n, d) float64
        Differences of the pairs.
    coef : (n,) float64
        Their weights, positive.
    lam : float
    centre, start : (d,) float64
        ``start`` is a point near the optimum.
    tol : float
        Absolute.
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

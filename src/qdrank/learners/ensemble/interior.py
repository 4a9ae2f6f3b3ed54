"""Interior point method for the quadratic program of Hoi and Jin 2008 (numba).

With slacks, eq. 6 and 10 read: min 1/2 w^T M w + C.x, where B w + x - s = 1 and w, x, s >= 0. The multipliers are
alpha of the margins s, beta = C - alpha of the slacks x, and eta of the weights. They are kept as two vectors whose
products vanish at the optimum, ``P`` = (s, x, w) and ``D`` = (alpha, beta, eta); without bounds the last part is left out
of the products.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from qdrank.learners.ensemble.quadratic import (
    AT_MARGIN,
    SATISFIED,
    VIOLATED,
    backward,
    factor,
    forward,
    rows_times,
    weighted_normal_matrix,
)


@njit(cache=True)
def _direction(
    B: Any, columns: Any, L: Any, d: Any, rd: Any, rp: Any, P: Any, D: Any, k: int, target: Any, dP: Any, dD: Any
) -> None:
    """Newton direction that takes the products ``P D`` to ``target`` and the residuals ``rd`` and ``rp`` to 0."""
    n, m = B.shape
    bounded = k > 2 * n
    t, dw = np.empty(n), dP[2 * n :]
    for i in range(n):
        t[i] = d[i] * (target[i] / D[i] - P[i] - rp[i] - target[n + i] / D[n + i] + P[n + i])
    rows_times(B, t, dw)
    for j in range(m):
        dw[j] -= rd[j]
        if bounded:
            dw[j] += target[2 * n + j] / P[2 * n + j] - D[2 * n + j]
    forward(L, dw, m)
    backward(L, dw, m)
    rows_times(columns, dw, dP[:n])
    for i in range(n):
        dD[i] = t[i] - d[i] * dP[i]
        dD[n + i] = -dD[i]
        dP[n + i] = (target[n + i] + P[n + i] * dD[i]) / D[n + i] - P[n + i]
        dP[i] += dP[n + i] + rp[i]
    for j in range(2 * n, k):
        dD[j] = (target[j] - D[j] * dP[j]) / P[j] - D[j]


@njit(cache=True)
def _longest(P: Any, D: Any, dP: Any, dD: Any, k: int) -> float:
    """The largest step up to 1 that lets no entry fall below 0."""
    step = 1.0
    for i in range(k):
        if dP[i] < 0:
            step = min(step, -P[i] / dP[i])
        if dD[i] < 0:
            step = min(step, -D[i] / dD[i])
    return step


@njit(cache=True)
def _residuals(M: Any, B: Any, columns: Any, P: Any, D: Any, rd: Any, rp: Any) -> Any:
    """Residuals of both sides; the largest in units of the gradient, and the objective."""
    n, m = B.shape
    w, v = P[2 * n :], np.empty(m)
    rows_times(M, w, rd)
    rows_times(B, D[:n], v)
    rows_times(columns, w, rp)
    objective, worst, size = 0.0, 0.0, 1e-300
    for j in range(m):
        objective += 0.5 * w[j] * rd[j]
        size = max(size, abs(v[j]))
        rd[j] -= v[j] + D[2 * n + j]
        worst = max(worst, abs(rd[j]))
    worst /= size
    for i in range(n):
        rp[i] += P[n + i] - P[i] - 1
        worst = max(worst, abs(rp[i]))
        objective += (D[i] + D[n + i]) * P[n + i]
    return worst, objective


@njit(cache=True)
def interior_point(M: Any, B: Any, columns: Any, C: Any, bounded: bool, tol: float, limit: int, P: Any, D: Any) -> int:
    """Mehrotra's predictor-corrector method; fills ``P`` and ``D`` (2 n + m,) and returns the number of iterations."""
    n, m = B.shape
    k = 2 * n + (m if bounded else 0)
    P[: 2 * n], D[:n], D[n : 2 * n] = 1.0, C / 2, C / 2
    P[2 * n :] = 1 / (1 + np.abs(B).max()) if bounded else 0.0
    D[2 * n :] = C.min() if bounded else 0.0
    L, d, e, rd, rp = np.empty((m, m)), np.empty(n), np.zeros(m), np.empty(m), np.empty(n)
    target, dP, dD = np.zeros(2 * n + m), np.zeros(2 * n + m), np.zeros(2 * n + m)
    for iteration in range(limit):
        worst, objective = _residuals(M, B, columns, P, D, rd, rp)
        products = np.sum(P[:k] * D[:k])
        if worst <= tol and products <= tol * objective:
            return iteration
        for i in range(n):
            d[i] = 1 / (P[i] / D[i] + P[n + i] / D[n + i])
        for j in range(k - 2 * n):
            e[j] = D[2 * n + j] / P[2 * n + j]
        weighted_normal_matrix(M, B, d, e, L)
        if not factor(L, m):
            return iteration
        target[:] = 0.0
        _direction(B, columns, L, d, rd, rp, P, D, k, target, dP, dD)
        step = _longest(P, D, dP, dD, k)
        left = np.sum((P[:k] + step * dP[:k]) * (D[:k] + step * dD[:k]))
        target[:k] = (left / products) ** 3 * products / k - dP[:k] * dD[:k]
        _direction(B, columns, L, d, rd, rp, P, D, k, target, dP, dD)
        step = 0.99 * _longest(P, D, dP, dD, k)
        P += step * dP
        D += step * dD
    return limit


@njit(cache=True)
def sides(P: Any, D: Any, C: Any, bounded: bool, free: Any, state: Any) -> None:
    """Which weights are free (m,), and the side of each query (n,), by the larger factor of each product."""
    n, m = len(state), len(free)
    w, eta = P[2 * n :], D[2 * n :]
    heaviest, steepest = np.abs(w).max(), max(eta.max(), 1e-300)
    for j in range(m):
        free[j] = not bounded or w[j] * steepest > eta[j] * heaviest
    for i in range(n):
        state[i] = SATISFIED if P[i] * C[i] > D[i] else VIOLATED if P[n + i] * C[i] > D[n + i] else AT_MARGIN

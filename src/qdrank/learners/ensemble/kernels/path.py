"""From the optimum of one program to that of another with the same queries, along a path of optima (numba).

The optimum w0, alpha0 of a program with the matrix M0 is also the optimum of

    min 1/2 w^T M w + c.w + sum_i C_i max(0, 1 - b_i.w),  w >= 0,       c = (M0 - M) w0

with another matrix M. As c goes to 0 along a line, the optimum moves along a line as well, until a weight reaches 0 or
leaves it, or a query reaches the margin or leaves it: then it turns. Best, Hager and others call this the parametric
active set method. The number of turns is about the number of weights and queries that change sides.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from qdrank.learners.ensemble.kernels.quadratic import AT_MARGIN, SATISFIED, VIOLATED, rows_times, saddle


@njit(cache=True)
def follow(
    M: Any, B: Any, columns: Any, C: Any, bounded: bool, c: Any, free: Any, state: Any, w: Any, alpha: Any, limit: int
) -> int:
    """Follow the path from c (m,) to 0, updating the sets, w (m,) and alpha (n,) in place from its start to its end.

    Returns the number of turns, or -1 if there are more than ``limit`` or the path cannot continue.
    """
    m, n = M.shape[0], B.shape[0]
    gradient, margins, v = np.empty(m), np.empty(n), np.empty(m)
    rows_times(M, w, gradient)
    rows_times(B, alpha, v)
    for j in range(m):
        gradient[j] += c[j] - v[j]
    rows_times(columns, w, margins)
    dw, dg, dm, da = np.empty(m), np.empty(m), np.empty(n), np.zeros(n)
    left = 1.0  # remaining share of c
    for turn in range(limit):
        F, E = np.flatnonzero(free), np.flatnonzero(state == AT_MARGIN)
        a = np.empty(len(E))
        if saddle(M, B, F, E, c, np.zeros(len(E)), dw, a) < 0:
            return -1
        da[:] = 0.0
        for e in range(len(E)):
            da[E[e]] = a[e]
        rows_times(M, dw, dg)
        rows_times(B, da, v)
        for j in range(m):
            dg[j] -= v[j] + c[j]
        rows_times(columns, dw, dm)
        step, kind, which = _first_event(bounded, C, free, state, w, gradient, margins, alpha, dw, dg, dm, da, left)
        w += step * dw
        gradient += step * dg
        margins += step * dm
        alpha += step * da
        left -= step
        if kind == 0:
            return turn + 1
        _turn(C, kind, which, free, state, w, gradient, margins, alpha)
    return -1


@njit(cache=True)
def _first_event(
    bounded: bool, C: Any, free: Any, state: Any, w: Any, gradient: Any, margins: Any, alpha: Any,
    dw: Any, dg: Any, dm: Any, da: Any, left: float,
) -> Any:  # fmt: skip
    """Step to the first event, its kind (0 none, 1 a weight, 2 a query) and which weight or query."""
    step, kind, which = left, 0, 0
    for j in range(len(w) if bounded else 0):
        value, slope = (w[j], dw[j]) if free[j] else (gradient[j], dg[j])
        if slope < 0 and value + step * slope < 0:
            step, kind, which = max(0.0, -value / slope), 1, j
    for i in range(len(alpha)):
        if state[i] == AT_MARGIN:
            value, slope = (alpha[i], da[i]) if da[i] < 0 else (C[i] - alpha[i], -da[i])
        elif state[i] == SATISFIED:
            value, slope = margins[i] - 1, dm[i]
        else:
            value, slope = 1 - margins[i], -dm[i]
        if slope < 0 and value + step * slope < 0:
            step, kind, which = max(0.0, -value / slope), 2, i
    return step, kind, which


@njit(cache=True)
def _turn(
    C: Any, kind: int, which: int, free: Any, state: Any, w: Any, gradient: Any, margins: Any, alpha: Any
) -> None:
    """Put the weight or query that met the event into its new set, exactly on the border."""
    if kind == 1:
        w[which], gradient[which] = 0.0, 0.0
        free[which] = not free[which]
    elif state[which] == AT_MARGIN:
        state[which] = VIOLATED if alpha[which] > C[which] / 2 else SATISFIED
        alpha[which] = C[which] if state[which] == VIOLATED else 0.0
    else:
        state[which] = AT_MARGIN
        margins[which] = 1.0

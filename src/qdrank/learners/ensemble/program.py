"""The quadratic program of Hoi and Jin 2008, solved exactly, with a certificate.

    min over w    1/2 w^T M w + C sum_i max(0, 1 - b_i.w),    w >= 0                        (eq. 6: M = I; eq. 10)
    dual          sum_i alpha_i - 1/2 (B^T alpha + eta)^T M^-1 (B^T alpha + eta),  0 <= alpha_i <= C,  eta >= 0
    w = M^-1 (B^T alpha + eta)                      eq. 13, with the eta that the paper leaves out

An interior point method finds which weights are 0 and on which side of the margin each query lies. Given these sets,
the optimum is the solution of a linear system, which is solved and checked. A program that differs little from one
solved before (another query's M, the next gamma) starts from the sets of that one, and usually needs only a few such
systems. Training queries with the same coefficients form one hinge with their total weight. If the coefficients of
queries on the margin still depend on each other, their multipliers are not unique; some queries keep theirs.

The optimum w0, alpha0 of a program with the matrix M0 is also the optimum of

    min 1/2 w^T M w + c.w + sum_i C_i max(0, 1 - b_i.w),  w >= 0,       c = (M0 - M) w0

with another matrix M. As c goes to 0 along a line, the optimum moves along a line as well, until a weight reaches 0 or
leaves it, or a query reaches the margin or leaves it: then it turns. Best, Hager and others call this the parametric
active set method. The number of turns is about the number of weights and queries that change sides.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from qdrank.errors import InputError
from qdrank.layout import FloatArray, IntArray
from qdrank.learners.ensemble.interior import interior_point, sides
from qdrank.learners.ensemble.quadratic import (
    AT_MARGIN,
    SATISFIED,
    VIOLATED,
    active_set,
    backward,
    certificate,
    factor,
    forward,
    rows_times,
    saddle,
)


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


#: Relative duality gap that every solution reaches.
DUALITY_GAP = 1e-8
#: Weights below this share of the largest one are set to 0, since they are below the solver's accuracy.
DUST = 1e-10
_STEPS, _TURNS, _ITERATIONS, _INNER = 10, 200, 100, 1e-11


@dataclass(frozen=True, eq=False)
class ProgramSolution:
    """Optimum of a program.

    Attributes
    ----------
    weights : (m,)
    alpha, eta : (n,) and (m,), the multipliers of the margins and of w >= 0; equal queries have equal ones
    objective : value of the primal
    gap : (primal - dual) / primal, certified
    kkt : largest entry of the natural residual of the optimality conditions
    steps : linear systems solved, of both kinds
    free, state : (m,) and (n,), the sets from which a similar program can start
    """

    weights: FloatArray
    alpha: FloatArray
    eta: FloatArray
    objective: float
    gap: float
    kkt: float
    steps: int
    free: NDArray[np.uint8]
    state: NDArray[np.uint8]


class Program:
    """A program without M, the only part that differs between the queries to be ranked.

    Parameters
    ----------
    B : (n, m) one row of coefficients per training query
    C : weight of the hinges, positive
    bounded : whether w >= 0
    """

    def __init__(self, B: FloatArray, C: float, *, bounded: bool = True) -> None:
        if not (C > 0 and np.isfinite(C)):
            raise InputError(f"C must be positive, not {C}")
        self.C, self.bounded = float(C), bounded
        self._first, self._of = _different(np.ascontiguousarray(B, dtype=np.float64))
        self._equal = np.bincount(self._of).astype(np.float64)
        self.B = np.ascontiguousarray(B[self._first], dtype=np.float64)
        self._given = (self.B, np.ascontiguousarray(self.B.T), self.C * self._equal, self.bounded)

    def minimise(self, M: FloatArray, start: ProgramSolution | None = None) -> ProgramSolution:
        """The optimum for a symmetric positive definite M (m, m); ``start`` is that for a similar M.

        Raises `InputError` if the numbers are so badly scaled that the gap cannot be closed.
        """
        solution = None if start is None else self._from_solution(M, start)
        return self._from_nothing(M) if solution is None or not solution.gap <= DUALITY_GAP else solution

    def _from_nothing(self, M: FloatArray) -> ProgramSolution:
        n, m = self.B.shape
        P, D = np.empty(2 * n + m), np.empty(2 * n + m)
        free, state = np.empty(m, dtype=np.uint8), np.empty(n, dtype=np.uint8)
        steps = interior_point(M, *self._given, _INNER, _ITERATIONS, P, D)
        sides(P, D, *self._given[2:], free, state)
        inner = self._certified(M, P[2 * n :].copy(), D[:n].copy(), steps, free.copy(), state.copy())
        exact = self._from_sets(M, free, state, D[:n].copy(), steps)
        best = inner if exact is None or exact.gap > max(inner.gap, DUALITY_GAP) else exact
        if not best.gap <= DUALITY_GAP:
            raise InputError(
                f"the program cannot be solved to a gap of {DUALITY_GAP:g}, only {best.gap:.1e}",
                fix="bring the rankers' scores to one scale, such as 0 to 1 within each query, or take a smaller C or gamma",
            )
        return best

    def _from_solution(self, M: FloatArray, start: ProgramSolution) -> ProgramSolution | None:
        free, state, w = start.free.copy(), start.state[self._first], start.weights.copy()
        alpha = start.alpha[self._first] * self._equal
        # The start is optimal for the linear term that keeps its gradient, eta, unchanged.
        pull, Mw = np.empty(len(w)), np.empty(len(w))
        rows_times(self.B, alpha, pull)
        rows_times(M, w, Mw)
        turns = follow(M, *self._given, start.eta + pull - Mw, free, state, w, alpha, _TURNS)
        return self._from_sets(M, free, state, alpha, turns) if turns > 0 else None

    def _from_sets(self, M: FloatArray, free: Any, state: Any, alpha: FloatArray, steps: int) -> ProgramSolution | None:
        w = np.zeros(len(M))
        more = active_set(M, *self._given, free, state, w, alpha, _STEPS)
        return self._certified(M, w, alpha, steps + more, free, state) if more > 0 else None

    def _certified(
        self, M: FloatArray, w: FloatArray, alpha: FloatArray, steps: int, free: Any, state: Any
    ) -> ProgramSolution:
        eta = np.empty(len(w))
        w[np.abs(w) <= DUST * np.abs(w).max(initial=0.0)] = 0.0
        alpha = np.clip(alpha, 0.0, self._given[2])
        primal, dual, kkt = certificate(M, *self._given, w, alpha, eta)
        gap = max(0.0, primal - dual) / primal if primal > 0 else 0.0
        shares = (alpha / self._equal)[self._of]
        return ProgramSolution(w, shares, eta, primal, gap, kkt, steps, free, state[self._of])


def _different(B: FloatArray) -> tuple[IntArray, IntArray]:
    """Indices of the first of each group of equal rows, ascending, and the group of every row."""
    _, first, kind = np.unique(B, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    return first[order], place[kind.reshape(-1)]


def printed_weights(M: FloatArray, B: FloatArray, alpha: FloatArray) -> FloatArray:
    """Eq. 13 as printed, ``M^-1 sum_i alpha_i b_i`` without eta: wrong wherever a bound w_j >= 0 is active."""
    L, w = M.copy(), alpha @ B
    factor(L, len(M))
    forward(L, w, len(M))
    backward(L, w, len(M))
    return w

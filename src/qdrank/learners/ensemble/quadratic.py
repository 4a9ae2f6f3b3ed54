"""Leaf functions of the quadratic program of Hoi and Jin 2008 (numba); see `qdrank.learners.ensemble.program`.

    min over w    1/2 w^T M w + sum_i C_i max(0, 1 - b_i.w),    w >= 0 where ``bounded``

``B`` has the rows b_i, ``columns`` is its transpose, ``C`` (n,) the weights of the hinges. All sums are in a fixed
order, without BLAS, so the bytes do not depend on the number of threads.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

#: Side of a query: beyond the margin (alpha = 0), on it, or short of it (alpha = C_i).
SATISFIED, AT_MARGIN, VIOLATED = 0, 1, 2


@njit(cache=True)
def factor(A: Any, n: int) -> bool:
    """Cholesky factor of the leading (n, n) part of ``A`` into its lower triangle; False if it is not definite."""
    for j in range(n):
        pivot = A[j, j]
        for k in range(j):
            pivot -= A[j, k] * A[j, k]
        if not pivot > 1e-14 * A[j, j]:
            return False
        A[j, j] = np.sqrt(pivot)
        for i in range(j + 1, n):
            total = A[i, j]
            for k in range(j):
                total -= A[i, k] * A[j, k]
            A[i, j] = total / A[j, j]
    return True


@njit(cache=True)
def _factor_independent(S: Any, a: Any) -> int:
    """Cholesky factor of ``S`` without the rows that depend on earlier ones; their entries of ``a`` become and stay 0.

    Returns the number of these rows.
    """
    n, dependent = S.shape[0], 0
    for e in range(n):
        for k in range(e):
            for c in range(k):
                S[e, k] -= S[e, c] * S[k, c]
            S[e, k] /= S[k, k]
        pivot = S[e, e]
        for k in range(e):
            pivot -= S[e, k] * S[e, k]
        if pivot > 1e-13 * S[e, e]:
            S[e, e] = np.sqrt(pivot)
            continue
        dependent += 1
        S[e, :e], S[e, e], a[e] = 0.0, 1.0, 0.0
        for i in range(e + 1, n):
            S[i, e] = 0.0
    return dependent


@njit(cache=True)
def forward(L: Any, x: Any, n: int) -> None:
    """Solve ``L y = x`` in place."""
    for i in range(n):
        total = x[i]
        for k in range(i):
            total -= L[i, k] * x[k]
        x[i] = total / L[i, i]


@njit(cache=True)
def backward(L: Any, x: Any, n: int) -> None:
    """Solve ``L^T y = x`` in place."""
    for i in range(n - 1, -1, -1):
        x[i] /= L[i, i]
        for k in range(i):
            x[k] -= L[i, k] * x[i]


@njit(cache=True)
def rows_times(A: Any, x: Any, out: Any) -> None:
    """``A^T x``, the rows of A times the entries of x, into ``out``; rows with ``x`` = 0 cost nothing.

    This is the only matrix-vector product here, since it reads A row by row. For ``B w`` pass the columns of B as rows.
    """
    out[:] = 0.0
    for i in range(A.shape[0]):
        if x[i] != 0:
            row = A[i]
            for j in range(len(row)):
                out[j] += row[j] * x[i]


@njit(cache=True)
def weighted_normal_matrix(M: Any, B: Any, d: Any, e: Any, out: Any) -> None:
    """Lower triangle of ``M + B^T diag(d) B + diag(e)`` into ``out``."""
    m = M.shape[0]
    for j in range(m):
        for k in range(j + 1):
            out[j, k] = M[j, k]
        out[j, j] += e[j]
    for i in range(B.shape[0]):
        for j in range(m):
            scaled = d[i] * B[i, j]
            for k in range(j + 1):
                out[j, k] += scaled * B[i, k]


@njit(cache=True)
def certificate(M: Any, B: Any, columns: Any, C: Any, bounded: bool, w: Any, alpha: Any, eta: Any) -> Any:
    """Primal and dual value and the KKT residual at ``w`` (feasible) and ``alpha`` in [0, C_i]; fills ``eta``.

    The dual value is that of c.4's dual at alpha and eta = max(0, M w - B^T alpha). The residual is the largest entry of
    w - max(0, w - gradient) and of alpha - clip(alpha - (b.w - 1), 0, C_i): 0 at the optimum and nowhere else.
    """
    m, n = M.shape[0], B.shape[0]
    margins, Mw, v, L = np.empty(n), np.empty(m), np.empty(m), M.copy()
    rows_times(columns, w, margins)
    rows_times(M, w, Mw)
    rows_times(B, alpha, v)
    primal, dual, residual = 0.0, 0.0, 0.0
    for i in range(n):
        primal += C[i] * max(0.0, 1 - margins[i])
        dual += alpha[i]
        moved = min(max(alpha[i] - (margins[i] - 1), 0.0), C[i])
        residual = max(residual, abs(alpha[i] - moved))
    for j in range(m):
        gradient = Mw[j] - v[j]
        primal += 0.5 * w[j] * Mw[j]
        eta[j] = max(0.0, gradient) if bounded else 0.0
        v[j] += eta[j]
        residual = max(residual, abs(w[j] - max(0.0, w[j] - gradient)) if bounded else abs(gradient))
    factor(L, m)
    forward(L, v, m)
    for j in range(m):
        dual -= 0.5 * v[j] * v[j]
    return primal, dual, residual


@njit(cache=True)
def saddle(M: Any, B: Any, F: Any, E: Any, p: Any, r: Any, w: Any, a: Any) -> int:
    """Solve ``M_FF w_F - B_EF^T a = p_F``, ``B_EF w_F = r`` for w (m,), 0 outside F, and a (len(E),).

    Rows of B_EF that depend on earlier ones are left out, and their ``a`` is 0. Returns their number, or -1 if M_FF is
    not definite.
    """
    nf, ne = len(F), len(E)
    L, V, S, u = np.empty((nf, nf)), np.empty((ne, nf)), np.empty((ne, ne)), np.empty(nf)
    for i in range(nf):
        u[i] = p[F[i]]
        for j in range(i + 1):
            L[i, j] = M[F[i], F[j]]
    if not factor(L, nf):
        return -1
    forward(L, u, nf)
    for e in range(ne):
        for i in range(nf):
            V[e, i] = B[E[e], F[i]]
        forward(L, V[e], nf)
        a[e] = r[e]
        for i in range(nf):
            a[e] -= V[e, i] * u[i]
        for c in range(e + 1):
            S[e, c] = 0.0
            for i in range(nf):
                S[e, c] += V[e, i] * V[c, i]
    dependent = _factor_independent(S, a)
    forward(S, a, ne)
    backward(S, a, ne)
    for e in range(ne):
        for i in range(nf):
            u[i] += a[e] * V[e, i]
    backward(L, u, nf)
    w[:] = 0.0
    for i in range(nf):
        w[F[i]] = u[i]
    return dependent


@njit(cache=True)
def _solve_pieces(M: Any, B: Any, C: Any, free: Any, state: Any, w: Any, alpha: Any) -> bool:
    """Optimum for given free weights and given queries on the margin; False if these do not determine it.

    If queries on the margin depend on each other, their multipliers are not unique; those left out keep theirs.
    """
    F, E = np.flatnonzero(free), np.flatnonzero(state == AT_MARGIN)
    pull, a, before = np.empty(M.shape[0]), np.empty(len(E)), alpha[E]
    for i in range(len(state)):
        alpha[i] = C[i] if state[i] == VIOLATED else 0.0
    rows_times(B, alpha, pull)
    dependent = saddle(M, B, F, E, pull, np.ones(len(E)), w, a)
    if dependent > 0:
        alpha[E] = before
        rows_times(B, alpha, pull)
        dependent = saddle(M, B, F, E, pull, np.ones(len(E)), w, a)
        a += before
    if dependent < 0:
        return False
    for e in range(len(E)):
        alpha[E[e]] = a[e]
    return True


@njit(cache=True)
def _switch(M: Any, B: Any, columns: Any, C: Any, bounded: bool, free: Any, state: Any, w: Any, alpha: Any) -> int:
    """Move weights and queries that are on the wrong side; return the number moved, which is 0 at the optimum."""
    m, n = M.shape[0], B.shape[0]
    margins, Mw, v = np.empty(n), np.empty(m), np.empty(m)
    rows_times(columns, w, margins)
    rows_times(M, w, Mw)
    rows_times(B, alpha, v)
    moved = 0
    for j in range(m if bounded else 0):
        if free[j] and w[j] < 0:
            free[j] = 0
            moved += 1
        elif not free[j] and Mw[j] - v[j] < -1e-12 * (abs(Mw[j]) + abs(v[j])):
            free[j] = 1
            moved += 1
    for i in range(n):
        if state[i] == AT_MARGIN and alpha[i] < 0:
            state[i] = SATISFIED
            moved += 1
        elif state[i] == AT_MARGIN and alpha[i] > C[i]:
            state[i] = VIOLATED
            moved += 1
        elif (
            state[i] == AT_MARGIN and abs(margins[i] - 1) > 1e-9
        ):  # left out as dependent, and not on the margin after all
            state[i] = SATISFIED if margins[i] > 1 else VIOLATED
            moved += 1
        elif (state[i] == SATISFIED and margins[i] < 1 - 1e-12) or (state[i] == VIOLATED and margins[i] > 1 + 1e-12):
            state[i] = AT_MARGIN
            moved += 1
    return moved


@njit(cache=True)
def active_set(
    M: Any, B: Any, columns: Any, C: Any, bounded: bool, free: Any, state: Any, w: Any, alpha: Any, limit: int
) -> int:
    """Optimum from a guess of the free weights (m,), of the side of each query and of alpha (n,); all are corrected.

    Returns the number of steps, or -1 if the guesses cycle or determine nothing.
    """
    for step in range(limit):
        if not _solve_pieces(M, B, C, free, state, w, alpha):
            return -1
        if _switch(M, B, columns, C, bounded, free, state, w, alpha) == 0:
            return step + 1
    return -1

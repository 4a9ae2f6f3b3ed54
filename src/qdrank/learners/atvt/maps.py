"""The per-query maps of Zha 2006: alpha and beta of every query for a fixed h, all queries at once.

For each query, with r = y - h and a = alpha - 1 (Zha 2006, section 3.2)::

    minimise over beta, a:   sum (r - beta - a h)^2 + lam_beta |beta|^p + lam_alpha |a|^p,   a >= alpha_min - 1

The solutions are closed forms in the moments of h and r. These are taken about the query's means: the determinant of
the normal equations, n sum h^2 - (sum h)^2, would cancel where h hardly varies within a query.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from qdrank.layout import FloatArray, IntArray

Norm = Literal["l1", "l2"]
BoolArray = NDArray[np.bool_]

#: A variance of h below this share of its mean square is rounding: the query's documents have one value of h.
_FLAT = 1e-14


@dataclass(frozen=True)
class Penalties:
    """Weights of the penalties on alpha and beta as they enter the objective, and the least alpha allowed."""

    lam_alpha: float
    lam_beta: float
    norm: Norm
    alpha_min: float

    def value(self, alpha: FloatArray, beta: FloatArray) -> float:
        """Both penalties of all queries together (Zha 2006, eq. 3)."""
        power = 1 if self.norm == "l1" else 2
        return float((_penalty(self.lam_alpha, alpha - 1, power) + _penalty(self.lam_beta, beta, power)).sum())


@dataclass(frozen=True)
class Moments:
    """Moments of h and r = y - h within every query, shape (n_queries,) each.

    Attributes
    ----------
    n : number of documents
    h, r : means
    hh, hr, rr : sums of products about the means
    """

    n: FloatArray
    h: FloatArray
    r: FloatArray
    hh: FloatArray
    hr: FloatArray
    rr: FloatArray


@dataclass(frozen=True)
class Maps:
    """The maps of every query: alpha, beta and whether alpha was held at its smallest value, (n_queries,) each."""

    alpha: FloatArray
    beta: FloatArray
    guarded: BoolArray


def sums(values: FloatArray, offsets: IntArray) -> FloatArray:
    """Sum over the documents of each query: (n_documents, ...) to (n_queries, ...)."""
    return np.add.reduceat(values, offsets[:-1], axis=0)


def moments(h: FloatArray, y: FloatArray, offsets: IntArray) -> Moments:
    """Moments of the predictions ``h`` and of their residuals from the targets ``y``, (n_documents,) each."""
    sizes = np.diff(offsets)
    n, r = sizes.astype(np.float64), y - h
    mean_h, mean_r = sums(h, offsets) / n, sums(r, offsets) / n
    h, r = h - np.repeat(mean_h, sizes), r - np.repeat(mean_r, sizes)
    hh, hr = sums(h * h, offsets), sums(h * r, offsets)
    flat = hh <= _FLAT * n * mean_h**2
    return Moments(n, mean_h, mean_r, np.where(flat, 0.0, hh), np.where(flat, 0.0, hr), sums(r * r, offsets))


def fit_maps(sums: Moments, penalties: Penalties) -> Maps:
    """The best alpha and beta of every query."""
    return (fit_l1 if penalties.norm == "l1" else fit_l2)(sums, penalties)


def _alpha(a: FloatArray, guarded: BoolArray, penalties: Penalties) -> FloatArray:
    return np.where(guarded, penalties.alpha_min, 1 + a)  # 1 + (alpha_min - 1) would not be alpha_min


# ---- p = 2 -------------------------------------------------------------------------------------------------------


def fit_l2(sums: Moments, penalties: Penalties) -> Maps:
    """Solve the normal equations ``(X'X + diag(lam_beta, lam_alpha)) (beta, a) = X'r``, X = [1, h] (section 3.2.1).

    Where alpha would fall below its smallest value it is held there and beta is fitted again. The problem is convex, so
    this is the minimum under the bound.
    """
    shrunk = _share(penalties.lam_beta, sums.n)  # lam_beta / (n + lam_beta): 1 for an infinite penalty
    above = sums.hr + shrunk * sums.n * sums.h * sums.r
    below = sums.hh + shrunk * sums.n * sums.h**2 + penalties.lam_alpha
    a = np.divide(above, below, out=np.zeros_like(above), where=below > 0)
    guarded = a < penalties.alpha_min - 1
    a = np.where(guarded, penalties.alpha_min - 1, a)
    return Maps(_alpha(a, guarded, penalties), (1 - shrunk) * (sums.r - a * sums.h), guarded)


def _share(lam: float, n: FloatArray) -> FloatArray:
    return np.ones_like(n) if np.isinf(lam) else lam / (n + lam)


# ---- p = 1 -------------------------------------------------------------------------------------------------------


def fit_l1(sums: Moments, penalties: Penalties) -> Maps:
    """Solve the lasso in two variables exactly (section 3.2.2): the best of its seven possible forms.

    The minimum has a = 0, or a at its bound, or beta = 0, or neither 0 with one of four pairs of signs. Each form has a
    closed solution; a pair of signs that its solution contradicts is ruled out. Ties go to the first form.
    """
    least = penalties.alpha_min - 1
    forms = [
        _beta_for(np.zeros_like(sums.n), sums, penalties),
        _beta_for(np.full_like(sums.n, least), sums, penalties),
    ]
    forms.append((np.maximum(_a_alone(sums, penalties), least), np.zeros_like(sums.n)))
    forms += [_both(s, t, sums, penalties) for s in (-1.0, 1.0) for t in (-1.0, 1.0)]
    values = np.array([_objective(a, beta, sums, penalties) for a, beta in forms])
    best = np.argmin(np.where(np.isnan(values), np.inf, values), axis=0)
    query = np.arange(len(sums.n))
    a, beta = (np.array([form[i] for form in forms])[best, query] for i in (0, 1))
    return Maps(_alpha(a, a <= least, penalties), beta, a <= least)


def _beta_for(a: FloatArray, sums: Moments, penalties: Penalties) -> tuple[FloatArray, FloatArray]:
    """Best beta for a given a."""
    return a, soft(sums.n * (sums.r - a * sums.h), penalties.lam_beta / 2) / sums.n


def _a_alone(sums: Moments, penalties: Penalties) -> FloatArray:
    """Best a for beta = 0."""
    above = soft(sums.hr + sums.n * sums.h * sums.r, penalties.lam_alpha / 2)
    below = sums.hh + sums.n * sums.h**2
    return np.divide(above, below, out=np.zeros_like(above), where=below > 0)


def _both(s: float, t: float, sums: Moments, penalties: Penalties) -> tuple[FloatArray, FloatArray]:
    """Best a and beta if beta has the sign ``s`` and a the sign ``t``; NaN where the solution has other signs."""
    if np.isinf(penalties.lam_alpha) or np.isinf(penalties.lam_beta):
        return np.full_like(sums.n, np.nan), np.full_like(sums.n, np.nan)
    above = sums.hr + (s * penalties.lam_beta * sums.h - t * penalties.lam_alpha) / 2
    a = np.divide(above, sums.hh, out=np.full_like(above, np.nan), where=sums.hh > 0)
    beta = sums.r - a * sums.h - s * penalties.lam_beta / (2 * sums.n)
    wrong = (np.sign(a) != t) | (np.sign(beta) != s) | (a < penalties.alpha_min - 1)
    return np.where(wrong, np.nan, a), np.where(wrong, np.nan, beta)


def _objective(a: FloatArray, beta: FloatArray, sums: Moments, penalties: Penalties) -> FloatArray:
    """Cost of the maps of each query, (n_queries,)."""
    loss = sums.rr - 2 * a * sums.hr + a**2 * sums.hh + sums.n * (sums.r - beta - a * sums.h) ** 2
    cost: FloatArray = loss + _penalty(penalties.lam_alpha, a, 1) + _penalty(penalties.lam_beta, beta, 1)
    return cost


def soft(x: FloatArray, threshold: float) -> FloatArray:
    """Soft thresholding: ``sign(x) max(|x| - threshold, 0)``."""
    return np.sign(x) * np.maximum(np.abs(x) - threshold, 0.0)


def _penalty(lam: float, x: FloatArray, power: int) -> FloatArray:
    """``lam |x|^power``; an infinite weight costs nothing where x is 0."""
    size = np.abs(x) ** power
    cost: FloatArray = np.multiply(lam, size, out=np.zeros_like(size), where=size != 0)
    return cost

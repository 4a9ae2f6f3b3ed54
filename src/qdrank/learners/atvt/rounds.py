"""The rounds of aTVT: maps for h, h for the maps, and the objective after every half step.

For a linear h there are also Newton steps on the objective with alpha and beta always at their best for h:
``F(w) = min over alpha, beta of L(w, alpha, beta)`` has the stationary points of L. Its gradient is that of L at the best
maps, and its Hessian the Schur complement of L's in w (variable projection; Golub and Pereyra 1973). One step costs
about as much as one fit of h, and a few steps replace thousands of rounds of the alternation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qdrank.errors import InputError
from qdrank.layout import FloatArray, IntArray, query_offsets
from qdrank.learners.atvt.maps import BoolArray, Maps, Penalties, fit_maps, moments, sums
from qdrank.learners.atvt.regressors import Linear, Regressor
from qdrank.learners.inputs import as_features, as_targets, refuse_other_length
from qdrank.learners.newton import halved

#: Relative rounding error of the objective: near the minimum the gradient is more informative than the value.
_ROUNDING = 1e-13
#: Share of the largest eigenvalue below which one counts as 0.
_FLAT = 1e-11
#: Number of times a step is halved before giving up.
HALVINGS = 30


@dataclass(frozen=True)
class MapPoint:
    """Weights, their maps, h of the documents and the objective."""

    w: FloatArray
    maps: Maps
    h: FloatArray
    value: float


@dataclass(frozen=True)
class Projected:
    """The projected objective of one training set."""

    model: Linear
    y: FloatArray
    offsets: IntArray
    penalties: Penalties

    def at(self, w: FloatArray) -> MapPoint:
        """The best maps for ``w``, and their cost."""
        h = self.model.design @ w
        maps = fit_maps(moments(h, self.y, self.offsets), self.penalties)
        value = squared_error(self.y, h, maps, self.offsets) + self.penalties.value(maps.alpha, maps.beta)
        return MapPoint(w, maps, h, value + float(self.model.penalty @ w**2))

    def step(self, at: MapPoint) -> MapPoint:
        """A point that is no worse: Newton's, shortened or turned to steepest descent until the objective falls."""
        direction, slope = self._direction(at)
        return halved(
            at, lambda length: self.at(at.w + length * direction), slope, halvings=HALVINGS, rounding=_ROUNDING
        )

    def _direction(self, at: MapPoint) -> tuple[FloatArray, float]:
        """Direction of the step, and the slope of the objective along it."""
        gradient, hessian, scale = self.derivatives(at)
        direction = _descent(hessian, gradient, scale)
        return direction, 2 * float(gradient @ direction)

    def derivatives(self, at: MapPoint) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Gradient (p,) and Hessian (p, p), both halved, and the Hessian's diagonal for fixed maps (p,)."""
        model, sizes = self.model, np.diff(self.offsets)
        alpha = np.repeat(at.maps.alpha, sizes)
        error = self.y - np.repeat(at.maps.beta, sizes) - alpha * at.h
        gradient = model.penalty * at.w - model.design.T @ (alpha * error)
        hessian = model.normal(alpha**2)
        scale = hessian.diagonal().copy()
        # Mixed derivatives of each query by beta and by alpha, (n_queries, p).
        by_beta = model.query_sums(alpha, self.offsets)
        by_alpha = model.query_sums(alpha * at.h - error, self.offsets)
        bb, ba, aa = self._inverse(at)
        mixed = by_alpha.T @ (ba[:, None] * by_beta)
        hessian -= by_beta.T @ (bb[:, None] * by_beta) + mixed + mixed.T + by_alpha.T @ (aa[:, None] * by_alpha)
        return gradient, hessian, scale

    def _inverse(self, at: MapPoint) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Inverse of each query's second derivatives in its free beta and alpha, (n_queries,) per entry."""
        beta_free, alpha_free = self._free(at.maps)
        extra = [0.0, 0.0] if self.penalties.norm == "l1" else [self.penalties.lam_beta, self.penalties.lam_alpha]
        n = np.diff(self.offsets) + np.where(beta_free, extra[0], 0.0)
        first, second = sums(at.h, self.offsets), sums(at.h**2, self.offsets)
        diagonal = second + np.where(alpha_free, extra[1], 0.0)
        schur = diagonal - np.where(beta_free, first**2 / n, 0.0)
        alpha_free &= schur > 1e-12 * diagonal  # h does not vary, so alpha can do nothing that beta cannot
        aa = np.divide(1.0, schur, out=np.zeros_like(schur), where=alpha_free)
        bb = np.where(beta_free, 1 / n + aa * (first / n) ** 2, 0.0)
        return bb, np.where(beta_free, -aa * first / n, 0.0), aa

    def _free(self, maps: Maps) -> tuple[BoolArray, BoolArray]:
        """Which beta and alpha move with w: all but those held at a bound, or at 0 and 1 by the norm or the penalty."""
        if self.penalties.norm == "l1":
            return maps.beta != 0, (maps.alpha != 1) & ~maps.guarded
        beta = np.full(len(maps.beta), np.isfinite(self.penalties.lam_beta))
        return beta, ~maps.guarded & np.isfinite(self.penalties.lam_alpha)


def squared_error(y: FloatArray, h: FloatArray, maps: Maps, offsets: IntArray) -> float:
    """``sum (y - beta - alpha h)^2`` over all documents (Zha 2006, eq. 2)."""
    sizes = np.diff(offsets)
    error = y - np.repeat(maps.beta, sizes) - np.repeat(maps.alpha, sizes) * h
    return float(error @ error)


def _descent(hessian: FloatArray, gradient: FloatArray, scale: FloatArray) -> FloatArray:
    """Newton's direction with the absolute values of the Hessian's eigenvalues, so that it leads downwards.

    Flat directions are left alone. With ``lam_beta = 0`` the intercept of h is one, since every beta compensates for
    it. ``scale`` (p,) brings the weights to a common size before eigenvalues are compared.
    """
    root = np.sqrt(np.where(scale > 0, scale, 1.0))
    values, vectors = np.linalg.eigh(hessian / root / root[:, None])
    size = np.abs(values)
    kept = size > _FLAT * size.max()
    along = vectors[:, kept].T @ (gradient / root)
    return np.asarray(-(vectors[:, kept] @ (along / size[kept])) / root)


#: Newton steps in a row before the next round of the alternation.
MOST_NEWTON = 25


def grouped(X: ArrayLike, y: ArrayLike, query: ArrayLike | None) -> tuple[NDArray[Any], FloatArray, IntArray]:
    """Checked features, targets and offsets, each query's rows together, queries in order of first appearance."""
    features, targets = as_features(X), as_targets(y)
    refuse_other_length(features, targets)
    ids = np.zeros(len(features)) if query is None else np.asarray(query)
    if ids.shape != targets.shape:
        problem = f"{len(features)} documents and query ids of shape {ids.shape} do not match"
        raise InputError(problem, fix="give one query id per row of features")
    _, first, name = np.unique(ids, return_index=True, return_inverse=True)
    place = np.argsort(np.argsort(first))[name]
    if (np.diff(place) < 0).any():
        order = np.argsort(place, kind="stable")
        features, targets, place = features[order], targets[order], place[order]
    return features, targets, query_offsets(place)


def moved(before: Maps, after: Maps) -> float:
    """How far maps moved: ``|alpha' - alpha| + |beta' - beta|``, Euclidean norms over the queries."""
    return float(np.linalg.norm(after.alpha - before.alpha) + np.linalg.norm(after.beta - before.beta))


class Alternation:
    """The state of the alternation.

    Attributes
    ----------
    maps : composed maps of all rounds so far; 1 and 0 before the first
    h : (n_documents,) predictions of the last fit
    objectives : L after every half step
    guarded : (n_queries,) whether alpha was held at its bound in any round
    rounds, newton : number of rounds and of Newton steps
    """

    def __init__(
        self, regressor: Regressor, y: FloatArray, offsets: IntArray, penalties: Penalties, *, weighted: bool
    ) -> None:
        self.regressor, self.y, self.offsets, self.penalties = regressor, y, offsets, penalties
        self.weighted = weighted
        n = len(offsets) - 1
        self.maps = Maps(np.ones(n), np.zeros(n), np.zeros(n, dtype=np.bool_))
        self.guarded = self.maps.guarded
        self.objectives: list[float] = []
        self.rounds = self.newton = 0
        self.fit_h()  # with alpha = 1 and beta = 0: the plain regressor

    def round(self) -> float:
        """Fit the maps for h, then h for the maps; return how far the maps moved."""
        before, after = self.maps, self._maps()
        self.maps, self.guarded = after, self.guarded | after.guarded
        self._record()
        self.fit_h()
        self.rounds += 1
        return moved(before, after)

    def newton_steps(self, model: Linear, limit: float) -> None:
        """Move h by Newton steps on the projected objective until the maps move by ``limit`` at most."""
        projected = Projected(model, self.y, self.offsets, self.penalties)
        at = projected.at(model.w)
        for _ in range(MOST_NEWTON):
            before, at = at, projected.step(at)
            self.newton += 1
            if moved(before.maps, at.maps) <= limit:
                break
        model.w, self.h = at.w, at.h

    def fit_h(self) -> None:
        """Fit h to the targets with the maps undone, weighted by alpha^2 (section 3.1)."""
        alpha, beta = (np.repeat(of_query, np.diff(self.offsets)) for of_query in (self.maps.alpha, self.maps.beta))
        weight = alpha**2 if self.weighted else np.ones(len(alpha))
        self.h = self.regressor.fit((self.y - beta) / alpha, weight)
        self._record()

    def _maps(self) -> Maps:
        """The best maps for h; without weights, those of the transformed targets composed with the ones before.

        With y = b + a y' and y' = beta + alpha h, alpha of all rounds is their product and beta is the sum of each
        round's beta times the alphas before it.
        """
        if self.weighted:
            return fit_maps(moments(self.h, self.y, self.offsets), self.penalties)
        a, b, sizes = self.maps.alpha, self.maps.beta, np.diff(self.offsets)
        targets = (self.y - np.repeat(b, sizes)) / np.repeat(a, sizes)
        fitted = fit_maps(moments(self.h, targets, self.offsets), self.penalties)
        return Maps(a * fitted.alpha, b + a * fitted.beta, fitted.guarded)

    def _record(self) -> None:
        value = squared_error(self.y, self.h, self.maps, self.offsets)
        value += self.penalties.value(self.maps.alpha, self.maps.beta) + self.regressor.penalty_value()
        self.objectives.append(value)

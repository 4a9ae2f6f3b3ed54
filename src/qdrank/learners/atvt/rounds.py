"""The rounds of aTVT: maps for h, h for the maps, and the objective after every half step."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qdrank.errors import InputError
from qdrank.layout import FloatArray, IntArray, query_offsets
from qdrank.learners.atvt.maps import Maps, Penalties, fit_maps, moments
from qdrank.learners.atvt.newton import Projected, squared_error
from qdrank.learners.atvt.regressors import Linear, Regressor
from qdrank.learners.inputs import as_features, as_targets, refuse_other_length

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

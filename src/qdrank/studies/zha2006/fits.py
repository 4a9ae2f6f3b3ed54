"""Fits of one regressor on one fold, and the choice among them on validation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil, inf
from typing import Any

import numpy as np

from qdrank.groups import FloatArray
from qdrank.learners.atvt import ATVT
from qdrank.learners.atvt_maps import fit_maps, moments
from qdrank.studies.zha2006.data import FoldData

Params = dict[str, Any]
Cell = tuple[float, float]
"""lam_alpha and lam_beta."""
#: Roles whose documents are scored by every fit.
SCORED = ("train", "vali", "test")


@dataclass(frozen=True)
class Fit:
    """A fitted aTVT, or plain regressor, with its scores by role and its mean on validation."""

    params: Params
    model: ATVT
    scores: Mapping[str, FloatArray]
    watched: float

    @property
    def text(self) -> str:
        """The setting in words, as it stands in the artifact ``choices``."""
        named = [name for name in ("lam_h", "trees", "learning_rate", "lam_alpha", "lam_beta") if name in self.params]
        return ", ".join(f"{name}={self.params[name]:g}" for name in named)


@dataclass
class Fitter:
    """Fits of one regressor; a setting that was fitted before is not fitted again."""

    data: FoldData
    h: str
    options: Mapping[str, Any]
    _done: dict[str, Fit] = field(default_factory=dict)

    def fit(self, **params: Any) -> Fit:
        """Fit with ``params`` on top of what the study fixes."""
        key = repr(sorted(params.items()))
        if key not in self._done:
            self._done[key] = self._fit(params)
        return self._done[key]

    def plain(self, **params: Any) -> Fit:
        """The regressor without aTVT."""
        return self.fit(rounds=0, **params)

    def _fit(self, params: Params) -> Fit:
        train = self.data.parts["train"]
        model = ATVT(**(self.fixed() | params)).fit(train.X, train.targets, train.judged.query)
        return self.judged(params, model)

    def judged(self, params: Params, model: ATVT) -> Fit:
        """Scores of a fitted model."""
        scores = {role: model.predict(self.data.parts[role].X) for role in SCORED if len(self.data.parts[role].X)}
        return Fit(params, model, scores, self.data.watched_value(scores[self.data.watched]))

    def fixed(self) -> Params:
        """What all fits have in common."""
        options = self.options
        common = {
            "h": self.h,
            "penalties": options["penalties"],
            "weighted": options["weighted"],
            "tol": options["tol"],
        }
        if self.h == "trees":
            common |= {"rounds": options["rounds"], "leaves": options["leaves"], "min_leaf": options["min_leaf"]}
        return common | {"seed": self.data.seed}

    # ---- settings to try -----------------------------------------------------------------------------------------

    def settings(self) -> list[Params]:
        """Settings of h among which validation decides."""
        if self.h == "ridge":
            return [{"lam_h": value} for value in self.options["lam_h"]]
        pairs = [(m, rate) for rate in self.options["learning_rates"] for m in self.options["trees"]]
        return [{"trees": m, "learning_rate": rate} for m, rate in pairs]

    def cells(self) -> list[Cell]:
        """Penalties among which validation decides."""
        return [(a, b) for a in self.options["lam_alpha"] for b in self.options["lam_beta"]]

    def best_plain(self) -> tuple[Fit, list[Fit]]:
        """The plain regressor, chosen among as many settings as aTVT is, and all that were tried."""
        budget = len(self.cells()) + len(self.settings())
        tried = self._plain_ridges(budget) if self.h == "ridge" else self._plain_trees(budget)
        best = best_of(tried)
        return self.plain(**{name: value for name, value in best.params.items() if name != "rounds"}), tried

    def _plain_ridges(self, budget: int) -> list[Fit]:
        low, high = min(self.options["lam_h"]), max(self.options["lam_h"])
        return [self.plain(lam_h=float(value)) for value in np.geomspace(low, high, budget)]

    def _plain_trees(self, budget: int) -> list[Fit]:
        """Every ensemble holds the smaller ones: one fit for each shrinkage serves all numbers of trees."""
        rates, most = self.options["learning_rates"], max(self.options["trees"])
        counts = np.unique(np.linspace(most / ceil(budget / len(rates)), most, ceil(budget / len(rates))).round())
        tried: list[Fit] = []
        for rate in rates:
            whole = self.plain(trees=most, learning_rate=rate)
            tried += [self._first_trees(whole, m, rate) for m in counts.astype(int).tolist()]
        return tried

    def _first_trees(self, whole: Fit, m: int, rate: float) -> Fit:
        X = self.data.parts[self.data.watched].X
        scores = np.asarray(whole.model.booster.predict(X, num_iteration=m, num_threads=1), dtype=np.float64)
        params = {"rounds": 0, "trees": m, "learning_rate": rate}
        return Fit(params, whole.model, {self.data.watched: scores}, self.data.watched_value(scores))

    def search(self, start: Params, cells: Iterable[Cell], norm: str = "l2") -> tuple[Fit, list[Fit]]:
        """The best penalties for the settings ``start`` of h, then the best settings for these penalties.

        Returns the best of all that were tried, and these.
        """
        tried = [self.fit(**start, norm=norm, lam_alpha=a, lam_beta=b) for a, b in cells]
        best = best_of(tried).params
        penalties = {name: best[name] for name in ("norm", "lam_alpha", "lam_beta")}
        tried += [self.fit(**setting, **penalties) for setting in self.settings() if setting != start]
        return best_of(tried), tried

    def maps(self, fit: Fit, role: str) -> tuple[FloatArray, FloatArray]:
        """Alpha and beta of a role's queries: those learned in training, or those that would fit other queries best."""
        if role == "train":
            return fit.model.alpha_, fit.model.beta_
        part, model = self.data.parts[role], fit.model
        found = moments(fit.scores[role], part.targets, part.judged.offsets)
        maps = fit_maps(found, model.effective(model.scale_))
        return maps.alpha, maps.beta


def best_of(tried: Sequence[Fit]) -> Fit:
    """The first of the best on validation."""
    return tried[int(np.argmax([one.watched for one in tried]))]


#: Penalties of the two controls: a free offset without a scale, and the limit that is the plain regressor.
OFFSET_ALONE: Cell = (inf, 0.0)
LIMIT: Cell = (inf, inf)

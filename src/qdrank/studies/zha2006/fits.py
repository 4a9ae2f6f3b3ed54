"""Fits of one regressor on one fold, and the choice among them on validation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil, inf
from typing import Any

import numpy as np

from qdrank.layout import FloatArray
from qdrank.learners.atvt.estimator import ATVT
from qdrank.learners.atvt.maps import fit_maps, moments
from qdrank.learners.choose import choose
from qdrank.learners.regularised import most_regularised_first
from qdrank.studies.zha2006.data import FoldData
from qdrank.studies.zha2006.options import Cell, Options

Params = dict[str, Any]
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
        """The setting as text, as in the artifact ``choices``."""
        named = [name for name in ("lam_h", "trees", "learning_rate", "lam_alpha", "lam_beta") if name in self.params]
        return ", ".join(f"{name}={self.params[name]:g}" for name in named)


@dataclass
class Fitter:
    """Fits of one regressor; each setting is fitted only once."""

    data: FoldData
    h: str
    options: Options
    _done: dict[str, Fit] = field(default_factory=dict)

    def fit(self, **params: Any) -> Fit:
        """Fit with ``params`` in addition to what the study fixes."""
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
        return Fit(params, model, scores, self.data.validation.mean(scores[self.data.watched]))

    def fixed(self) -> Params:
        """Parameters that all fits share."""
        options = self.options
        common = {
            "h": self.h,
            "penalties": options.penalties,
            "weighted": options.weighted,
            "tol": options.tol,
        }
        if self.h == "trees":
            common |= {"rounds": options.rounds, "leaves": options.leaves, "min_leaf": options.min_leaf}
        return common | {"seed": self.data.seed}

    # ---- settings to try -----------------------------------------------------------------------------------------

    def settings(self) -> list[Params]:
        """Settings of h to try with aTVT."""
        if self.h == "ridge":
            return [{"lam_h": value} for value in most_regularised_first("lam_h", self.options.lam_h)]
        counts = most_regularised_first("trees", self.options.trees)
        return [{"trees": m, "learning_rate": rate} for rate in self.options.rates for m in counts]

    @property
    def budget(self) -> int:
        """Number of settings aTVT chooses from: all penalties for one setting of h, all settings for one penalty."""
        return len(self.options.cells) + len(self.settings())

    def dense_settings(self) -> list[Params]:
        """Equally many settings of h alone, over the same range, for methods without penalties."""
        if self.h == "ridge":
            low, high = min(self.options.lam_h), max(self.options.lam_h)
            return [{"lam_h": float(value)} for value in np.geomspace(high, low, self.budget)]
        rates, most = self.options.rates, max(self.options.trees)
        n = ceil(self.budget / len(rates))
        counts = np.unique(np.linspace(most / n, most, n).round()).astype(int).tolist()
        return [{"trees": m, "learning_rate": rate} for rate in rates for m in counts]

    # ---- choice --------------------------------------------------------------------------------------------------

    def best_plain(self) -> tuple[Fit, list[Fit]]:
        """The plain regressor, chosen from as many settings as aTVT, and all fits tried."""
        tried = [self._plain_candidate(setting) for setting in self.dense_settings()]
        return self.plain(**setting_of(best_of(tried))), tried

    def _plain_candidate(self, setting: Params) -> Fit:
        if self.h == "ridge":
            return self.plain(**setting)
        # Every ensemble contains the smaller ones, so one fit per shrinkage covers all numbers of trees.
        whole = self.plain(**(setting | {"trees": max(self.options.trees)}))
        return self._first_trees(whole, setting)

    def _first_trees(self, whole: Fit, setting: Params) -> Fit:
        X, m = self.data.parts[self.data.watched].X, setting["trees"]
        scores = np.asarray(whole.model.boosters[0].predict(X, num_iteration=m, num_threads=1), dtype=np.float64)
        params = {"rounds": 0, **setting}
        return Fit(params, whole.model, {self.data.watched: scores}, self.data.validation.mean(scores))

    def search(
        self, start: Params, cells: Iterable[Cell], norm: str = "l2", settings: Sequence[Params] | None = None
    ) -> tuple[Fit, list[Fit]]:
        """The best penalties for the setting ``start`` of h, then the best setting for these penalties.

        Returns the best fit and all fits tried.
        """
        tried = [self.fit(**start, norm=norm, lam_alpha=a, lam_beta=b) for a, b in cells]
        best = best_of(tried).params
        penalties = {name: best[name] for name in ("norm", "lam_alpha", "lam_beta")}
        others = self.settings() if settings is None else settings
        tried += [self.fit(**setting, **penalties) for setting in others if setting != start]
        return best_of(tried), tried

    def maps(self, fit: Fit, role: str) -> tuple[FloatArray, FloatArray]:
        """Alpha and beta of a role's queries: as learned for training queries, or as would fit other queries best."""
        if role == "train":
            return fit.model.alpha_, fit.model.beta_
        part, model = self.data.parts[role], fit.model
        sums = moments(fit.scores[role], part.targets, part.judged.offsets)
        maps = fit_maps(sums, model.effective(model.scale_))
        return maps.alpha, maps.beta


def best_of(tried: Sequence[Fit]) -> Fit:
    """The fit that validation chooses; ``tried`` goes from the most to the least regularised."""
    return choose((one, one.watched) for one in tried).chosen


def setting_of(fit: Fit) -> Params:
    """The setting of h of a fit."""
    return {name: fit.params[name] for name in ("lam_h", "trees", "learning_rate") if name in fit.params}


#: Penalties of the two controls: a free offset without a scale, and the limit that equals the plain regressor.
OFFSET_ALONE: Cell = (inf, 0.0)
LIMIT: Cell = (inf, inf)

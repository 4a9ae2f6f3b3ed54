"""Fits of one regressor on one fold, and the choice among them on validation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qdrank.jobs import threads_given
from qdrank.layout import FloatArray, IntArray
from qdrank.learners.atvt.estimator import ATVT
from qdrank.learners.atvt.maps import fit_maps, moments
from qdrank.learners.atvt.regressors import GrownTrees
from qdrank.learners.choose import choose
from qdrank.learners.refits import jittered
from qdrank.learners.regularised import most_regularised_first
from qdrank.studies.zha2006.data import FoldData, FoldPart
from qdrank.studies.zha2006.options import Cell, Options

Params = dict[str, Any]
#: Parameters of h that are chosen.
SETTING = ("lam_h", "leaves", "min_leaf", "learning_rate")


@dataclass(frozen=True)
class Fit:
    """A fitted aTVT, or plain regressor, and its mean on validation."""

    params: Params
    model: ATVT
    watched: float
    parts: Mapping[str, FoldPart]
    _scores: dict[str, FloatArray] = field(default_factory=dict, repr=False)

    def scores(self, role: str) -> FloatArray:
        """Scores of a role's documents, (n_documents,), predicted when asked for: most fits only show those of validation."""
        if role not in self._scores:
            self._scores[role] = self.model.predict(self.parts[role].X)
        return self._scores[role]

    @property
    def text(self) -> str:
        """The setting as text, as in the artifact ``choices``."""
        named = [name for name in (*SETTING, "lam_alpha", "lam_beta") if name in self.params]
        return ", ".join(f"{name}={self.params[name]:g}" for name in named)


@dataclass
class Fitter:
    """Fits of one regressor; each setting is fitted only once, and all begin with the same ``grown`` trees."""

    data: FoldData
    h: str
    options: Options
    grown: GrownTrees = field(default_factory=GrownTrees)
    _done: dict[tuple[str, int], Fit] = field(default_factory=dict)

    def fit(self, **params: Any) -> Fit:
        """Fit with ``params`` in addition to what the study fixes."""
        return self.refit(params, 0)

    def refit(self, params: Params, number: int) -> Fit:
        """The fit of this number with ``params``; all but the first are to slightly noisy targets."""
        key = repr(sorted(params.items())), number
        if key not in self._done:
            targets, noise = self.data.parts["train"].targets, self.options.jitter
            self._done[key] = self._fit(params, jittered(targets, fit=number, seed=self.data.seed, size=noise))
        return self._done[key]

    def plain(self, **params: Any) -> Fit:
        """The regressor without aTVT."""
        return self.fit(rounds=0, **params)

    def _fit(self, params: Params, targets: FloatArray) -> Fit:
        """A fit to these targets of the training documents; of trees, as many as do best on validation."""
        train, watched = self.data.parts["train"], self.data.watched
        model = ATVT(**(self.fixed() | params)).fit(train.X, targets, train.judged.query, grown=self.grown)
        if self.h != "trees":
            scores = model.predict(self.data.parts[watched].X)
            return Fit(params, model, self.data.validation.mean(scores), self.data.parts, {watched: scores})
        booster = model.booster
        scores = np.cumsum(values_of_trees(booster, self.data.parts[watched].X), axis=1)
        values = self.data.validation.values(scores)
        best = choose((i + 1, values[:, i]) for i in range(scores.shape[1]))
        model.keep_trees(best.chosen)
        return Fit(params, model, best.value, self.data.parts, {watched: scores[:, best.place].copy()})

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
            common |= {"rounds": options.rounds, "trees": options.trees}
        return common | {"seed": self.data.seed}

    # ---- settings to try -----------------------------------------------------------------------------------------

    def settings(self) -> list[Params]:
        """Settings of h to try with aTVT."""
        if self.h == "ridge":
            return [{"lam_h": value} for value in most_regularised_first("lam_h", self.options.lam_h)]
        return self._trees(self.options.rates)

    def _trees(self, rates: Iterable[float]) -> list[Params]:
        options = self.options
        leaves, smallest = (most_regularised_first(name, getattr(options, name)) for name in ("leaves", "min_leaf"))
        return [
            {"leaves": n, "min_leaf": least, "learning_rate": rate}
            for rate, n, least in product(rates, leaves, smallest)
        ]

    @property
    def budget(self) -> int:
        """Number of settings aTVT chooses from: all penalties for one setting of h, all settings for one penalty."""
        return len(self.options.cells) + len(self.settings())

    def dense_settings(self) -> list[Params]:
        """Equally many settings of h alone, over the same range, for methods without penalties; trees to the nearest grid."""
        if self.h == "ridge":
            low, high = min(self.options.lam_h), max(self.options.lam_h)
            return [{"lam_h": float(value)} for value in np.geomspace(high, low, self.budget)]
        rates = self.options.rates
        n = max(2, round(self.budget * len(rates) / len(self.settings())))
        ends = (rates[0] / 2, rates[0] * 2) if len(rates) == 1 else (rates[0], rates[-1])
        return self._trees(np.geomspace(*ends, n).tolist())

    def pairwise_grid(self, usual: Mapping[str, Any]) -> dict[str, list[Any]]:
        """As many settings for the learner of pairs or lists, with the same sizes of trees, stopped on validation too."""
        if self.h == "ridge":
            return {"lam": np.geomspace(max(usual["lam"]), min(usual["lam"]), self.budget).tolist()}
        dense = self.dense_settings()
        sizes = {name: list(dict.fromkeys(one[name] for one in dense)) for name in SETTING if name in dense[0]}
        return {**sizes, "rounds": [self.options.trees], "patience": [self.options.trees]}

    # ---- choice --------------------------------------------------------------------------------------------------

    def best_plain(self) -> tuple[Fit, list[Fit]]:
        """The plain regressor, chosen from as many settings as aTVT, and all fits tried."""
        tried = [self.plain(**setting) for setting in self.dense_settings()]
        return best_of(tried), tried

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
        sums = moments(fit.scores(role), part.targets, part.judged.offsets)
        maps = fit_maps(sums, model.effective(model.scale_))
        return maps.alpha, maps.beta


def values_of_trees(booster: Any, X: NDArray[Any]) -> FloatArray:
    """What each tree adds to the scores of the rows of X, (n_documents, n_trees), in one walk through all trees."""
    leaves = booster.predict(X, pred_leaf=True, num_threads=threads_given()).reshape(len(X), -1)
    return np.stack([_outputs(booster, tree, reached) for tree, reached in enumerate(leaves.T)], axis=1)


def _outputs(booster: Any, tree: int, reached: IntArray) -> FloatArray:
    """Values of the leaves of a tree that the documents reached, (n_documents,)."""
    return np.array([booster.get_leaf_output(tree, leaf) for leaf in range(int(reached.max()) + 1)])[reached]


def best_of(tried: Sequence[Fit]) -> Fit:
    """The fit that validation chooses; ``tried`` goes from the most to the least regularised."""
    return choose((one, one.watched) for one in tried).chosen


def setting_of(fit: Fit) -> Params:
    """The setting of h of a fit."""
    return {name: fit.params[name] for name in SETTING if name in fit.params}


#: Penalties of the two controls: a free offset without a scale, and the limit that equals the plain regressor.
OFFSET_ALONE: Cell = (inf, 0.0)
LIMIT: Cell = (inf, inf)

"""A fold as the study of Zha 2006 sees it, fits of one regressor on it, and the choice among them on validation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from math import inf
from typing import Any, Literal, Self
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from qdrank.datasets.judged import Judged
from qdrank.jobs import threads_given
from qdrank.layout import FloatArray, IntArray
from qdrank.learners import LEARNERS
from qdrank.learners.atvt.estimator import ATVT
from qdrank.learners.atvt.maps import fit_maps, moments
from qdrank.learners.atvt.regressors import GrownTrees
from qdrank.learners.choose import ValidationQueries, choose, fit_seed, grid_settings, jittered
from qdrank.learners.parameters import most_regularised_first
from qdrank.measures import gains
from qdrank.rankers.base import Validation
from qdrank.rankers.learned import LearnerRanker
from qdrank.rankers.tuning import query_values_of
from qdrank.studies.zha2006.methods import Cell, Options

TargetKind = Literal["auto", "grades", "exp", "zha"]
_VALUES: dict[str, gains.Gain] = {"grades": gains.linear, "exp": gains.exponential, "zha": gains.zha}
_CONVENTIONS = {"grades": "linear", "exp": "exp", "zha": "zha"}


def resolved(kind: TargetKind, highest: int) -> str:
    """What ``auto`` means for data with grades 0 to ``highest``: the paper's values for five grades, else 2^g - 1."""
    return kind if kind != "auto" else "zha" if highest == 4 else "exp"


def target_values(kind: TargetKind, grades: IntArray, highest: int) -> FloatArray:
    """Number of each grade, (n_documents,): the grade itself, 2^g - 1, or 0, 0.5, 3, 7, 10."""
    return np.asarray(_VALUES[resolved(kind, highest)](highest + 1)[grades])


def dcg(kind: TargetKind, highest: int, depth: int = 5) -> str:
    """Name of the DCG with these gains, Zha 2006's ``sum G_i / log2(i + 1)`` over the first ``depth`` ranks."""
    return f"dcg@{depth}/{_CONVENTIONS[resolved(kind, highest)]}"


@dataclass(frozen=True)
class FoldPart:
    """Documents of one role as h sees them, and their targets."""

    judged: Judged
    targets: FloatArray

    @property
    def varied(self) -> NDArray[np.bool_]:
        """Whether a query has documents of different grades, (n_queries,); if not, all its rankings are equal."""
        starts = self.judged.offsets[:-1]
        return np.maximum.reduceat(self.judged.y, starts) > np.minimum.reduceat(self.judged.y, starts)


@dataclass(frozen=True)
class FoldData:
    """Parts by role, the name of the DCG, and the seed that orders tied documents on validation."""

    parts: Mapping[str, FoldPart]
    measure: str
    seed: int

    @property
    def watched(self) -> str:
        """Role on which settings are chosen: vali, or train if the fold has no validation queries."""
        return "vali" if self.parts["vali"].judged.n_queries else "train"

    @cached_property
    def validation(self) -> ValidationQueries:
        """Queries of the watched role, on which settings are chosen."""
        return ValidationQueries.of(self.parts[self.watched].judged, measure=self.measure, seed=self.seed)

    def reported(self, role: str, scores: FloatArray) -> FloatArray:
        """DCG of every query, (n_queries,), ties in row order as in every report."""
        return query_values_of(self.measure, self.parts[role].judged, scores)


def fold_data(parts: Mapping[str, Validation], options: Options, highest: int, seed: int) -> FoldData:
    """The ``parts`` of a fold with the targets and measure of the options; ``highest`` is the highest grade of the data set."""
    with_targets = {
        role: FoldPart(judged, target_values(options.targets, judged.y, highest)) for role, (judged, _) in parts.items()
    }
    return FoldData(with_targets, dcg(options.gains, highest, options.depth), seed)


Params = dict[str, Any]
#: Parameters of h that are chosen.
SETTING = ("lam_h", "leaves", "min_leaf", "learning_rate")


@dataclass(kw_only=True, eq=False)
class Fit(LearnerRanker):
    """A fitted aTVT, or plain regressor: a ranker that its `Fitter` has fitted to the targets.

    Attributes
    ----------
    params : in addition to what the study fixes
    watched : its mean on validation
    """

    learner: ATVT
    params: Params = field(init=False, repr=False)
    watched: float = field(init=False, repr=False)
    fitter: Fitter = field(init=False, repr=False)
    _scores: WeakKeyDictionary[Judged, FloatArray] = field(init=False, repr=False, default_factory=WeakKeyDictionary)

    def fit(self, train: Judged, vectors: FloatArray, validation: Validation | None = None) -> Self:  # noqa: ARG002
        """It is fitted."""
        return self

    def predict(self, documents: Judged, vectors: FloatArray | None = None) -> FloatArray:  # noqa: ARG002
        """Scores (n_documents,), predicted when asked for: most fits only show those of validation."""
        if documents not in self._scores:
            self._scores[documents] = self.learner.predict(documents.X)
        return self._scores[documents]

    def scores(self, role: str) -> FloatArray:
        """Scores of a role's documents, (n_documents,)."""
        return self.predict(self.fitter.data.parts[role].judged)

    def again(self, seed: int, train: Validation, validation: Validation | None = None) -> Any:  # noqa: ARG002
        """The further fit with this seed."""
        return self.fitter.refit(self.params, self.fitter.numbers[seed])


@dataclass
class Fitter:
    """Fits of one regressor; each setting is fitted only once, and all begin with the same ``grown`` trees."""

    data: FoldData
    h: str
    options: Options
    grown: GrownTrees = field(default_factory=GrownTrees)
    _done: dict[tuple[str, int], Fit] = field(default_factory=dict)

    @property
    def numbers(self) -> dict[int, int]:
        """Numbers of the further fits, by their seeds."""
        return {fit_seed(self.data.seed, number): number for number in range(1, self.options.refits)}

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
        train, watched = self.data.parts["train"].judged, self.data.parts[self.data.watched].judged
        fit = Fit(learner=ATVT(**(self.fixed() | params)).fit(train.X, targets, train.query, grown=self.grown))
        fit.params, fit.fitter = params, self
        if self.h != "trees":
            fit.watched = self.data.validation.mean(fit.predict(watched))
            return fit
        scores = np.cumsum(values_of_trees(fit.learner.booster, watched.X), axis=1)
        values = self.data.validation.values(scores)
        best = choose((i + 1, values[:, i]) for i in range(scores.shape[1]))
        fit.learner.keep_trees(best.chosen)
        fit.watched, fit._scores[watched] = best.value, scores[:, best.place].copy()
        return fit

    def fixed(self) -> Params:
        """Parameters that all fits share."""
        options = self.options
        common = {"h": self.h, "penalties": options.penalties, "weighted": options.weighted, "tol": options.tol}
        if self.h == "trees":
            common |= {"rounds": options.rounds, "trees": options.trees}
        if self.h == "kernel":
            common["landmarks"] = LANDMARKS
        return common | {"seed": self.data.seed}

    # ---- settings to try -----------------------------------------------------------------------------------------

    def settings(self) -> list[Params]:
        """Settings of h to try with aTVT."""
        if self.h != "trees":
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
        if self.h != "trees":
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

    # ---- what methods try ----------------------------------------------------------------------------------------

    def tried(self, kind: str, plain: Fit | None) -> list[Fit]:
        """Fits of a kind of method that validation chooses from; but for the first kind, from the setting of ``plain``."""
        if plain is None:
            return [self.plain(**setting) for setting in self.dense_settings()]
        setting, options = setting_of(plain), self.options
        searches: dict[str, dict[str, Any]] = {
            "atvt": {"cells": options.cells},
            "l1": {"cells": options.cross, "norm": "l1"},
            "scale": {"cells": [(a, inf) for a in options.scale_penalties]},
            "centred": {"cells": [OFFSET_ALONE], "settings": self.dense_settings()},
        }
        if kind in searches:
            return self.search(setting, **searches[kind])
        return [self.fit(**setting, **self.given()[kind])]

    def given(self) -> dict[str, Params]:
        """Parameters of the fits that are shown without a choice, by kind, beside the setting of the plain regressor."""
        paper = {"norm": "l2", **penalties(self.options.paper)}
        return {
            "fixed": paper,
            "unweighted": {**paper, "weighted": False},
            "weak": {"norm": "l2", **penalties((self.options.weak, self.options.weak))},
            "limit": {"norm": "l2", **penalties(LIMIT)},
            "paper-l1": PAPERS_L1,
        }

    def search(
        self, start: Params, cells: Iterable[Cell], norm: str = "l2", settings: Sequence[Params] | None = None
    ) -> list[Fit]:
        """Every pair of penalties for the setting ``start`` of h, then every setting for the best of these penalties."""
        tried = [self.fit(**start, norm=norm, **penalties(cell)) for cell in cells]
        best = best_of(tried).params
        others = self.settings() if settings is None else settings
        chosen = {name: best[name] for name in ("norm", "lam_alpha", "lam_beta")}
        return [*tried, *(self.fit(**setting, **chosen) for setting in others if setting != start)]

    def pairwise(self, learner: str) -> list[LearnerRanker]:
        """The learner of pairs or lists with the settings of `pairwise_grid`."""
        kind, grid = LEARNERS[learner], self.pairwise_grid(self.options.usual[learner])
        given = {"measure": self.data.measure, "seed": self.data.seed}
        fixed = {name: value for name, value in given.items() if name in kind.__dataclass_fields__}
        return [LearnerRanker(learner=kind(**fixed, **one)) for one in grid_settings(grid)]

    def maps(self, fit: Fit, role: str) -> tuple[FloatArray, FloatArray]:
        """Alpha and beta of a role's queries: as learned for training queries, or as would fit other queries best."""
        if role == "train":
            return fit.learner.alpha_, fit.learner.beta_
        part, model = self.data.parts[role], fit.learner
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


def setting_of(fit: Any) -> Params:
    """The setting of h of a fit."""
    return {name: fit.params[name] for name in SETTING if name in fit.params}


def penalties(cell: Cell) -> dict[str, float]:
    """A cell as parameters."""
    return {"lam_alpha": cell[0], "lam_beta": cell[1]}


#: Documents that span the space of the kernel.
LANDMARKS = 300
#: Penalties of the two controls: a free offset without a scale, and the limit that equals the plain regressor.
OFFSET_ALONE: Cell = (inf, 0.0)
LIMIT: Cell = (inf, inf)
#: The paper's L1 result: one round, raw penalties.
PAPERS_L1 = {"norm": "l1", "lam_alpha": 100.0, "lam_beta": 0.2, "rounds": 1, "penalties": "raw"}

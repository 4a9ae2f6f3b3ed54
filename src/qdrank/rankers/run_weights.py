"""Weights of fused runs: the same for all queries, or of each query's own.

A *setting* is one weight for each run, 0 or more, with sum 1. The *curve* of a judged query is its measure at every setting.
Every ranker here chooses one setting per query by an estimate of that query's curve; `FixedWeights` has one estimate for
all, the mean curve of the training queries.

Two runs have 21 settings, three have 66, those of a grid: search is exact. With more runs a grid is too large. Then a
coordinate search on the training queries gives the centre, and the settings are the centre, and for each run: the run
alone, the centre moved a quarter and half of the way to it, and the centre without it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass, field
from itertools import product
from typing import Any, ClassVar, Self
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from qdrank.datasets.judged import Judged
from qdrank.errors import InputError
from qdrank.layout import FloatArray, IntArray
from qdrank.learners.choose import ValidationQueries, choose, jittered
from qdrank.queries.profiles import Profiler, Similarity, profiler
from qdrank.queries.sizes import neighbour_count
from qdrank.rankers.base import OwnModels, Validation
from qdrank.rankers.knn import random_neighbours
from qdrank.rankers.run_scores import Norm, RunScores, count_runs, normalised, retrieved
from qdrank.registry import refuse_unknown

#: Steps of the grid by number of runs.
_STEPS = {2: 20, 3: 10}
_FACTORS, _PASSES = (0.0, 0.5, 2.0), 2
#: Settings that are measured together, and queries that are compared with all training queries together.
_TOGETHER, _BLOCK = 8, 1024


# ---- settings and curves -------------------------------------------------------------------------------------------


def weight_grid(n_runs: int) -> FloatArray:
    """All settings of two or three runs, those near to equal weights first; shape (n_settings, n_runs)."""
    steps = _STEPS[n_runs]
    whole = [head for head in product(range(steps + 1), repeat=n_runs - 1) if sum(head) <= steps]
    grid = np.array([[*head, steps - sum(head)] for head in whole]) / steps
    far = np.round(((grid - 1 / n_runs) ** 2).sum(axis=1), 9)
    return np.asarray(grid[np.argsort(far, kind="stable")])


def settings_for(queries: ValidationQueries, scores: RunScores) -> FloatArray:
    """The settings of runs with ``scores`` of training queries; shape (n_settings, n_runs)."""
    n_runs = scores.scores.shape[1]
    if n_runs in _STEPS:
        return weight_grid(n_runs)
    centre = _coordinate_search(queries, scores)
    alone = np.eye(n_runs)
    moved = [(1 - t) * centre + t * alone for t in (0.25, 0.5)]
    without = np.where(alone > 0, 0.0, centre)
    without = without[without.sum(axis=1) > 0]
    star = np.vstack([centre[None], *moved, without / without.sum(axis=1, keepdims=True), alone])
    return np.asarray(star)


def _coordinate_search(queries: ValidationQueries, scores: RunScores) -> FloatArray:
    """Weights from equal ones by changing one run at a time, while the mean over the queries grows; (n_runs,)."""
    n_runs = scores.scores.shape[1]
    weights = np.full(n_runs, 1 / n_runs)
    for _, run in product(range(_PASSES), range(n_runs)):
        tried = [weights]
        for factor in _FACTORS:
            other = weights.copy()
            other[run] = factor * (other[run] or 1 / n_runs)
            tried += [other / other.sum()] if other.sum() > 0 else []
        values = queries.values(scores.at(np.stack(tried)))
        weights = choose(zip(tried, values.T, strict=True)).chosen
    return weights


def measured_curves(queries: ValidationQueries, scores: RunScores, settings: FloatArray) -> FloatArray:
    """Curves of queries whose documents have ``scores``; shape (n_queries, n_settings)."""
    parts = [settings[a : a + _TOGETHER] for a in range(0, len(settings), _TOGETHER)]
    return np.hstack([queries.values(scores.at(part)) for part in parts])


_LEARNED: WeakKeyDictionary[Judged, dict[tuple[str, str, int], tuple[FloatArray, FloatArray]]] = WeakKeyDictionary()


def training_curves(train: Judged, norm: Norm, measure: str, seed: int) -> tuple[FloatArray, FloatArray]:
    """The settings, and the curves of training queries, which many rankers learn from: measured once."""
    known = _LEARNED.setdefault(train, {})
    if (norm, measure, seed) not in known:
        queries, scores = ValidationQueries.of(train, measure=measure, seed=seed), RunScores.of(train, norm)
        settings = settings_for(queries, scores)
        known[norm, measure, seed] = settings, measured_curves(queries, scores, settings)
    return known[norm, measure, seed]


def best_settings(curves: FloatArray) -> IntArray:
    """Setting at which each (estimated) curve is highest, the first of equals; shape (n_queries,)."""
    return np.asarray(np.argmax(np.round(curves, 12), axis=1))


# ---- rankers -------------------------------------------------------------------------------------------------------


@dataclass(kw_only=True, eq=False)
class RunWeights(OwnModels):
    """Base of the rankers: a setting for each query.

    Parameters
    ----------
    norm : how scores are made comparable
    measure : what the curves measure
    seed : order of tied documents, and everything random
    """

    norm: Norm = "min-max"
    measure: str = "ndcg@10/linear"
    seed: int = 1
    settings_: FloatArray = field(init=False, repr=False)

    def fit(self, train: Judged, vectors: FloatArray, validation: Validation | None = None) -> Self:  # noqa: ARG002
        """Measure the curves of the training queries, and learn from them."""
        return self.fit_curves(*training_curves(train, self.norm, self.measure, self.seed), train, vectors)

    def fit_curves(self, settings: FloatArray, curves: FloatArray, train: Judged, vectors: FloatArray) -> Self:
        """Learn from known curves (n_queries, n_settings) of the training queries."""
        self.settings_ = np.asarray(settings, dtype=np.float64)
        return self._learn(np.asarray(curves, dtype=np.float64), train, vectors)

    def estimates(self, documents: Judged, vectors: FloatArray) -> FloatArray:
        """Estimated curves, shape (n_queries, n_settings)."""
        raise NotImplementedError

    def places(self, documents: Judged, vectors: FloatArray) -> IntArray:
        """Setting of each query, shape (n_queries,)."""
        self.refuse_unfitted()
        return best_settings(self.estimates(documents, vectors))

    def models(self, documents: Judged, vectors: FloatArray) -> FloatArray:
        """Weights of each query's runs, shape (n_queries, n_runs)."""
        return self.settings_[self.places(documents, vectors)]

    def scores_by(self, documents: Judged, models: FloatArray) -> FloatArray:
        """Scores (n_documents,) by weights of each query's runs."""
        return RunScores.of(documents, self.norm).by(models[documents.query_index])

    def predict(self, documents: Judged, vectors: FloatArray) -> FloatArray:
        """Scores (n_documents,)."""
        self.refuse_unfitted()
        if count_runs(documents) != self.settings_.shape[1]:
            fix = "give the runs that the weights were learned for, in their order"
            raise InputError(f"the weights are for {self.settings_.shape[1]} runs", fix=fix)
        return super().predict(documents, vectors)

    def _learn(self, curves: FloatArray, train: Judged, vectors: FloatArray) -> Self:
        raise NotImplementedError


@dataclass(kw_only=True, eq=False)
class FixedWeights(RunWeights):
    """The setting that is best on average over the training queries."""

    NAME: ClassVar[str] = "fixed-weights"

    mean_: FloatArray = field(init=False, repr=False)

    def _learn(self, curves: FloatArray, train: Judged, vectors: FloatArray) -> Self:  # noqa: ARG002
        self.mean_ = curves.mean(axis=0)
        return self

    @property
    def place(self) -> int:
        """The setting."""
        self.refuse_unfitted()
        return int(best_settings(self.mean_[None])[0])

    @property
    def tuned(self) -> FloatArray:
        """The weights, shape (n_runs,)."""
        return np.asarray(self.settings_[self.place])

    def settings(self) -> dict[str, Any]:
        """Its parameters, and the weights."""
        tuned = {"weights": " ".join(f"{weight:.3g}" for weight in self.tuned)} if self.is_fitted else {}
        return super().settings() | tuned

    def estimates(self, documents: Judged, vectors: FloatArray) -> FloatArray:  # noqa: ARG002
        """The mean curve for every query."""
        return np.broadcast_to(self.mean_, (documents.n_queries, len(self.mean_)))


@dataclass(kw_only=True, eq=False)
class SplitWeights(RunWeights):
    """Two settings, each the best on average: for queries for which some run finds fewer than ``few`` documents, and for the others."""

    NAME: ClassVar[str] = "split-weights"

    few: int = 10
    means_: FloatArray = field(init=False, repr=False)

    def _learn(self, curves: FloatArray, train: Judged, vectors: FloatArray) -> Self:  # noqa: ARG002
        little = self._finds_little(train)
        parts = (curves[~little], curves[little])
        self.means_ = np.stack([(part if len(part) else curves).mean(axis=0) for part in parts])
        return self

    def estimates(self, documents: Judged, vectors: FloatArray) -> FloatArray:  # noqa: ARG002
        """The mean curve of the query's part."""
        return np.asarray(self.means_[self._finds_little(documents).astype(np.int64)])

    def _finds_little(self, documents: Judged) -> NDArray[np.bool_]:
        """Whether some run finds few documents, shape (n_queries,)."""
        found = np.add.reduceat(retrieved(documents).astype(np.int64), documents.offsets[:-1], axis=0)
        return np.asarray(found.min(axis=1) < self.few)


@dataclass(kw_only=True, eq=False)
class NeighbourWeights(RunWeights):
    """The setting that is best on average over the k most similar training queries.

    Parameters
    ----------
    k : number of neighbours; up to 1 a share of the training queries
    similarity : {"candidates", "vectors"}
        What makes queries similar: the documents they have in common, or their vectors.
    random : int, optional; seed for random training queries instead: the control
    """

    NAME: ClassVar[str] = "neighbour-weights"
    SEEDS: ClassVar[tuple[str, ...]] = ("random",)
    NEEDS_NAMES: ClassVar[bool] = True

    k: float = 50
    similarity: Similarity = "candidates"
    random: int | None = None
    curves_: FloatArray = field(init=False, repr=False)
    profiler_: Profiler = field(init=False, repr=False)
    indptr_: IntArray = field(init=False, repr=False)
    indices_: IntArray = field(init=False, repr=False)
    values_: FloatArray = field(init=False, repr=False)
    shape_: tuple[int, int] = field(init=False, repr=False)
    _ordered: WeakKeyDictionary[Judged, tuple[FloatArray, NDArray[np.int32]]] = field(
        init=False, repr=False, default_factory=WeakKeyDictionary
    )

    def _learn(self, curves: FloatArray, train: Judged, vectors: FloatArray) -> Self:
        from scipy.sparse import csr_array

        self.curves_, self._ordered = curves, WeakKeyDictionary()
        self.profiler_ = profiler(self.similarity).fit(train, vectors)
        rows: Any = csr_array(self.profiler_.transform(train, vectors))
        self.indptr_, self.indices_, self.values_ = (np.asarray(x) for x in (rows.indptr, rows.indices, rows.data))
        self.shape_ = rows.shape
        return self

    def fit_each(
        self, tried: Sequence[Self], train: Judged, vectors: FloatArray, validation: Validation | None = None
    ) -> Iterator[Self]:
        """Fit rankers; those that differ in ``k`` alone after one another share what is near to the same documents."""
        last: Self | None = None
        for one in tried:
            if last is not None and last.settings() | {"k": one.k} == one.settings():
                vars(one).update(vars(last), k=one.k)
            last = one if one.is_fitted else one.fit(train, vectors, validation)
            yield last

    def sized(self, ks: Sequence[float]) -> list[Self]:
        """The fitted ranker with several numbers of neighbours; what is near to the same documents is found once for all."""
        made = [copy(self) for _ in ks]
        for one, k in zip(made, ks, strict=True):
            one.k = k
        return made

    def neighbours(self, documents: Judged, vectors: FloatArray) -> IntArray:
        """The k most similar training queries, the most similar first, ties by their order; (n_queries, k)."""
        k = neighbour_count(self.k, len(self.curves_))
        if self.random is not None:
            return random_neighbours(documents.query_id, len(self.curves_), k, self.random).astype(np.int64)
        of, near = self._ordered.get(documents, (None, None))
        if near is None or of is not vectors:
            near = self._nearest(documents, vectors)
            self._ordered[documents] = vectors, near
        return near[:, :k].astype(np.int64)

    def _nearest(self, documents: Judged, vectors: FloatArray) -> NDArray[np.int32]:
        from scipy.sparse import csr_array

        known: Any = csr_array((self.values_, self.indices_, self.indptr_), shape=self.shape_)
        asked: Any = csr_array(self.profiler_.transform(documents, vectors))
        near = np.empty((documents.n_queries, len(self.curves_)), dtype=np.int32)
        for a in range(0, documents.n_queries, _BLOCK):
            alike = np.round((asked[a : a + _BLOCK] @ known.T).toarray(), 9)
            near[a : a + _BLOCK] = np.argsort(-alike, axis=1, kind="stable")
        return near

    def estimates(self, documents: Judged, vectors: FloatArray) -> FloatArray:
        """The mean curve of each query's neighbours."""
        # by ascending row, so that all neighbours give the mean of all training queries to the last bit
        rows = np.sort(self.neighbours(documents, vectors), axis=1)
        sums = np.zeros((len(rows), self.curves_.shape[1]))
        for each in rows.T:
            sums += self.curves_[each]
        return np.asarray(sums / rows.shape[1])


@dataclass(kw_only=True, eq=False)
class PredictedWeights(RunWeights):
    """Curves predicted from the queries' vectors, by ridge regression or by boosted trees.

    The regression predicts what the curve has above its own mean: how good a query is at all decides no weight. Trees see
    a query's vector and a setting in each row.

    Parameters
    ----------
    model : {"ridge", "trees"}
    lam : penalty of ridge, per training query, with vectors standardised
    leaves, rounds, learning_rate : of the trees
    single : whether only the settings of one run alone are chosen from
    """

    NAME: ClassVar[str] = "predicted-weights"

    model: str = "ridge"
    lam: float = 1.0
    leaves: int = 15
    rounds: int = 100
    learning_rate: float = 0.05
    single: bool = False
    mean_: FloatArray = field(init=False, repr=False)
    centre_: FloatArray = field(init=False, repr=False)
    scale_: FloatArray = field(init=False, repr=False)
    coef_: FloatArray = field(init=False, repr=False)
    text_: str = field(init=False, repr=False)

    def _learn(self, curves: FloatArray, train: Judged, vectors: FloatArray) -> Self:  # noqa: ARG002
        refuse_unknown("model", self.model, ("ridge", "trees"))
        if self.single:
            alone = self.settings_.max(axis=1) == 1
            self.settings_, curves = self.settings_[alone], curves[:, alone]
        deviation = vectors.std(axis=0)
        self.centre_ = vectors.mean(axis=0)
        self.scale_ = np.where(deviation > 1e-12, 1 / np.maximum(deviation, 1e-12), 0.0)
        target = curves - curves.mean(axis=1, keepdims=True)
        self.mean_ = target.mean(axis=0)
        self.coef_, self.text_ = np.zeros((vectors.shape[1], len(self.mean_))), ""
        if self.model == "ridge":
            Z = (vectors - self.centre_) * self.scale_
            A = Z.T @ Z + self.lam * len(Z) * np.eye(Z.shape[1])
            self.coef_ = np.linalg.solve(A, Z.T @ (target - self.mean_))
        else:
            self.text_ = self._grown(vectors, target)
        return self

    def again(self, seed: int, train: Validation, validation: Validation | None = None) -> Self:  # noqa: ARG002
        """Nothing is drawn: trees are grown from curves that are moved by a hair."""
        settings, curves = training_curves(train[0], self.norm, self.measure, self.seed)
        if self.model == "trees":
            curves = jittered(curves.ravel(), fit=1, seed=seed).reshape(curves.shape)
        return self.fresh().fit_curves(settings, curves, *train)

    def _grown(self, vectors: FloatArray, target: FloatArray) -> str:
        """Trees in LightGBM's text form."""
        from qdrank.learners.atvt.regressors import Trees

        shape = {"rounds": self.rounds, "learning_rate": self.learning_rate, "leaves": self.leaves, "min_leaf": 20}
        trees = Trees(X=self._rows(vectors), seed=self.seed, **shape)  # type: ignore[arg-type]
        text, _ = trees.grow(target.ravel(), np.ones(target.size), self.rounds)
        return text

    def _rows(self, vectors: FloatArray) -> NDArray[np.float32]:
        """Vector and setting, a row for each query and setting."""
        n, g = len(vectors), len(self.settings_)
        return np.hstack([np.repeat(vectors, g, axis=0), np.tile(self.settings_, (n, 1))]).astype(np.float32)

    def estimates(self, documents: Judged, vectors: FloatArray) -> FloatArray:
        """Predicted curves, without the queries' own means."""
        if self.model == "ridge":
            moved: FloatArray = self.mean_ + ((vectors - self.centre_) * self.scale_) @ self.coef_
            return moved
        from qdrank.learners.trees import booster_of

        values = booster_of(self.text_).predict(self._rows(vectors), num_threads=1)
        return np.asarray(values).reshape(documents.n_queries, -1)


@dataclass(kw_only=True, eq=False)
class MarginWeights(RunWeights):
    """Fixed weights times a power of each run's margin: how far its first score lies above its tenth, on min-max scores.

    Parameters
    ----------
    power : of the margin
    """

    NAME: ClassVar[str] = "margin-weights"

    power: float = 1.0
    mean_: FloatArray = field(init=False, repr=False)

    def _learn(self, curves: FloatArray, train: Judged, vectors: FloatArray) -> Self:  # noqa: ARG002
        self.mean_ = curves.mean(axis=0)
        return self

    def models(self, documents: Judged, vectors: FloatArray) -> FloatArray:  # noqa: ARG002
        """Weights of each query's runs, (n_queries, n_runs); the fixed ones where no run has a margin."""
        from qdrank.queries.predictors import margins

        fixed = self.settings_[best_settings(self.mean_[None])[0]]
        raw = fixed * margins(normalised(documents, "min-max"), documents.offsets) ** self.power
        total = raw.sum(axis=1, keepdims=True)
        return np.asarray(np.where(total > 0, raw / np.where(total > 0, total, 1.0), fixed))

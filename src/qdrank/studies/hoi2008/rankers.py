"""SER, SSER and ensembles of methods as rankers, and those that section ``hoi`` defines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, field
from itertools import pairwise, product
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Self
from weakref import WeakKeyDictionary

import numpy as np

from qdrank.datasets.judged import Judged
from qdrank.datasets.scaling import minmax_per_query
from qdrank.errors import InputError
from qdrank.layout import FloatArray
from qdrank.learners.ensemble.program import ProgramSolution
from qdrank.learners.ensemble.ser import DIGITS, SSER, rounded_scores
from qdrank.learners.parameters import most_regularised_first
from qdrank.measures.ranking import borda_points
from qdrank.rankers.base import OfOthers, OwnModels, QueryRanker, Validation
from qdrank.rankers.documents import query_scores
from qdrank.studies.hoi2008.methods import GAMMA

if TYPE_CHECKING:
    from qdrank.studies.hoi2008.settings import Hoi as _Keys
else:
    from qdrank.studies.study import Keys as _Keys


class Solved(NamedTuple):
    """Solutions for queries: weights (n_queries, n_gammas, n_rankers) and certificates (n_queries, n_gammas)."""

    gammas: list[float]
    weights: FloatArray
    objective: FloatArray
    gap: FloatArray
    kkt: FloatArray
    steps: FloatArray

    @classmethod
    def of(cls, gammas: list[float], paths: Sequence[Sequence[ProgramSolution]]) -> Self:
        """From the solutions of every query along the gammas."""
        return cls(
            gammas, *(np.array([[getattr(s, name) for s in path] for path in paths]) for name in cls._fields[1:])
        )


@dataclass(kw_only=True, eq=False)
class EnsembleRanker(OwnModels):
    """SER (``gamma`` 0) or SSER.

    Parameters
    ----------
    learner : SSER
    gammas : ascending; each query's solution for one gamma starts from the one before
    gamma : weight of the query's documents, among ``gammas`` or beyond
    mask : (n_rankers,) 0 for rankers to ignore, None to use all
    """

    NAME: ClassVar[str] = "ensemble"

    learner: SSER
    gammas: Sequence[float] = (0.0,)
    gamma: float = 0.0
    mask: FloatArray | None = None
    _known: WeakKeyDictionary[Judged, Solved] = field(init=False, repr=False, default_factory=WeakKeyDictionary)
    _unmasked: EnsembleRanker | None = field(init=False, repr=False, default=None)

    def at(self, gamma: float) -> Self:
        """The same, fitted or not, with another gamma; what is solved for one serves the other."""
        made = copy(self)
        made.gamma = gamma
        return made

    def changed(self, *, mask: FloatArray | None = None, **params: Any) -> Self:
        """The fitted ensemble with a mask, or with parameters of SSER that do not affect the coefficients."""
        learner = SSER(**self.learner.get_params() | params)
        masked = 0.0 if mask is None else mask == 0
        learner.fit_coefficients(np.where(masked, 0.0, self.learner.coefficients_))
        made = type(self)(learner=learner, gammas=self.gammas, gamma=self.gamma, mask=mask)
        if not params and np.array_equal(learner.coefficients_, self.learner.coefficients_):
            made._unmasked = self
        return made

    def without_constant(self, train: Judged) -> Self:
        """The fitted ensemble without rankers that give all documents of every training query the same score."""
        starts = train.offsets[:-1]
        spread = np.maximum.reduceat(train.X, starts, axis=0) - np.minimum.reduceat(train.X, starts, axis=0)
        return self.changed(mask=np.where((spread == 0).all(axis=0), 0.0, 1.0))

    def fit(self, train: Judged, vectors: FloatArray, validation: Validation | None = None) -> Self:  # noqa: ARG002
        """Learn from scores of rankers."""
        self.learner.fit(train.X, train.y, train.query)
        if self.mask is not None:
            self.learner.fit_coefficients(np.where(self.mask == 0, 0.0, self.learner.coefficients_))
        return self

    def fit_each(
        self, tried: Sequence[Self], train: Judged, vectors: FloatArray, validation: Validation | None = None
    ) -> Iterator[Self]:
        """Fit ensembles; those that differ in C alone after one another share their coefficients, which take longest."""
        last: Self | None = None
        for one in tried:
            same = last is not None and last.learner.get_params() | {"C": one.learner.C} == one.learner.get_params()
            if last is not None and same and not one.is_fitted:
                one.learner.fit_coefficients(last.learner.coefficients_)
            last = one if one.is_fitted else one.fit(train, vectors, validation)
            yield last

    def models(self, documents: Judged, vectors: FloatArray) -> FloatArray:
        """Weights of the rankers for each query, (n_queries, n_rankers)."""
        return next(self.models_each([self], documents, vectors))[1]

    def models_each(
        self,
        fitted: Iterable[Self],
        documents: Judged,
        vectors: FloatArray,  # noqa: ARG002
    ) -> Iterator[tuple[Self, FloatArray]]:
        """Ensembles that differ in gamma, with the weights of each query; a query has one path of solutions for all."""
        rankers = list(fitted)
        for one in rankers:
            if one.gamma == 0 and not one.learner.printed:
                yield one, np.tile(one.learner.solved()[1].weights, (documents.n_queries, 1))
            else:
                alike = [other.gamma for other in rankers if other._known is one._known]
                solved = one.solved(documents, alike)
                yield one, solved.weights[:, solved.gammas.index(one.gamma)]

    def scores_by(self, documents: Judged, models: FloatArray) -> FloatArray:
        """Scores (n_documents,), each query's by its own weights; rounded as `rounded_scores` rounds those of one query."""
        scores, largest = query_scores(documents, models), np.abs(documents.X).max(axis=1).astype(np.float64)
        total = np.abs(models).sum(axis=1) * np.maximum.reduceat(largest, documents.offsets[:-1])
        decimals = np.minimum(DIGITS - 1 - np.floor(np.log10(np.where(total > 0, total, 1.0))), 300)
        of_rows = decimals[documents.query_index]
        for places in np.unique(decimals):
            rows = of_rows == places
            scores[rows] = np.round(scores[rows], int(places))
        return scores

    def solved(self, documents: Judged, gammas: Sequence[float]) -> Solved:
        """Solutions for documents, along ``self.gammas`` up to the last of some ``gammas``, and at these."""
        if self._unmasked is not None and not documents.X[:, self.mask == 0].any():
            return self._unmasked.solved(documents, gammas)  # the mask hides nothing here
        path = sorted({*(gamma for gamma in self.gammas if gamma < max(gammas)), *gammas})
        if documents not in self._known or not {*path} <= {*self._known[documents].gammas}:
            rows = [documents.X[a:b].astype(np.float64) for a, b in pairwise(documents.offsets.tolist())]
            masked = rows if self.mask is None else [X * self.mask for X in rows]
            paths = [self.learner.path(self.learner.roughness_of(X), path) for X in masked]
            self._known[documents] = Solved.of(path, paths)
        return self._known[documents]


@dataclass(kw_only=True, eq=False)
class StackedRanker(QueryRanker):
    """An ensemble whose rankers are methods: SER, SSER or BordaCount of their scores.

    Parameters
    ----------
    bases : the methods
    kind : how to combine their scores
    learner : SSER, learned from the validation queries; not needed for BordaCount
    """

    NAME: ClassVar[str] = "stacked"

    bases: Sequence[QueryRanker]
    kind: Literal["ser", "sser", "borda"]
    learner: SSER | None = None

    def fit(self, train: Judged, vectors: FloatArray, validation: Validation | None = None) -> Self:
        """Fit the methods, unless they are fitted, on the training queries, and the ensemble on the validation queries."""
        for base in self.bases:
            next(base.fit_each([base], train, vectors, validation))
        if self.learner is not None:
            if validation is None or not validation[0].n_queries:
                raise InputError("an ensemble of methods is learned on validation queries, and there are none")
            vali = as_rankers(validation[0], [base.predict(*validation) for base in self.bases])
            self.learner.fit(vali.X, vali.y, vali.query)
        return self

    def predict(self, documents: Judged, vectors: FloatArray) -> FloatArray:
        """Scores (n_documents,)."""
        return self.combined(documents, [base.predict(documents, vectors) for base in self.bases])

    def combined(self, documents: Judged, scores: Sequence[FloatArray]) -> FloatArray:
        """The ensemble's scores from those of the methods, (n_documents,) each."""
        if self.learner is None:
            return np.asarray(sum(borda_points(one, documents.offsets) for one in scores), dtype=np.float64)
        rankers = as_rankers(documents, scores)
        if self.kind == "ser":
            return rounded_scores(rankers.X, self.learner.weights_)
        return self.learner.predict(rankers.X, rankers.query_index)


def as_rankers(documents: Judged, scores: Sequence[FloatArray]) -> Judged:
    """The documents with the methods' scores, on one scale per query, as features."""
    X = np.stack([np.asarray(one, dtype=np.float32) for one in scores], axis=1)
    return documents.with_features(minmax_per_query(X, documents.offsets))


_GRAPH = ("neighbours", "edges", "symmetry", "neighbour_ties", "laplacian")


class Options(_Keys):
    """Keys of section ``hoi`` that decide the weights, under the same names; ``max_grade`` is the highest of training."""

    max_grade: int

    @property
    def path(self) -> list[float]:
        """Gammas to solve, ascending: those to choose from, 0 and the fixed one."""
        return sorted({0.0, GAMMA, *map(float, self.gammas)})

    @property
    def eligible(self) -> list[float]:
        """Gammas that validation chooses from, starting with the one model for all queries."""
        return most_regularised_first("gamma", {float(gamma) for gamma in self.gammas})

    def estimator(self, ties: str, **changed: Any) -> SSER:
        """SSER with these options, and the paper's C, theta and delta; not yet fitted."""
        given = {name: getattr(self, name) for name in ("similarity", "normalise", *_GRAPH)}
        return SSER(ties=ties, gamma=GAMMA, max_grade=self.max_grade, **given | changed)  # type: ignore[arg-type]

    def ensemble(self, ties: str, **changed: Any) -> EnsembleRanker:
        """SER, from which SSER's paths start."""
        return EnsembleRanker(learner=self.estimator(ties, **changed), gammas=self.path)

    def tried(self, ties: str) -> list[EnsembleRanker]:
        """SER with combinations of C, theta and delta, C from the most to the least regularised."""
        each = product(self.tried_theta, self.tried_delta, most_regularised_first("C", self.tried_C))
        return [self.ensemble(ties, C=float(C), theta=float(theta), delta=float(delta)) for theta, delta, C in each]

    def of_others(self, ensemble: EnsembleRanker, seed: int) -> OfOthers:
        """The ensemble with the weights that the documents of another query give."""
        return OfOthers(base=ensemble, seed=seed, given="models")

    def stacked(self, kind: Any, bases: Sequence[QueryRanker]) -> list[StackedRanker]:
        """An ensemble of fitted methods."""
        return [StackedRanker(bases=bases, kind=kind, learner=None if kind == "borda" else self.estimator("half"))]

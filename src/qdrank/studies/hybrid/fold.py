"""All methods and controls of one fold: tuned on validation, scored on the test queries."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from typing import Any

import numpy as np

from qdrank.datasets.judged import Judged
from qdrank.layout import FloatArray
from qdrank.learners.choose import Choice, ValidationQueries, choose
from qdrank.learners.refits import fit_seed, jittered
from qdrank.queries.others import other_rows
from qdrank.rankers.base import QueryRanker, Validation
from qdrank.rankers.one_model import WithEvidence, without_choice
from qdrank.rankers.run_scores import FusedRuns, Norm, RunScores, among_first, count_runs
from qdrank.rankers.run_weights import FixedWeights, NeighbourWeights, RunWeights, measured_curves
from qdrank.rankers.tuning import query_values_of, tune_rankers
from qdrank.studies.hybrid.choices import setting_text
from qdrank.studies.hybrid.methods import (
    BEST,
    CHOSEN,
    CONTROLS,
    EVIDENCE,
    FIXED,
    MEASURE,
    PER_QUERY,
    PREDICTED_TREES,
    REFITTED,
    RRF,
    SSER,
    TREES,
    TREES_QUERIES,
)
from qdrank.studies.hybrid.options import Options

Parts = tuple[Validation, Validation, Validation]
"""Documents and vectors of the training, validation and test queries."""
Again = Callable[[int], Parts]
"""What a ranker sees when it is fitted with another seed."""


@dataclass(frozen=True, eq=False)
class FoldData:
    """Documents of a fold.

    Attributes
    ----------
    parts : documents with the runs' columns as they are, and the vectors of the queries
    scaled : the same documents as linear learners see them
    predictors : (n_queries, n_predictors) of each role
    reference : column of the reference
    """

    parts: tuple[Judged, Judged, Judged]
    scaled: tuple[Judged, Judged, Judged]
    vectors: tuple[FloatArray, FloatArray, FloatArray]
    predictors: tuple[FloatArray, FloatArray, FloatArray]
    reference: int

    def with_vectors(self) -> Parts:
        """Documents and vectors of the queries."""
        return self._joined(self.parts, self.vectors)

    def with_predictors(self) -> Parts:
        """Documents and predictors of the queries."""
        return self._joined(self.parts, self.predictors)

    def for_linear(self) -> Parts:
        """Scaled documents and vectors of the queries."""
        return self._joined(self.scaled, self.vectors)

    @staticmethod
    def _joined(documents: Sequence[Judged], vectors: Sequence[FloatArray]) -> Parts:
        pairs = list(zip(documents, vectors, strict=True))
        return pairs[0], pairs[1], pairs[2]


def of_others(parts: Parts, seed: int) -> Parts:
    """The same documents, each query with the vector of another one of its role."""
    (a, x), (b, y), (c, z) = parts
    return (a, other_rows(x, seed)), (b, other_rows(y, seed)), (c, other_rows(z, seed))


@dataclass(eq=False)
class Methods:
    """Everything tuned on a fold.

    Attributes
    ----------
    tuned : by name of method or control, the values of all settings and the place of the chosen one
    tried : by name, the settings tried, as texts
    rankers : by name, the ranker chosen
    scores : of the test documents, (n_documents, n_fits), by name
    """

    data: FoldData
    options: Options
    log: Callable[[str], object] = lambda _: None
    tuned: dict[str, Choice[Any]] = field(default_factory=dict)
    tried: dict[str, list[str]] = field(default_factory=dict)
    rankers: dict[str, QueryRanker] = field(default_factory=dict)
    scores: dict[str, FloatArray] = field(default_factory=dict)
    norm: Norm = "min-max"

    def run(self) -> Methods:
        """Tune and score every method and every control but those of the papers."""
        data, options = self.data, self.options
        plain, linear, predicted = data.with_vectors(), data.for_linear(), data.with_predictors()
        self._tune(BEST, options.alone(count_runs(data.parts[0])), plain)
        self._tune(RRF, [FusedRuns()], plain)
        for method in ("combsum", "combmnz"):
            self._tune(f"hybrid-{method}", options.fused(method), plain)
        self.weigh()
        self._tune("hybrid-linear", options.linear(), linear)
        self._trees(plain, predicted)
        self._tune_on(EVIDENCE, options.evidence(data.reference), linear)
        self._tune_on(CONTROLS[EVIDENCE], options.evidence(data.reference, prior=True), linear)
        return self

    def run_papers(self, norm: Norm) -> Methods:
        """Tune and score the papers' methods and their controls on the runs' scores, in the norm of the fixed weights."""
        plain, options, seed = self.data.with_vectors(), self.options, self.options.seed
        alone = options.alone(count_runs(self.data.parts[0]))
        shape = len(alone), tune_rankers(alone, *plain[:2], name=MEASURE, seed=seed).place
        papers, controls = options.paper_methods(norm, shape), options.paper_controls(norm, shape, seed)
        if not options.semi_supervised:
            del papers[SSER], controls[SSER]
        for name, tried in papers.items():
            self._tune(name, tried, plain, (lambda _: plain) if name in REFITTED else None)
        for name, tried in controls.items():
            self._tune(CONTROLS[name], tried, plain, lambda _: plain)
        gate = [ranker.fresh() for ranker in papers["hybrid-gate"]]
        self._tune(CONTROLS["hybrid-gate"], gate, of_others(plain, seed), lambda drawn: of_others(plain, drawn))
        return self

    def _trees(self, plain: Parts, predicted: Parts) -> None:
        """LambdaMART with and without predictors, which learns from the first documents of the runs."""

        def of_others_first(seed: int) -> Parts:
            return self._first(of_others(predicted, seed))

        seen, with_queries = self._first(plain), self._first(predicted)
        self._tune(TREES, self.options.lambdamart(), seen, lambda _: seen)
        self._tune(TREES_QUERIES, self.options.lambdamart(queries=True), with_queries, lambda _: with_queries)
        control = self.options.lambdamart(queries=True)
        self._tune(CONTROLS[TREES_QUERIES], control, of_others_first(self.options.seed), of_others_first)

    def _first(self, parts: Parts) -> Parts:
        """Training queries with the documents that a run has among its first; all of the others' documents."""
        (train, vectors), vali, test = parts
        return (among_first(train, self.options.lambdamart_depth), vectors), vali, test

    def _tune(self, name: str, tried: Sequence[QueryRanker], parts: Parts, again: Again | None = None) -> None:
        """Tune rankers; those that draw at random are fitted several times, ``again`` being what they see with a seed."""
        train, vali, test = parts
        choice = tune_rankers(tried, train, vali, name=MEASURE, seed=self.options.seed)
        self._keep(name, choice, tried, choice.chosen.predict(*test), again)

    def _tune_on(self, name: str, ranker: WithEvidence, parts: Parts) -> None:
        """Tune Ranking SVMs on documents with columns of evidence, which are made once for all penalties."""
        (train, vectors), vali, test = parts
        wide = ranker.fit_columns(train, vectors), vectors
        watched = (ranker.inside(*vali), vali[1]) if vali[0].n_queries else wide
        tried = self.options.linear()
        choice = tune_rankers(tried, wide, watched, name=MEASURE, seed=self.options.seed)
        ranker.base, choice.chosen = choice.chosen, ranker
        self._keep(name, choice, tried, ranker.predict(*test), None)

    def _keep(
        self, name: str, choice: Choice[Any], tried: Sequence[QueryRanker], scores: FloatArray, again: Again | None
    ) -> None:
        self.tuned[name], self.tried[name] = choice, [setting_text(one) for one in tried]
        self.log(f"{name}: {self.tried[name][choice.place]}, {MEASURE} {choice.value:.4f} on validation")
        fits = range(1, self.options.refits if again else 1)
        further = [self._fit_again(name, choice.chosen, fit, again) for fit in fits if again]
        self.rankers[name], self.scores[name] = choice.chosen, np.stack([scores, *further], axis=1)

    def _fit_again(self, name: str, chosen: QueryRanker, fit: int, again: Again) -> FloatArray:
        """Scores (n_documents,) of the test documents by one more fit of a ranker, with the setting that was chosen.

        LambdaMART keeps its number of trees, too. Trees that predict curves draw nothing: their targets are moved by a
        hair instead.
        """
        seed = fit_seed(self.options.seed, fit)
        train, _, test = again(seed)
        ranker = without_choice(chosen.redrawn(seed), chosen)
        if isinstance(ranker, RunWeights):
            curves = self.curves[0]
            if name == PREDICTED_TREES:
                curves = jittered(curves.ravel(), fit=fit, seed=self.options.seed).reshape(curves.shape)
            ranker.fit_curves(self.fixed.settings_, curves, *train)
        else:
            ranker.fit(*train)
        return ranker.predict(*test)

    # ---- weights ----

    def weigh(self) -> None:
        """Tune fixed weights, and all methods that give each query weights of its own."""
        self._fix_weights()
        self._weights_per_query()

    def _fix_weights(self) -> None:
        """Tune fixed weights in each norm on the training queries; validation chooses the norm."""
        tried = [self.options.fixed(norm) for norm in self.options.norms]
        self._tune(FIXED, tried, self.data.with_vectors())
        self.norm = self.fixed.norm

    @property
    def fixed(self) -> FixedWeights:
        """The tuned fixed weights."""
        ranker = self.rankers[FIXED]
        assert isinstance(ranker, FixedWeights)
        return ranker

    @cached_property
    def curves(self) -> tuple[FloatArray, FloatArray]:
        """Curves of the training and the validation queries in the chosen norm."""
        return self._measured(self.data.parts[0]), self._measured(self.watched)

    @property
    def watched(self) -> Judged:
        """The queries that decide: of the validation part, or of the training part where that is empty."""
        return self.data.parts[1] if self.data.parts[1].n_queries else self.data.parts[0]

    def _measured(self, part: Judged) -> FloatArray:
        queries = ValidationQueries.of(part, measure=MEASURE, seed=self.options.seed)
        return measured_curves(queries, RunScores.of(part, self.norm), self.fixed.settings_)

    def _weights_per_query(self) -> None:
        options, norm, seed = self.options, self.norm, self.options.seed
        near, predicted = self.data.with_vectors(), self.data.with_predictors()
        others = of_others(predicted, seed)
        self._weigh("hybrid-neighbours", options.neighbours(norm), near)
        random = options.neighbours(norm, random=seed)
        self._weigh(CONTROLS["hybrid-neighbours"], random, near, lambda _: near)
        for name, tried in (
            ("hybrid-ridge", options.ridge(norm)),
            (PREDICTED_TREES, options.trees(norm)),
            ("hybrid-select", options.ridge(norm, single=True)),
        ):
            self._weigh(name, tried, predicted, (lambda _: predicted) if name in REFITTED else None)
            self._weigh(
                CONTROLS[name], [one.fresh() for one in tried], others, lambda drawn: of_others(predicted, drawn)
            )
        self._weigh("hybrid-margin", options.margin(norm), near)
        self._weigh(CONTROLS["hybrid-margin"], options.margin(norm, others=seed), near, lambda _: near)

    def _weigh(self, name: str, tried: Sequence[RunWeights], parts: Parts, again: Again | None = None) -> None:
        """Tune rankers that learn from the curves, which are measured once."""
        (train, vectors), vali, test = parts
        watched = vali if vali[0].n_queries else (train, vectors)
        queries = ValidationQueries.of(watched[0], measure=MEASURE, seed=self.options.seed)
        fitted = self._fitted(tried, train, vectors)
        choice = choose((one, queries.values(one.predict(*watched))) for one in fitted)
        self._keep(name, choice, tried, choice.chosen.predict(*test), again)

    def _fitted(self, tried: Sequence[RunWeights], train: Judged, vectors: FloatArray) -> Iterator[RunWeights]:
        """The rankers, fitted; those that differ in the number of neighbours alone, once for all."""
        for _, alike in groupby(tried, key=lambda one: getattr(one, "similarity", id(one))):
            rankers = list(alike)
            first = rankers[0].fit_curves(self.fixed.settings_, self.curves[0], train, vectors)
            if isinstance(first, NeighbourWeights):
                yield from first.sized([one.k for one in rankers if isinstance(one, NeighbourWeights)])
            else:
                yield first

    # ---- what is kept ----

    def chosen(self) -> str:
        """The method with weights per query that does best on validation."""
        return choose((name, self.tuned[name].value) for name in PER_QUERY).chosen

    def fits_of(self, method: str) -> FloatArray:
        """Scores of the test documents by every fit of a method, (n_documents, n_fits); the chosen one has all fits."""
        if method != CHOSEN:
            return self.scores[method]
        scores = self.scores[self.chosen()]
        return np.broadcast_to(scores, (len(scores), max(self.options.refits, scores.shape[1])))

    def values_of(self, scores: FloatArray) -> FloatArray:
        """Measure of the test queries, (n_queries, n_fits), of scores (n_documents, n_fits)."""
        test = self.data.parts[2]
        return np.stack([query_values_of(MEASURE, test, one) for one in scores.T], axis=1)

    def control_values(self) -> dict[str, FloatArray]:
        """Measure of the test queries by every control, (n_queries, n_fits)."""
        return {name: self.values_of(self.scores[name]) for name in CONTROLS.values() if name in self.scores}

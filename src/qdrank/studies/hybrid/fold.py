"""All methods and controls of one fold: tuned on validation, scored on the test queries."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from typing import Any

import numpy as np
import pyarrow as pa

from qdrank.datasets.judged import Judged
from qdrank.layout import FloatArray
from qdrank.learners.choose import Choice, ValidationQueries, choose
from qdrank.queries.others import other_rows
from qdrank.rankers.base import QueryRanker, Validation
from qdrank.rankers.run_scores import FusedRuns, Norm, count_runs, normalised
from qdrank.rankers.run_weights import FixedWeights, NeighbourWeights, RunWeights, measured_curves
from qdrank.rankers.tuning import query_values_of, tune_rankers
from qdrank.studies.hybrid.methods import (
    BEST,
    CHOSEN,
    CONTROLS,
    EVIDENCE,
    FIXED,
    MEASURE,
    OF_CHOSEN,
    PER_QUERY,
    RRF,
    SSER,
    TREES,
    TREES_QUERIES,
)
from qdrank.studies.hybrid.options import Options

Parts = tuple[Validation, Validation, Validation]
"""Documents and vectors of the training, validation and test queries."""


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
    scores : of the test documents, by name; of some controls several, (n_documents, n_draws)
    """

    data: FoldData
    options: Options
    papers: bool = True
    log: Callable[[str], object] = lambda _: None
    tuned: dict[str, Choice[Any]] = field(default_factory=dict)
    tried: dict[str, list[str]] = field(default_factory=dict)
    rankers: dict[str, QueryRanker] = field(default_factory=dict)
    scores: dict[str, FloatArray] = field(default_factory=dict)
    norm: Norm = "min-max"

    def run(self) -> Methods:
        """Tune and score every method and every control."""
        data, options, seed = self.data, self.options, self.options.seed
        plain, linear, predicted = data.with_vectors(), data.for_linear(), data.with_predictors()
        self._tune(BEST, options.alone(count_runs(data.parts[0])), plain)
        self._tune(RRF, [FusedRuns()], plain)
        for method in ("combsum", "combmnz"):
            self._tune(f"hybrid-{method}", options.fused(method), plain)
        self.weigh()
        self._tune("hybrid-linear", options.linear(), linear)
        self._tune(TREES, options.lambdamart(), plain)
        self._tune(TREES_QUERIES, options.lambdamart(queries=True), predicted)
        self._tune(CONTROLS[TREES_QUERIES], options.lambdamart(queries=True), of_others(predicted, seed))
        self._tune(EVIDENCE, options.evidence(data.reference), linear)
        self._tune(CONTROLS[EVIDENCE], options.evidence(data.reference, prior=True), linear)
        if self.papers:
            shape = count_runs(data.parts[0]), self.tuned[BEST].place
            papers = options.paper_methods(self.norm, shape)
            controls = options.paper_controls(self.norm, shape, seed)
            if not options.semi_supervised:
                del papers[SSER], controls[SSER]
            for name, tried in papers.items():
                self._tune(name, tried, plain)
            for name, tried in controls.items():
                self._tune(CONTROLS[name], tried, plain)
            gate = [ranker.fresh() for ranker in papers["hybrid-gate"]]
            self._tune(CONTROLS["hybrid-gate"], gate, of_others(plain, seed))
        return self

    def _tune(self, name: str, tried: Sequence[QueryRanker], parts: Parts) -> None:
        train, vali, test = parts
        choice = tune_rankers(tried, train, vali, name=MEASURE, seed=self.options.seed)
        self._keep(name, choice, tried, choice.chosen.predict(*test))

    def _keep(self, name: str, choice: Choice[Any], tried: Sequence[QueryRanker], scores: FloatArray) -> None:
        self.tuned[name], self.tried[name] = choice, [setting_text(one) for one in tried]
        self.log(f"{name}: {self.tried[name][choice.place]}, {MEASURE} {choice.value:.4f} on validation")
        self.rankers[name], self.scores[name] = choice.chosen, scores

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
        return measured_curves(queries, normalised(part, self.norm), self.fixed.settings_)

    def _weights_per_query(self) -> None:
        options, norm, seed = self.options, self.norm, self.options.seed
        near, predicted = self.data.with_vectors(), self.data.with_predictors()
        others = of_others(predicted, seed)
        self._weigh("hybrid-neighbours", options.neighbours(norm), near)
        draws = []
        for draw in range(options.draws):
            self._weigh(CONTROLS["hybrid-neighbours"], options.neighbours(norm, random=seed + draw), near)
            draws.append(self.scores[CONTROLS["hybrid-neighbours"]])
        self.scores[CONTROLS["hybrid-neighbours"]] = np.stack(draws, axis=1)
        for name, tried in (
            ("hybrid-ridge", options.ridge(norm)),
            ("hybrid-trees", options.trees(norm)),
            ("hybrid-select", options.ridge(norm, single=True)),
        ):
            self._weigh(name, tried, predicted)
            self._weigh(CONTROLS[name], [one.fresh() for one in tried], others)
        self._weigh("hybrid-margin", options.margin(norm), near)
        self._weigh(CONTROLS["hybrid-margin"], options.margin(norm, others=seed), near)

    def _weigh(self, name: str, tried: Sequence[RunWeights], parts: Parts) -> None:
        """Tune rankers that learn from the curves, which are measured once."""
        (train, vectors), vali, test = parts
        watched = vali if vali[0].n_queries else (train, vectors)
        queries = ValidationQueries.of(watched[0], measure=MEASURE, seed=self.options.seed)
        fitted = self._fitted(tried, train, vectors)
        choice = choose((one, queries.values(one.predict(*watched))) for one in fitted)
        self._keep(name, choice, tried, choice.chosen.predict(*test))

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

    def scores_of(self, method: str) -> FloatArray:
        """Scores of the test documents by a method, the chosen one included."""
        return self.scores[self.chosen() if method == CHOSEN else method]

    def values_of_weights(self) -> dict[str, FloatArray]:
        """Measure of the test queries by fixed weights and by the chosen method."""
        return {name: self._mean_value(self.scores_of(name)) for name in (FIXED, CHOSEN)}

    def control_values(self) -> dict[str, FloatArray]:
        """Measure of the test queries by every control, mean of its draws, the chosen method's control included."""
        names = [name for name in CONTROLS.values() if name in self.scores]
        values = {name: self._mean_value(self.scores[name]) for name in names}
        return {**values, OF_CHOSEN: values[CONTROLS[self.chosen()]]}

    def _mean_value(self, scores: FloatArray) -> FloatArray:
        test = self.data.parts[2]
        values = [query_values_of(MEASURE, test, one) for one in np.atleast_2d(scores.T)]
        return np.asarray(np.mean(values, axis=0))


#: Parameters that settings of a ranker differ in, by the name of its stored form.
_SHOWN = {
    "feature": ("column",),
    "fused-runs": ("norm",),
    "fixed-weights": ("norm",),
    "neighbour-weights": ("similarity", "k"),
    "margin-weights": ("power",),
    "trees": ("leaves",),
    "local": ("k", "lam"),
    "ser": ("C",),
    "sser": ("C",),
    "ensemble": (),
    "clusters": ("m", "lam"),
    "atvt": ("lam_h",),
}


def setting_text(ranker: Any) -> str:
    """The parameters of a ranker that differ between settings; of tuned fixed weights also the weights."""
    names = _SHOWN.get(ranker.NAME, ("leaves" if getattr(ranker, "model", "") == "trees" else "lam",))
    values = [(name, getattr(ranker, name)) for name in names if hasattr(ranker, name)]
    texts = [f"{name}={value:g}" if isinstance(value, float) else f"{name}={value}" for name, value in values]
    if isinstance(ranker, FixedWeights):
        texts.append("weights " + " ".join(f"{weight:.3g}" for weight in ranker.tuned))
    for inner in (getattr(ranker, "base", None), getattr(ranker, "learner", None)):
        texts += [setting_text(inner)] if hasattr(inner, "NAME") else []
    return ", ".join(text for text in texts if text)


def choices_table(fold: str, methods: Methods) -> pa.Table:
    """The artifact ``choices``: every setting of every method and control, in the order tried."""
    rows = [
        {"fold": fold, "method": name, "setting": text, "measure": MEASURE, "value": value, "chosen": i == choice.place}
        for name, choice in methods.tuned.items()
        for i, (text, value) in enumerate(zip(methods.tried[name], choice.values, strict=True))
    ]
    empty = {"k": pa.nulls(len(rows), pa.int32()), "lam": pa.nulls(len(rows), pa.float64())}
    columns = {key: pa.array([row[key] for row in rows]) for key in rows[0]} | empty
    return pa.table(
        {key: columns[key] for key in ("fold", "method", "setting", "k", "lam", "measure", "value", "chosen")}
    )

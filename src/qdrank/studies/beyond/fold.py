"""All rankers and controls of one fold: tuned on validation, scored on the test queries."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial

import numpy as np
import pyarrow as pa

from qdrank.datasets.judged import Judged
from qdrank.layout import FloatArray
from qdrank.learners.choose import Choice
from qdrank.learners.refits import fit_seed
from qdrank.queries.artifacts import Queries
from qdrank.queries.others import other_rows
from qdrank.queries.recipe import topics_of
from qdrank.rankers.base import QueryRanker, Validation
from qdrank.rankers.documents import FoldDocuments
from qdrank.rankers.evidence import DocumentPrior, NeighbourEvidence
from qdrank.rankers.mixture import Mixture, base_scores, out_of_fold
from qdrank.rankers.one_model import WithEvidence
from qdrank.rankers.tuning import query_values_of, tune_rankers
from qdrank.store.schemas import shape_of
from qdrank.studies.beyond.methods import (
    CONTROLS,
    FIXED,
    FIXED_CONTROLS,
    GATED,
    MEASURE,
    OTHER_GATE,
    SINGLE,
    TREES,
)
from qdrank.studies.beyond.options import Options
from qdrank.studies.beyond.steps import STEPS


@dataclass(frozen=True, eq=False)
class FoldData:
    """Documents of a fold as learners see them, with their query vectors.

    Attributes
    ----------
    train, vali, test : documents and vectors
    reference : column of the reference feature
    """

    train: Validation
    vali: Validation
    test: Validation
    reference: int

    @property
    def watched(self) -> Validation:
        """Documents to choose on: those of validation, or of training if the fold has no validation queries."""
        return self.vali if self.vali[0].n_queries else self.train

    def with_others(self, seed: int) -> FoldData:
        """The same data with each query's vector taken from another query of its role."""
        parts = [(part, other_rows(vectors, seed)) for part, vectors in (self.train, self.vali, self.test)]
        return FoldData(parts[0], parts[1], parts[2], self.reference)


def fold_data(documents: FoldDocuments, queries: Queries, topics: pa.Table, reference: int) -> FoldData:
    """Documents, words and vectors by role, joined on the ids of the queries."""
    parts: list[Validation] = []
    for role in ("train", "vali", "test"):
        part = documents.seen(role)
        text = topics_of(topics, part.query_id.tolist())[1]
        part = replace(part, text=None if text is None else np.array(text, dtype=object))
        parts.append((part, queries.of(part.query_id)))
    return FoldData(parts[0], parts[1], parts[2], reference)


@dataclass(eq=False)
class Ladder:
    """Everything tuned on a fold.

    Attributes
    ----------
    tuned : by name of method or control, the values of all settings and the index of the chosen one
    rankers : by name, the ranker chosen
    settings : by name, the settings tried, as texts
    scores : of the test documents, by name
    seen : by name, whose vectors it saw: "own", those of "others", or others at prediction alone ("moved")
    bases : by seed, Single and LambdaMART fitted again, and their out-of-fold scores
    """

    data: FoldData
    options: Options
    log: Callable[[str], object] = lambda _: None
    tuned: dict[str, Choice[QueryRanker]] = field(default_factory=dict)
    rankers: dict[str, QueryRanker] = field(default_factory=dict)
    settings: dict[str, list[str]] = field(default_factory=dict)
    scores: dict[str, FloatArray] = field(default_factory=dict)
    seen: dict[str, str] = field(default_factory=dict)
    bases: dict[int, tuple[list[QueryRanker], FloatArray]] = field(default_factory=dict)

    def climb(self, steps: Iterable[str] = tuple(STEPS)) -> Ladder:
        """Tune and score the methods and controls of some steps; rankers of steps that they need must be there."""
        climbed = {
            "linear": self._linear,
            "trees": lambda: self._tune(TREES, self.options.trees()),
            "local": self._local,
            "trees_queries": lambda: self._tune("beyond-trees-queries", self.options.trees_with_vectors()),
            "trees_queries_control": lambda: self._tune(
                CONTROLS["beyond-trees-queries"], self.options.trees_with_vectors(), "others"
            ),
            "trees_queries_control_fits": lambda: None,  # tunes nothing: `control_values` fits what is tuned
            "trees_evidence": lambda: self._evidence("beyond-trees-evidence", self.options.trees()),
            "trees_evidence_near": lambda: None,  # tunes nothing: `without_near` fits what is tuned
            "trees_evidence_control": lambda: self._prior("beyond-trees-evidence", self.options.trees()),
            "trees_evidence_control_fits": lambda: None,
            "mixtures": self._mixtures,
        }
        for step in steps:
            climbed[step]()
        return self

    def _linear(self) -> None:
        options = self.options
        self._tune(SINGLE, options.linear())
        self._tune("beyond-bilinear", options.bilinear())
        self._tune(CONTROLS["beyond-bilinear"], options.bilinear(), "others")
        self._evidence("beyond-evidence", options.linear())
        self._prior("beyond-evidence", options.linear())

    def _local(self) -> None:
        options, lam = self.options, self.rankers[SINGLE].lam  # type: ignore[attr-defined]
        self._tune("beyond-knn", options.nearest())
        self._tune(CONTROLS["beyond-knn"], options.nearest(options.seed))
        self._tune("beyond-proximal", options.proximal(lam))
        self._tune(CONTROLS["beyond-proximal"], options.proximal(lam, options.seed))
        self._tune("beyond-kernel", options.kernel(lam))
        self._tune(CONTROLS["beyond-kernel"], options.kernel(lam), "moved")

    def _evidence(self, name: str, tried: list[QueryRanker]) -> None:
        self._with_columns(name, self.options.evidence(self.data.reference), tried)

    def _prior(self, name: str, tried: list[QueryRanker]) -> None:
        self._with_columns(CONTROLS[name], self.options.prior(self.data.reference), tried)

    def take(self, name: str, ranker: QueryRanker, seen: str) -> None:
        """Keep a ranker that is tuned, here or by another job, with its scores; ``seen`` says whose vectors it sees."""
        data = self.data_of(seen, self.options.seed)
        self.rankers[name], self.scores[name], self.seen[name] = ranker, ranker.predict(*data.test), seen

    def data_of(self, seen: str, seed: int) -> FoldData:
        """The fold as a control sees it, drawn with a seed."""
        if seen == "own":
            return self.data
        others = self.data.with_others(seed)
        # training queries keep their vectors; each other query gets the neighbours of another query
        return others if seen == "others" else replace(others, train=self.data.train)

    def again(self, name: str, seed: int) -> FloatArray:
        """Scores of the test documents by a ranker with its chosen setting, drawn and fitted again with another seed."""
        data, ranker = self.data_of(self.seen.get(name, "own"), seed), self.rankers[name].redrawn(seed)
        if name == TREES:
            return self._bases_again(seed)[0][1].predict(*data.test)
        if not isinstance(ranker, Mixture):
            return ranker.fit(*data.train, validation=data.watched).predict(*data.test)
        ranker.bases, held_out = self._bases_again(seed)
        return ranker.fit_weights(held_out, *data.train).predict(*data.test)

    def _bases_again(self, seed: int) -> tuple[list[QueryRanker], FloatArray]:
        """Single and LambdaMART fitted with another seed, and their out-of-fold scores.

        All mixtures stand on them, also the control, since neither looks at the vectors. Trees take most of the time.
        """
        if seed not in self.bases:
            bases, (train, vectors) = [self.rankers[name].redrawn(seed) for name in (SINGLE, TREES)], self.data.train
            for base in bases:
                base.fit(train, vectors, self.data.watched)
            self.bases[seed] = bases, out_of_fold(bases, train, vectors, parts=self.options.parts, seed=seed)
        return self.bases[seed]

    def _tune(self, name: str, tried: Sequence[QueryRanker], seen: str = "own") -> None:
        data = self.data_of(seen, self.options.seed)
        choice = tune_rankers(tried, data.train, data.vali, name=MEASURE, seed=self.options.seed)
        self._keep(name, choice, tried, choice.chosen, seen)

    def _keep(
        self, name: str, choice: Choice[QueryRanker], tried: Sequence[QueryRanker], ranker: QueryRanker, seen: str
    ) -> None:
        """Keep a choice, and ``ranker``: the chosen one or one built from it."""
        self.tuned[name], self.settings[name] = choice, [setting_text(one) for one in tried]
        self.log(f"{name}: {self.settings[name][choice.place]}, {MEASURE} {choice.value:.4f} on validation")
        self.take(name, ranker, seen)

    def _with_columns(self, name: str, evidence: NeighbourEvidence | DocumentPrior, tried: list[QueryRanker]) -> None:
        """Tune rankers that see evidence columns; the columns are computed once."""
        shell = WithEvidence(base=tried[0], evidence=evidence)
        (train, vectors), vali = self.data.train, self.data.vali
        wide = (shell.fit_columns(train, vectors), vectors), (shell.inside(*vali), vali[1])
        choice = tune_rankers(tried, *wide, name=MEASURE, seed=self.options.seed)
        shell.base = choice.chosen
        self._keep(name, choice, tried, shell, "own")

    def _mixtures(self) -> None:
        """Mixtures of the tuned Single and LambdaMART, learned from out-of-fold scores."""
        bases = [self.rankers[name] for name in (SINGLE, TREES)]
        options, (train, vectors) = self.options, self.data.train
        held_out = out_of_fold(bases, train, vectors, parts=options.parts, seed=options.seed)
        watched = base_scores(bases, *self.data.watched)
        mixture = partial(Mixture, bases=bases, parts=options.parts, seed=options.seed)
        fixed = [mixture(lam=lam) for lam in options.penalties]
        gated = [
            mixture(gate=True, lam=lam, interactions=penalty, components=options.components)
            for lam, penalty in options.gates
        ]
        for name, tried, seen in ((FIXED, fixed, "own"), (GATED, gated, "own"), (OTHER_GATE, gated, "others")):
            data = self.data_of(seen, options.seed)
            ready = [_Weighed(mixture=mixture, held_out=held_out, watched=watched) for mixture in map(_copy, tried)]
            choice = tune_rankers(ready, data.train, data.vali, name=MEASURE, seed=options.seed)
            mixtures = [one.mixture for one in ready]
            self._keep(name, choice, mixtures, mixtures[choice.place], seen)


def _copy(mixture: Mixture) -> Mixture:
    """The same mixture over the same fitted rankers."""
    names = [f.name for f in fields(mixture) if f.init]
    return Mixture(**{name: getattr(mixture, name) for name in names})


@dataclass(kw_only=True, eq=False)
class _Weighed(QueryRanker):
    """A mixture of fitted rankers whose scores are known: out of fold of training documents, and of those to choose on."""

    NAME = "weighed"

    mixture: Mixture
    held_out: FloatArray
    watched: FloatArray

    def fit(self, train: Judged, vectors: FloatArray, validation: Validation | None = None) -> _Weighed:  # noqa: ARG002
        self.mixture.fit_weights(self.held_out, train, vectors)
        return self

    def predict(self, documents: Judged, vectors: FloatArray) -> FloatArray:
        return self.mixture.mixed(self.watched, documents, vectors)


def setting_text(ranker: QueryRanker) -> str:
    """The parameters of a ranker that differ between settings."""
    inner = ranker.base if hasattr(ranker, "base") else ranker
    names = ("k", "lam", "proximity", "mix", "interactions", "leaves", "min_leaf")
    return ", ".join(f"{name}={getattr(inner, name):g}" for name in names if hasattr(inner, name))


def setting_choices(fold: str, ladder: Ladder) -> pa.Table:
    """The artifact ``choices``: every setting of every method and control, in the order tried."""
    rows = [
        {
            "fold": fold,
            "method": name,
            "setting": text,
            "k": None,
            "lam": None,
            "measure": MEASURE,
            "value": value,
            "chosen": i == choice.place,
        }
        for name, choice in ladder.tuned.items()
        for i, (text, value) in enumerate(zip(ladder.settings[name], choice.values, strict=True))
    ]
    return pa.Table.from_pylist(rows, shape_of("choices").schema({}))  # a step may tune nothing


def control_values(ladder: Ladder, refits: int = 1, apart: Collection[str] = ()) -> dict[str, FloatArray]:
    """Average precision of every control that was tuned on the test queries, (n_queries, n_fits), without those ``apart``.

    Controls that draw at random are drawn and fitted ``refits`` times, with the setting chosen for the first draw.
    """
    test, values = ladder.data.test[0], {}
    rankers = {name: FIXED if name == CONTROLS[GATED] else name for name in (*CONTROLS.values(), OTHER_GATE)}
    for name, ranker in rankers.items():
        if ranker not in ladder.scores or ranker in apart:
            continue
        further = further_scores(ladder, ranker, 1 if name in FIXED_CONTROLS else refits)
        scores = [ladder.scores[ranker], *further]
        values[name] = np.stack([query_values_of(MEASURE, test, one) for one in scores], axis=1)
    return values


def further_scores(ladder: Ladder, name: str, refits: int) -> list[FloatArray]:
    """Scores of the test documents by the further fits of a method or control, ``refits`` fits in all."""
    return [ladder.again(name, fit_seed(ladder.options.seed, fit)) for fit in range(1, refits)]

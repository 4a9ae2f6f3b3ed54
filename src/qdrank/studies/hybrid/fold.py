"""The rankers that section ``hybrid`` defines, and the job of a fold: methods and controls, single runs, checks, curves and oracles."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from qdrank.datasets.columns import reference_column
from qdrank.datasets.judged import Judged, load_judged
from qdrank.datasets.runs.run import COLUMNS
from qdrank.layout import FloatArray, rows_of
from qdrank.learners.atvt.estimator import ATVT
from qdrank.learners.ensemble.ser import SER, SSER
from qdrank.learners.parameters import most_regularised_first
from qdrank.queries.predictors import RunPredictors, margins, text_predictors
from qdrank.queries.profiles import Similarity
from qdrank.queries.recipe import load_document_vectors, load_queries
from qdrank.rankers.base import OfOthers, QueryRanker
from qdrank.rankers.bilinear import Bilinear
from qdrank.rankers.documents import FeatureScale, FoldDocuments, fold_documents
from qdrank.rankers.evidence import DocumentPrior, NeighbourEvidence
from qdrank.rankers.learned import LearnerRanker, WithQueryVectors
from qdrank.rankers.local_ranker import LocalRanker
from qdrank.rankers.one_model import LinearRanker, TreeRanker, WithEvidence
from qdrank.rankers.run_scores import FusedRuns, OneRun, OnRunScores, RunScores, among_first, count_runs, normalised
from qdrank.rankers.run_weights import (
    FixedWeights,
    MarginWeights,
    NeighbourWeights,
    PredictedWeights,
    RunWeights,
    SplitWeights,
    training_curves,
)
from qdrank.rankers.served import ServedRuns
from qdrank.rankers.tuning import query_values_of
from qdrank.registry import loaded
from qdrank.store import read, write
from qdrank.studies.hybrid.methods import (
    ALL,
    BEST,
    FIRST,
    FIRST_PREDICTED,
    FIXED,
    GROUPS,
    LEARNED,
    LINEAR,
    MEASURE,
    MOST_RUNS,
    PREDICTED,
    PREDICTED_TREES,
)
from qdrank.studies.hybrid.oracle import Oracles, measure_oracles
from qdrank.studies.running import FoldRun, View, subsets

if TYPE_CHECKING:
    from qdrank.studies.hybrid.settings import Hybrid as _Keys
else:
    from qdrank.studies.study import Keys as _Keys

#: Shrinkage of the trees from predictors to curves.
_RATE = 0.1
#: Weight of a query's own documents in the semi-supervised ensemble, and similar queries that choose a cluster's model.
_GAMMA, _SIMILAR = 0.5, 5
#: Neighbours of the local Ranking SVM, as a share, and leaves of LambdaMART's trees.
_LOCAL, _LEAVES = 0.2, 8


class Options(_Keys):
    """Keys of section ``hybrid``, under the same names; ``tol`` is shared by all studies, ``reference`` a column.

    Each function makes the rankers that a method tries. ``readings`` are the choices of the clusters' methods, as the section
    of their own study has them; ``kinds`` says where the classes of other studies' rankers are, by name: the digest of a job
    knows the code that its params name.
    """

    tol: float
    reference: int
    readings: Mapping[str, Any]
    kinds: Mapping[str, str]

    def alone(self, run: FoldRun) -> list[OneRun]:
        """Each run alone."""
        return [OneRun(run=place) for place in range(count_runs(run.test))]

    def fused(self, run: FoldRun, method: Any) -> list[FusedRuns]:  # noqa: ARG002
        """RRF; or CombSUM or CombMNZ in each norm that it allows."""
        if method == "rrf":
            return [FusedRuns()]
        return [FusedRuns(method=method, norm=norm) for norm in self.norms if (method, norm) != ("combmnz", "z-score")]

    def fixed(self, run: FoldRun) -> list[FixedWeights]:
        """Tuned fixed weights in each norm."""
        return [FixedWeights(norm=norm, measure=MEASURE, seed=run.seed) for norm in self.norms]

    def split(self, run: FoldRun) -> list[SplitWeights]:
        """One weight for queries for which a run finds little, and one for the others."""
        return [SplitWeights(**_shared(run))]

    def neighbours(self, run: FoldRun, *, random: bool = False) -> list[NeighbourWeights]:
        """Weights of the most similar judged queries, or of random ones."""
        ks = [k for large in (False, True) for k in sorted(self.ks, reverse=True) if (k > 1) == large]
        if random:
            return [NeighbourWeights(k=k, random=run.seed, **_shared(run)) for k in ks]
        kinds: tuple[Similarity, ...] = ("candidates", "vectors")
        return [NeighbourWeights(k=k, similarity=kind, **_shared(run)) for kind in kinds for k in ks]

    def ridge(self, run: FoldRun, *, single: bool = False) -> list[PredictedWeights]:
        """Weights by ridge regression; ``single``: one run alone for each query."""
        penalties = most_regularised_first("lam", self.lambdas)
        return [PredictedWeights(lam=lam, single=single, **_shared(run)) for lam in penalties]

    def trees(self, run: FoldRun) -> list[PredictedWeights]:
        """Weights by boosted trees."""
        shape = {"model": "trees", "rounds": self.rounds, "learning_rate": _RATE, **_shared(run)}
        return [PredictedWeights(leaves=n, **shape) for n in most_regularised_first("leaves", self.leaves)]

    def margin(self, run: FoldRun, *, others: bool = False) -> list[QueryRanker]:
        """The margin rule, or with the margins of another query."""
        tried = [MarginWeights(power=power, **_shared(run)) for power in sorted(self.powers)]
        return [OfOthers(base=one, seed=run.seed, given="models") if others else one for one in tried]

    def linear(self, run: FoldRun | None = None) -> list[QueryRanker]:  # noqa: ARG002
        """Ranking SVM on all columns."""
        return [LinearRanker(lam=lam, tol=self.tol) for lam in self.penalties]

    @property
    def penalties(self) -> list[float]:
        """``linear_lambdas`` in the order tried."""
        return most_regularised_first("lam", self.linear_lambdas)

    def lambdamart(self, run: FoldRun, *, queries: bool = False) -> list[QueryRanker]:
        """LambdaMART, with or without columns of the query."""
        grown = TreeRanker(leaves=_LEAVES, rounds=self.lambdamart_rounds, seed=run.seed, measure=MEASURE)
        return [WithQueryVectors(base=grown) if queries else grown]

    def evidence(self, run: FoldRun, *, prior: bool = False) -> list[QueryRanker]:
        """Ranking SVM with judgments of similar queries, or of all queries."""
        kind = (DocumentPrior if prior else NeighbourEvidence)(reference=self.reference)
        return [WithEvidence(base=base, evidence=kind) for base in self.linear(run)]

    @staticmethod
    def of_others(tried: Sequence[QueryRanker], seed: int) -> list[OfOthers]:
        """Rankers with the vectors of other queries."""
        return [OfOthers(base=one, seed=seed) for one in tried]

    # ---- methods of the papers, on the runs' scores ----

    def local_models(self, run: FoldRun, *, random: bool = False) -> list[QueryRanker]:
        """Ranking SVMs of the nearest training queries, or of random ones."""
        drawn = run.seed if random else None
        return _on_scores(run, [LocalRanker(k=_LOCAL, lam=lam, tol=self.tol, random=drawn) for lam in self.penalties])

    def ensembles(self, run: FoldRun) -> list[QueryRanker]:
        """SER."""
        return _on_scores(run, [LearnerRanker(learner=SER(C=1 / lam)) for lam in self.penalties])

    def semi_supervised_ensembles(self, run: FoldRun, *, others: bool = False) -> list[QueryRanker]:
        """SSER with the weight of the query's documents that its paper says works well, or with documents of other queries."""
        kind, gammas = loaded(self.kinds["ensemble"]), (0.0, _GAMMA)
        tried = [kind(learner=SSER(C=1 / lam), gammas=gammas, gamma=_GAMMA) for lam in self.penalties]
        return _on_scores(run, [OfOthers(base=one, seed=run.seed, given="models") if others else one for one in tried])

    def atvt(self, run: FoldRun) -> list[QueryRanker]:
        """Boosted trees of aTVT."""
        return _on_scores(run, [LearnerRanker(learner=ATVT(lam_h=lam)) for lam in self.penalties])

    def gate(self, run: FoldRun) -> list[QueryRanker]:
        """Weights linear in the query vector."""
        return _on_scores(run, [Bilinear(lam=lam, tol=self.tol) for lam in self.penalties])

    def select(self, run: FoldRun, *, random: bool = False) -> list[QueryRanker]:
        """SelectRanker, with clusters of queries or random ones."""
        return self._clusters(run, random, kind="select", scheme="pairs", size=_SIMILAR)

    def transform(self, run: FoldRun, *, random: bool = False) -> list[QueryRanker]:
        """Transform, likewise."""
        return self._clusters(run, random, kind="transform", scheme="transformed", size=0)

    def _clusters(self, run: FoldRun, random: bool, *, scheme: str, **given: Any) -> list[QueryRanker]:
        """Models of clusters of queries; the features are the runs' scores as they are."""
        best, n_runs = run.made[BEST], count_runs(run.test)
        assert isinstance(best, OneRun)
        given |= {"scheme": f"{scheme}-random" if random else scheme, "reference": best.run, "m": self.clusters}
        given |= {"seed": run.seed, "base": run.seed, "tol": self.tol, "readings": dict(self.readings)}
        given |= {"mean": np.zeros(n_runs), "inverse": np.ones(n_runs)}
        kind = loaded(self.kinds["clusters"])
        return _on_scores(run, [kind(lam=lam, single_lam=lam, **given) for lam in self.penalties])


def fixed_weights(run: FoldRun) -> FixedWeights:
    """The tuned fixed weights."""
    fixed = run.made[FIXED]
    assert isinstance(fixed, FixedWeights)
    return fixed


def _shared(run: FoldRun) -> dict[str, Any]:
    """What weights per query take from the tuned fixed weights."""
    return {"norm": fixed_weights(run).norm, "measure": MEASURE, "seed": run.seed}


def _on_scores(run: FoldRun, tried: Sequence[QueryRanker]) -> list[QueryRanker]:
    return [OnRunScores(base=base, norm=fixed_weights(run).norm) for base in tried]


#: How the first column of a run is named; its tag follows.
_FIRST = f"{COLUMNS[0]} "
#: First documents of each run that LambdaMART learns from.
_DEPTH = 20
#: Weights of a run that are drawn.
SHARES = np.round(np.linspace(0, 1, 21), 9)
#: Methods that choose among the settings of the grid.
_ON_THE_GRID = (FIXED, "hybrid-neighbours", "hybrid-ridge", PREDICTED_TREES, "hybrid-select")


def write_fold(
    files: Mapping[str, Any],
    out: Mapping[str, str],
    fold: str,
    *,
    scale: FeatureScale,
    queries: Mapping[str, Any],
    hybrid: Mapping[str, Any],
    methods: Sequence[str],
    seed: int,
    refits: int,
    log: Callable[[str], object],
) -> None:
    """Tune, score and write all methods and controls, and the tables for figures."""
    documents = fold_documents(load_judged(files["judged"]), fold, scale)
    options = Options(**hybrid, reference=reference_column(files["columns"]))
    views = _views(files, documents, queries)
    run = FoldRun(fold, views, options, measure=MEASURE, seed=seed, refits=refits, log=log)
    run.run(method for method in ALL if method.name in methods or method.control_of in methods)
    names = read(files["columns"], "columns").column("name").to_pylist()
    tags = tuple(name.removeprefix(_FIRST) for name in names if name.startswith(_FIRST))
    measure_runs(run, tags)
    measure_weights(run, tags)
    measure_learning(run)
    log("oracles over weights and over noise")
    oracles = oracles_of(run)
    curves = oracles.curves()
    measure_oracles(run, oracles, curves)
    run.write(out, ServedRuns, tags=tags)
    write(out["checks"], "figure", checks_table(run, curves))


def measure_runs(run: FoldRun, tags: Sequence[str]) -> None:
    """Add the values of each run alone."""
    for tag, alone in zip(tags, run.options.alone(run), strict=True):
        run.measured(f"run {tag}", alone.predict(*run.views[""].parts["test"]))


def measure_weights(run: FoldRun, tags: Sequence[str]) -> None:
    """Values of runs by their weight ``x``, the rest shared as ``tuned``; queries are grouped by the run's margin."""
    test, fixed = run.test, fixed_weights(run)
    scores, tuned, n = RunScores.of(test, fixed.norm), fixed.tuned, test.n_queries
    margin = margins(normalised(test, "min-max"), test.offsets)
    for place in np.argsort(-tuned, kind="stable")[:MOST_RUNS]:
        others = np.arange(len(tuned)) != place
        rest = np.where(others, tuned if tuned[others].any() else 1.0, 0.0)
        columns: dict[str, Any] = {"group": _thirds(margin[:, place]), "tuned": [float(tuned[place])] * n}
        for share in SHARES:
            weights = (1 - share) * rest / rest.sum()
            weights[place] = share
            run.measured(f"run {tags[place]}", scores.at(weights[None])[:, 0], x=float(share), **columns)


def _thirds(values: FloatArray) -> list[str]:
    """Third of each value, by rank."""
    rank = np.argsort(np.argsort(values, kind="stable"), kind="stable")
    return [GROUPS[min(2, 3 * int(one) // max(len(values), 1))] for one in rank]


def measure_learning(run: FoldRun) -> None:
    """Values of methods by the number of judged queries ``x`` (0: all) in several draws, with the settings chosen on all."""
    for name in LEARNED:
        parts, ranker = run.views[run.sees[name]].parts, run.made[name]
        assert isinstance(ranker, RunWeights)
        train, vectors = parts["train"]
        settings, curves = training_curves(train, ranker.norm, ranker.measure, ranker.seed)
        for size, draw, rows in subsets(train.n_queries, run.options.sizes, run.options.draws, run.seed):
            learned = ranker.fresh().fit_curves(settings, curves[rows], train.take(rows), vectors[rows])
            run.measured(name, learned.predict(*parts["test"]), fit=draw, x=size)


def oracles_of(run: FoldRun) -> Oracles:
    """The test queries at every setting."""
    fixed = fixed_weights(run)
    return Oracles(run.test, fixed.settings_, fixed.place, fixed.norm)


def checks_table(run: FoldRun, test_curves: FloatArray) -> pa.Table:
    """Largest differences where there must be none: all neighbours against fixed weights, choices against the oracle."""
    parts, fixed = run.views[""].parts, fixed_weights(run)
    everyone = NeighbourWeights(norm=fixed.norm, measure=MEASURE, seed=run.seed, k=1.0).fit(*parts["train"])
    values = [query_values_of(MEASURE, run.test, scores) for name in _ON_THE_GRID for scores in run.scores[name]]
    rows = {
        "all neighbours": float(np.abs(everyone.models(*parts["test"]) - fixed.tuned).max()),
        "bound": float(np.round((np.stack(values) - test_curves.max(axis=1)).max(), 12)),
    }
    return pa.table({"fold": pa.array([run.fold] * len(rows)), "check": list(rows), "value": list(rows.values())})


# ---- what methods see ----------------------------------------------------------------------------------------------


def views(documents: FoldDocuments, plain: View, predicted: View) -> dict[str, View]:
    """All views, from two; LambdaMART learns from the documents that a run has among its first."""

    def first(view: View) -> View:
        train, vectors = view.parts["train"]
        return replace(view, parts={**view.parts, "train": (among_first(train, _DEPTH), vectors)})

    linear = {role: (documents.seen(role), vectors) for role, (_, vectors) in plain.parts.items()}
    return {
        "": plain,
        LINEAR: View(linear, documents.view(), plain.queries),
        PREDICTED: predicted,
        FIRST: first(plain),
        FIRST_PREDICTED: first(predicted),
    }


def _views(files: Mapping[str, Any], documents: FoldDocuments, queries: Mapping[str, Any]) -> dict[str, View]:
    topics, vectors = read(files["topics"], "topics"), load_queries(files["queries"])
    recipe = load_document_vectors(files, queries, missing=documents.view().missing)
    known = "run_scores" in topics.column_names
    _, texts = _scales_and_texts(documents.parts["train"], topics)
    predictors = text_predictors([] if None in texts else texts, raw=known)
    plain = View.of(documents, lambda part: vectors.of(part.query_id), recipe, scaled=False)
    predicted = View.of(documents, lambda part: _predicted(predictors, part, topics), predictors, scaled=False)
    return views(documents, plain, predicted)


def _predicted(recipe: RunPredictors, part: Judged, topics: pa.Table) -> FloatArray:
    return recipe.vectors(part.X, part.offsets, *_scales_and_texts(part, topics))


def _scales_and_texts(part: Judged, topics: pa.Table) -> tuple[FloatArray | None, list[str | None]]:
    """Mean and deviation of the raw scores, (n_queries, 2 n_runs), None if not known; and the texts of the queries."""
    rows = topics.take(pa.array(rows_of(part.query_id, topics.column("query_id").to_numpy(zero_copy_only=False))))
    raw = None
    if "run_scores" in topics.column_names:
        raw = np.array(rows.column("run_scores").to_pylist(), dtype=np.float64)
    return raw, rows.column("text").to_pylist()

"""The job of a fold: all methods and controls, single runs, checks, the curves and the oracles."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from qdrank.datasets.columns import reference_column
from qdrank.datasets.judged import Judged, load_judged
from qdrank.datasets.runs.run import COLUMNS
from qdrank.layout import FloatArray, rows_of
from qdrank.queries.predictors import RunPredictors, margins, text_predictors
from qdrank.queries.recipe import load_document_vectors, load_queries
from qdrank.rankers.documents import FeatureScale, FoldDocuments, fold_documents
from qdrank.rankers.run_scores import RunScores, among_first, normalised
from qdrank.rankers.run_weights import NeighbourWeights, RunWeights, training_curves
from qdrank.rankers.served import ServedRuns
from qdrank.rankers.tuning import query_values_of
from qdrank.store import read, write
from qdrank.studies.hybrid.methods import (
    ALL,
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
from qdrank.studies.hybrid.options import Options, fixed_weights
from qdrank.studies.hybrid.oracle import Oracles, measure_oracles
from qdrank.studies.running import FoldRun, View, subsets

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

"""The job of a fold: all methods and controls, single runs, checks, the curves and the oracles."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from qdrank.datasets.columns import reference_column
from qdrank.datasets.judged import Judged, load_judged
from qdrank.datasets.runs.scaling import COLUMNS
from qdrank.layout import FloatArray, rows_of
from qdrank.queries.artifacts import load_queries
from qdrank.queries.predictors import RunPredictors, text_predictors
from qdrank.queries.recipe import load_document_vectors
from qdrank.rankers.documents import FeatureScale, FoldDocuments, fold_documents
from qdrank.rankers.run_scores import among_first
from qdrank.rankers.run_weights import FixedWeights, NeighbourWeights
from qdrank.rankers.served import ServedRuns
from qdrank.rankers.tuning import query_values_of
from qdrank.store import read, write
from qdrank.studies.hybrid.curves import measure_learning, measure_weights
from qdrank.studies.hybrid.methods import (
    ALL,
    FIRST,
    FIRST_PREDICTED,
    FIXED,
    LINEAR,
    MEASURE,
    PREDICTED,
    PREDICTED_TREES,
)
from qdrank.studies.hybrid.options import Options
from qdrank.studies.hybrid.oracle import Oracles, measure_oracles
from qdrank.studies.running import FoldRun, View

#: How the first column of a run is named; its tag follows.
_FIRST = f"{COLUMNS[0]} "
#: First documents of each run that LambdaMART learns from.
_DEPTH = 20
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


def oracles_of(run: FoldRun) -> Oracles:
    """The test queries at every setting."""
    fixed = run.made[FIXED]
    assert isinstance(fixed, FixedWeights)
    return Oracles(run.test, fixed.settings_, fixed.place, fixed.norm)


def checks_table(run: FoldRun, test_curves: FloatArray) -> pa.Table:
    """Largest differences where there must be none: all neighbours against fixed weights, choices against the oracle."""
    parts, fixed = run.views[""].parts, run.made[FIXED]
    assert isinstance(fixed, FixedWeights)
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

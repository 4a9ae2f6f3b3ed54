"""Two kinds of curves of a fold: the measure against the weight of a run for groups of queries, and learning curves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from qdrank.datasets.judged import Judged
from qdrank.layout import FloatArray, IntArray
from qdrank.queries.predictors import margins
from qdrank.rankers.run_scores import RunScores, normalised
from qdrank.rankers.run_weights import FixedWeights, RunWeights, training_curves
from qdrank.rankers.tuning import query_values_of
from qdrank.store.lists import repeated
from qdrank.studies.hybrid.methods import FIXED, MEASURE
from qdrank.studies.hybrid.shown import GROUPS, LEARNED, MOST_RUNS
from qdrank.studies.running import FoldRun

#: Weights of a run that are drawn.
SHARES = np.round(np.linspace(0, 1, 21), 9)


# ---- measure against the weight ------------------------------------------------------------------------------------


def weight_curves(fold_run: FoldRun) -> pa.Table:
    """Measure of the test queries by the weight of one run, the rest shared as tuned; queries grouped by the run's margin."""
    test, fixed = fold_run.test, fold_run.made[FIXED]
    assert isinstance(fixed, FixedWeights)
    scores, tuned = RunScores.of(test, fixed.norm), fixed.tuned
    margin = margins(normalised(test, "min-max"), test.offsets)
    tables = []
    for run in np.argsort(-tuned, kind="stable")[:MOST_RUNS]:
        rest = np.where(np.arange(len(tuned)) == run, 0.0, tuned)
        if not rest.sum():
            rest = np.where(np.arange(len(tuned)) == run, 0.0, 1.0)
        group = _thirds(margin[:, run])
        for share in SHARES:
            weights = (1 - share) * rest / rest.sum()
            weights[run] = share
            value = query_values_of(MEASURE, test, scores.at(weights[None])[:, 0])
            tables.append(_curve(fold_run.fold, test, run, share, float(tuned[run]), group, value))
    return pa.concat_tables(tables)


def _thirds(values: FloatArray) -> list[str]:
    """Third of each value, by rank."""
    rank = np.argsort(np.argsort(values, kind="stable"), kind="stable")
    return [GROUPS[min(2, 3 * int(one) // max(len(values), 1))] for one in rank]


def _curve(
    fold: str, test: Judged, run: int, share: float, tuned: float, group: list[str], value: FloatArray
) -> pa.Table:
    n = test.n_queries
    return pa.table(
        {
            "fold": pa.array([fold] * n, pa.string()),
            "run": np.full(n, run, dtype=np.int32),
            "weight": np.full(n, share),
            "tuned": np.full(n, tuned),
            "group": pa.array(group, pa.string()),
            "query_id": pa.array(test.query_id, pa.string()),
            "value": value,
        }
    )


# ---- learning curve ------------------------------------------------------------------------------------------------


def learning_curve(run: FoldRun, test_curves: FloatArray) -> pa.Table:
    """Measure of the test queries by method and number of judged queries (0: all), with the settings chosen on all."""
    tables = []
    for size, draw, rows in _subsets(run):
        for name in LEARNED:
            value = test_curves[np.arange(len(test_curves)), _places(run, name, rows)]
            columns: dict[str, Any] = repeated(len(value), fold=run.fold, method=name)
            columns |= {"query_id": pa.array(run.test.query_id, pa.string())}
            columns |= {"size": np.full(len(value), size, np.int32), "draw": np.full(len(value), draw, np.int32)}
            tables.append(pa.table(columns | {"value": value}))
    return pa.concat_tables(tables)


def _subsets(run: FoldRun) -> list[tuple[int, int, IntArray]]:
    """Size, draw and training queries of every subset, nested within a draw; all queries come last, as size 0."""
    n, subsets = run.views[""].parts["train"][0].n_queries, []
    for draw in range(run.options.draws):
        order = np.random.default_rng([run.seed, draw]).permutation(n)
        sizes = sorted({size for size in run.options.sizes if size < n})
        subsets += [(size, draw, np.sort(order[:size]).astype(np.int64)) for size in sizes]
    return [*subsets, (0, 0, np.arange(n, dtype=np.int64))]


def _places(run: FoldRun, name: str, rows: IntArray) -> IntArray:
    """Setting of each test query by a method that knows only the training queries ``rows``."""
    parts, ranker = run.views[run.sees[name]].parts, run.made[name].fresh()
    assert isinstance(ranker, RunWeights)
    train, vectors = parts["train"]
    settings, curves = training_curves(train, ranker.norm, MEASURE, run.seed)
    ranker.fit_curves(settings, curves[rows], train.take(rows), vectors[rows])
    return ranker.places(*parts["test"])

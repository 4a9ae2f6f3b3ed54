"""Two kinds of curves of a fold: the measure against the weight of a run for groups of queries, and learning curves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from qdrank.layout import FloatArray
from qdrank.queries.predictors import margins
from qdrank.rankers.run_scores import RunScores, normalised
from qdrank.rankers.run_weights import FixedWeights, RunWeights, training_curves
from qdrank.studies.hybrid.methods import FIXED
from qdrank.studies.hybrid.shown import GROUPS, LEARNED, MOST_RUNS
from qdrank.studies.running import FoldRun, subsets

#: Weights of a run that are drawn.
SHARES = np.round(np.linspace(0, 1, 21), 9)


def measure_weights(fold: FoldRun, tags: Sequence[str]) -> None:
    """Values of runs by their weight ``x``, the rest shared as ``tuned``; queries are grouped by the run's margin."""
    test, fixed = fold.test, fold.made[FIXED]
    assert isinstance(fixed, FixedWeights)
    scores, tuned, n = RunScores.of(test, fixed.norm), fixed.tuned, test.n_queries
    margin = margins(normalised(test, "min-max"), test.offsets)
    for run in np.argsort(-tuned, kind="stable")[:MOST_RUNS]:
        others = np.arange(len(tuned)) != run
        rest = np.where(others, tuned if tuned[others].any() else 1.0, 0.0)
        columns: dict[str, Any] = {"group": _thirds(margin[:, run]), "tuned": [float(tuned[run])] * n}
        for share in SHARES:
            weights = (1 - share) * rest / rest.sum()
            weights[run] = share
            fold.measured(f"run {tags[run]}", scores.at(weights[None])[:, 0], x=float(share), **columns)


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

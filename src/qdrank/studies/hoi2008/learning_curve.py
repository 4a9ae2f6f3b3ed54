"""Average precision against the number of training queries, to see if unlabelled documents help when labels are few."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from qdrank.layout import IntArray
from qdrank.learners.classic.listnet import ListNet
from qdrank.learners.ranksvm.estimator import RankSVM
from qdrank.rankers.documents import FeatureScale, load_fold
from qdrank.rankers.learned import LearnerRanker
from qdrank.store import write
from qdrank.studies.hoi2008.fold import ensemble_run
from qdrank.studies.hoi2008.methods import GAMMA, ON_CURVE
from qdrank.studies.hoi2008.rankers import EnsembleRanker
from qdrank.studies.running import FoldRun


def subsets(n: int, sizes: Sequence[int], repeats: int, seed: int) -> Iterator[tuple[int, int, IntArray]]:
    """Size, number of the repeat, and training queries of every subset; the set of all queries comes last, once.

    The subsets of one repeat are nested: each larger one contains the smaller ones.
    """
    for repeat in range(repeats):
        order = np.random.default_rng([seed, repeat]).permutation(n)
        for size in sorted({size for size in sizes if size < n}):
            yield size, repeat, np.sort(order[:size]).astype(np.int64)
    yield n, 0, np.arange(n, dtype=np.int64)


def measure_subsets(run: FoldRun, sizes: Sequence[int], repeats: int) -> pa.Table:
    """Values of every method by subset: ``x`` is the number of training queries, 0 for all, and ``fit`` the repeat."""
    parts = run.views[""].parts
    (train, vectors), test = parts["train"], parts["test"]
    for size, repeat, queries in subsets(train.n_queries, sizes, repeats, run.seed):
        learned = train.take(queries), vectors[queries]
        sser = EnsembleRanker(learner=run.options.estimator("half"), gamma=GAMMA).fit(*learned)
        rankers = {
            "ser": sser.at(0.0),
            "sser": sser,
            "ranksvm": LearnerRanker(learner=RankSVM()),
            "listnet": LearnerRanker(learner=ListNet()),
        }
        for method in ON_CURVE:
            (ranker,) = rankers[method].fit_each([rankers[method]], *learned)
            x = 0 if size == train.n_queries else size
            run.measured(method, ranker.predict(*test), fit=repeat, x=x)
    return pa.concat_tables(run.values)


def write_curve(
    files: Mapping[str, str],
    path: str,
    fold: str,
    *,
    scale: FeatureScale,
    hoi: Mapping[str, Any],
    sizes: Sequence[int],
    repeats: int,
    **given: Any,
) -> None:
    """Write the learning curve of a fold."""
    documents = load_fold(files["judged"], fold, scale, columns=["doc_id", "features"])
    run = ensemble_run(fold, documents, hoi, measures=["ap"], **given)
    write(path, "values", measure_subsets(run, sizes, repeats))

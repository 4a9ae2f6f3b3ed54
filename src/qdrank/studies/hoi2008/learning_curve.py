"""Average precision against the number of training queries, to see if unlabelled documents help when labels are few."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from qdrank.datasets.judged import Judged
from qdrank.layout import FloatArray, IntArray
from qdrank.learners.classic.listnet import ListNet
from qdrank.learners.ensemble.ser import rounded_scores
from qdrank.learners.ranksvm.estimator import RankSVM
from qdrank.measures.compute import measure
from qdrank.store import write
from qdrank.store.lists import repeated
from qdrank.studies.hoi2008.fold import EnsembleFold, load_ensemble_fold
from qdrank.studies.hoi2008.methods import ON_CURVE
from qdrank.studies.hoi2008.rankers import query_rows, scores_by


def subsets(n: int, sizes: Sequence[int], repeats: int, seed: int) -> Iterator[tuple[int, int, IntArray]]:
    """Size, number of the repeat, and training queries of every subset; the set of all queries comes last, once.

    The subsets of one repeat are nested: each larger one contains the smaller ones.
    """
    for repeat in range(repeats):
        order = np.random.default_rng([seed, repeat]).permutation(n)
        for size in sorted({size for size in sizes if size < n}):
            yield size, repeat, np.sort(order[:size]).astype(np.int64)
    yield n, 0, np.arange(n, dtype=np.int64)


def curve_table(name: str, fold: EnsembleFold, sizes: Sequence[int], repeats: int) -> pa.Table:
    """Average precision of every method, subset and test query; ``size`` is the number of training queries, 0 for all."""
    train, test = fold.documents.parts["train"], fold.documents.parts["test"]
    estimator = fold.options.estimator("half")
    estimator.fit(train.X, train.y, train.query)
    roughness = [estimator.roughness_of(query_rows(test, query)) for query in range(test.n_queries)]
    tables = []
    for size, repeat, queries in subsets(train.n_queries, sizes, repeats, fold.seed):
        scored = _scores(fold, train.take(queries), test, roughness)
        shown = 0 if size == train.n_queries else size
        tables += [_table(name, shown, repeat, method, test, scores) for method, scores in scored.items()]
    return pa.concat_tables(tables)


def write_curve(
    files: Mapping[str, str], path: str, fold: str, *, sizes: Sequence[int], repeats: int, **given: Any
) -> None:
    """Write the learning curve of a fold; ``given`` as for `load_ensemble_fold`."""
    write(path, "figure", curve_table(fold, load_ensemble_fold(files["judged"], fold, **given), sizes, repeats))


def _scores(fold: EnsembleFold, train: Judged, test: Judged, roughness: list[FloatArray]) -> dict[str, FloatArray]:
    """Scores of the test documents by method."""
    judged = (train.X, train.y, train.query)
    sser = fold.options.estimator("half", max_grade=fold.max_grade).fit(*judged)
    weights = np.array([sser.path(K, [fold.options.gamma])[0].weights for K in roughness])
    learners: dict[str, Callable[[], FloatArray]] = {
        "ser": lambda: rounded_scores(test.X, sser.weights_),
        "sser": lambda: scores_by(test, weights),
        "ranksvm": lambda: RankSVM().fit(*judged).predict(test.X),
        "listnet": lambda: ListNet().fit(*judged).predict(test.X),
    }
    return {method: learners[method]() for method in ON_CURVE}


def _table(fold: str, size: int, repeat: int, method: str, test: Judged, scores: FloatArray) -> pa.Table:
    columns = repeated(test.n_queries, fold=fold, method=method, size=size, repeat=repeat)
    ap = measure(["ap"], test.y, scores, test.offsets, unranked=test.unranked)["ap"]
    return pa.table(columns | {"query_id": pa.array(test.query_id, pa.string()), "ap": ap})

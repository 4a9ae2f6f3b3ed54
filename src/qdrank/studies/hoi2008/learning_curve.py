"""Average precision against the number of training queries, to see if unlabelled documents help when labels are few."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from qdrank.learners.classic.linear import ListNet
from qdrank.learners.ranksvm.estimator import RankSVM
from qdrank.rankers.documents import FeatureScale, load_fold
from qdrank.rankers.learned import LearnerRanker
from qdrank.store import write
from qdrank.studies.hoi2008.fold import ensemble_run
from qdrank.studies.hoi2008.methods import GAMMA, ON_CURVE
from qdrank.studies.hoi2008.rankers import EnsembleRanker
from qdrank.studies.running import FoldRun, subsets


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
            run.measured(method, ranker.predict(*test), fit=repeat, x=size)
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

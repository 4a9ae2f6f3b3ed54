"""Table 3 of Hoi and Jin 2008, measured: training time. A module of its own: other tables load no learners."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

import numpy as np
import pyarrow as pa

from qdrank.datasets.judged import load_judged
from qdrank.jobs import seconds
from qdrank.learners.ensemble.ser import SSER
from qdrank.learners.ranksvm.estimator import Loss, RankSVM
from qdrank.rankers.documents import FoldDocuments, fold_documents
from qdrank.studies.making import Inputs, Shown

#: Seconds in the paper, mean of five trials on OHSUMED.
PUBLISHED = {"Ranking SVM (SVMlight)": 37076.4, "Ranking SVM (SVMstruct)": 1228.5, "SER": 6.3, "SSER": 7.5}
#: Row whose time relative to SER and SSER compares with the paper's ratios of 195 and 164.
SLOW = "Ranking SVM, hinge"
#: Number of test queries timed for SSER; the others take equally long.
_QUERIES = 100


def trial(documents: FoldDocuments) -> dict[str, float]:
    """Seconds of one fold by method, for training alone; all methods have the same features, and nothing is tuned."""
    train, test = documents.parts["train"], documents.parts["test"]
    judged = (train.X, train.y, train.query)
    lists = [test.X[a:b].astype(np.float64) for a, b in zip(test.offsets[:-1], test.offsets[1:], strict=True)][
        :_QUERIES
    ]
    sser = SSER(ties="half").fit(*judged)
    # Compile and import everything once before timing.
    sser.weights_for(lists[0])
    few = train.take(np.arange(min(5, train.n_queries)))
    for loss in get_args(Loss):
        RankSVM(loss=loss).fit(few.X, few.y, few.query)
    fit = seconds(lambda: SSER(ties="half").fit(*judged))
    per_query = seconds(lambda: [sser.weights_for(X) for X in lists]) / len(lists)
    return {
        SLOW: seconds(lambda: RankSVM(loss="hinge").fit(*judged), repeats=1),
        "Ranking SVM, squared hinge": seconds(lambda: RankSVM().fit(*judged)),
        "SER": fit,
        "SSER": fit + per_query * test.n_queries,
        "SSER, per test query": per_query,
    }


def tabulate(inputs: Inputs, shown: Shown) -> dict[str, pa.Table]:
    """The table, by id."""
    judged = load_judged(inputs.path("judged"), ["features"])
    trials = {fold: trial(fold_documents(judged, fold, shown.options["scale"])) for fold in shown.folds}
    return {"hoi-table3": times_table(trials)}


def times_table(trials: Mapping[str, Mapping[str, float]]) -> pa.Table:
    """Seconds by method and trial, their mean, the speed-up over the hinge Ranking SVM, and the paper's figures."""
    rows: list[dict[str, Any]] = []
    methods = list(next(iter(trials.values())))
    mean = {method: float(np.mean([seconds_of[method] for seconds_of in trials.values()])) for method in methods}
    published = {SLOW: PUBLISHED["Ranking SVM (SVMstruct)"], **PUBLISHED}
    for method in methods:
        row: dict[str, Any] = {"method": method} | {fold: seconds_of[method] for fold, seconds_of in trials.items()}
        row |= {"mean": mean[method], "times faster": mean[SLOW] / mean[method] if mean[method] else None}
        paper = published.get(method)
        row |= {"paper, mean": paper, "paper, times faster": paper and PUBLISHED["Ranking SVM (SVMstruct)"] / paper}
        rows.append(row)
    return pa.Table.from_pylist(rows)

"""Tables of the study of Hoi and Jin 2008: methods, folds, tests, certificates of the programs, and Table 3: training time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, get_args

import numpy as np
import pyarrow as pa

from qdrank.datasets.judged import load_judged
from qdrank.evaluation.comparison import Comparison, compare, corrected_p
from qdrank.evaluation.pairs import method_pairs
from qdrank.jobs import seconds
from qdrank.learners.ensemble.sser import SSER
from qdrank.learners.ranksvm.estimator import Loss, RankSVM
from qdrank.rankers.documents import FoldDocuments, fold_documents
from qdrank.studies.hoi2008.methods import BASELINES, BY_NAME, TIES, with_ties
from qdrank.studies.hoi2008.shapes import ENSEMBLES_SHAPE
from qdrank.studies.making import Inputs, Shown
from qdrank.studies.method_tables import folds_table, methods_table

_MEASURES = ("ap", "p@1/letor4", "p@2/letor4", "p@5/letor4", "p@10/letor4", "ndcg@10/letor4")


def tabulate(inputs: Inputs, shown: Shown) -> dict[str, pa.Table]:
    """Tables of the methods, by id."""
    measures = inputs.table("measures", "measures")
    return {
        "hoi-methods": methods_table(
            measures,
            BY_NAME,
            _MEASURES,
            inputs.tables("choices", "choices"),
            against="ser",
            by="ap",
            interval=shown.interval,
        ),
        "hoi-folds": folds_table(measures, BY_NAME, ["ap"]),
        "hoi-tests": _tests_table(measures, shown.interval),
        "hoi-solver": solver_table(inputs.tables("weights", ENSEMBLES_SHAPE)),
    }


def compared(measures: pa.Table, a: str, b: str, interval: Mapping[str, Any], name: str = "ap") -> Comparison:
    """Method ``a`` against ``b`` on all test queries."""
    return compare(method_pairs(measures, a, b, name), **interval)


def _pairs(measured: set[str]) -> list[tuple[str, str]]:
    """Pairs to test: SSER and SER against every baseline, under both rules, and against each other."""
    pairs = []
    for ties in TIES:
        ser, sser = with_ties("ser", ties), with_ties("sser", ties)
        pairs += [(sser, ser), *((a, b.name) for a in (sser, ser) for b in BASELINES if b.name in measured)]
    return pairs


def _tests_table(measures: pa.Table, interval: Mapping[str, Any]) -> pa.Table:
    """Three tests of every pair, Holm-corrected p-values of the t test, and the smallest detectable difference."""
    pairs = _pairs(set(measures.column("method").to_pylist()))
    comparisons = [compared(measures, *pair, interval) for pair in pairs]
    rows = []
    for pair, one, p in zip(pairs, comparisons, corrected_p(comparisons, family="SER and SSER"), strict=True):
        row: dict[str, Any] = {"method": BY_NAME[pair[0]].label, "against": BY_NAME[pair[1]].label}
        row |= {"difference in MAP": one.difference, "low": one.interval.low, "high": one.interval.high}
        row |= {"p, t test": one.t.p, "p, Holm": p, "p, Wilcoxon": one.wilcoxon.p}
        rows.append(row | {"p, permutation": one.permutation.p, "detectable": one.detectable, "queries": one.n})
    return pa.Table.from_pylist(rows)


def solver_table(tables: Sequence[pa.Table]) -> pa.Table:
    """Number of programs solved by each method, with the worst certificate."""
    table = pa.concat_tables(tables)
    method = table.column("method").to_numpy(zero_copy_only=False)
    rows = []
    for name in dict.fromkeys(method.tolist()):
        of_method = method == name
        gap, kkt, steps = (table.column(column).to_numpy()[of_method] for column in ("gap", "kkt", "steps"))
        row = {"method": BY_NAME[name].label, "programs": int(of_method.sum()), "largest gap": f"{gap.max():.1e}"}
        rows.append(row | {"largest KKT residual": f"{kkt.max():.1e}", "steps, mean": float(np.mean(steps))})
    return pa.Table.from_pylist(rows)


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


def tabulate_times(inputs: Inputs, shown: Shown) -> dict[str, pa.Table]:
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

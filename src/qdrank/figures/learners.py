"""Tables of the classic learners and aggregators: all methods, tests against RankSVM, published against ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from qdrank.errors import InputError
from qdrank.evaluation.comparison import compare
from qdrank.evaluation.pairs import Pairs, query_values
from qdrank.evaluation.published import PublishedFigures, compare_published
from qdrank.evaluation.significance import holm
from qdrank.figures.tables import chosen_by_fold
from qdrank.measures.folds import FoldMeans, fold_means
from qdrank.rankers.methods import CLASSIC

_SHOWN = ("ndcg@1", "ndcg@3", "ndcg@5", "ndcg@10", "p@1", "p@5", "p@10", "mean_ndcg")


def label(method: str) -> str:
    """Name of a method in tables."""
    return CLASSIC[method].label if method in CLASSIC else f"{method} feature"


def shown_measures(measures: pa.Table, convention: str) -> list[str]:
    """Measures for a table in ``convention``, among those that were measured."""
    names = ["ap", *(f"{name}/{convention}" for name in _SHOWN)]
    return [name for name in names if name in measures.column_names]


def means_of(measures: pa.Table, method: str, name: str) -> FoldMeans:
    """Means of a measure for a method: per fold, over the folds, and over all queries."""
    own = measures.filter(pc.equal(measures.column("method"), method))
    return fold_means(own.column(name).to_numpy(), own.column("fold").to_numpy(zero_copy_only=False))


def learners_table(
    measures: pa.Table, methods: Sequence[str], choices: Sequence[pa.Table], convention: str
) -> pa.Table:
    """One row per method: means of the folds, as LETOR publishes them, and the settings chosen in each fold."""
    chosen = chosen_by_fold(choices)
    rows = []
    for method in ["reference", *methods]:
        row: dict[str, Any] = {"method": label(method)}
        row |= {name: means_of(measures, method, name).published for name in shown_measures(measures, convention)}
        rows.append(row | {"settings by fold": "; ".join(chosen.get(method, []))})
    return pa.Table.from_pylist(rows)


def baseline_of(methods: Sequence[str]) -> str:
    """What the others are tested against: RankSVM, or the first method if RankSVM was not run."""
    return "ranksvm" if "ranksvm" in methods else methods[0]


def tests_table(measures: pa.Table, methods: Sequence[str], convention: str, interval: Mapping[str, Any]) -> pa.Table:
    """Every method against RankSVM on all test queries, in average precision and NDCG@10.

    The p-values of the t tests of one measure are corrected together by Holm's method.
    """
    against = baseline_of(methods)
    names = [name for name in ("ap", f"ndcg@10/{convention}") if name in measures.column_names]
    rows = [
        row
        for name in names
        for row in _tests(measures, [method for method in methods if method != against], against, name, interval)
    ]
    return pa.Table.from_pylist(rows, _TESTS)


_DETECTABLE = "smallest detectable difference (power 0.8)"
_TESTS = pa.schema(
    [("measure", pa.string()), ("method", pa.string()), ("against", pa.string()), ("queries", pa.int64())]
    + [(name, pa.float64()) for name in ("difference", "low", "high", "t", "p (t test)", "p (Holm)")]
    + [(name, pa.float64()) for name in ("p (Wilcoxon)", "p (permutation)", _DETECTABLE)]
    + [("verdict", pa.string())]
)


def _tests(
    measures: pa.Table, methods: Sequence[str], against: str, name: str, interval: Mapping[str, Any]
) -> list[dict[str, Any]]:
    found = {}
    for method in methods:
        ids, values = query_values(measures, [method, against], name)
        found[method] = compare(Pairs(ids, values[:, 0], values[:, 1]), family=len(methods), **interval)
    corrected = holm({method: one.t.p for method, one in found.items()}, family=f"{name} against {against}").adjusted
    return [
        {
            "measure": name,
            "method": label(method),
            "against": label(against),
            "queries": one.n,
            "difference": one.difference,
            "low": one.interval.low,
            "high": one.interval.high,
            "t": one.t.statistic,
            "p (t test)": one.t.p,
            "p (Holm)": corrected[method],
            "p (Wilcoxon)": one.wilcoxon.p,
            "p (permutation)": one.permutation.p,
            _DETECTABLE: one.detectable,
            "verdict": one.verdict(p=corrected[method]),
        }
        for method, one in found.items()
    ]


_PUBLISHED = pa.schema(
    [(name, pa.string()) for name in ("method", "measure", "fold")]
    + [(name, pa.float64()) for name in ("published", "ours", "difference", "tolerance")]
    + [(name, pa.string()) for name in ("verdict", "convention", "source", "certainty", "note")]
)


def published_table(expected: PublishedFigures, measures: pa.Table, *, queries: int, documents: int) -> pa.Table:
    """Published, ours, difference, verdict: one row per published figure, means before folds.

    The table has no rows if the data do not have the size of the published data, for example a sample.
    """
    methods = sorted(set(measures.column("method").to_pylist()))
    wanted = {name for figures in expected.figures for name in [*figures.values, *figures.folds]}
    known = [name for name in measures.column_names if name in wanted]
    measured = {method: {name: means_of(measures, method, name) for name in known} for method in methods}
    try:
        rows = compare_published(expected, measured, queries=queries, documents=documents)
    except InputError:
        return _PUBLISHED.empty_table()
    rows.sort(key=lambda row: row["fold"] != "mean")
    for row in rows:
        row["convention"] = expected.convention
        row["source"] = expected.sources[row["source"]].text
        row["method"] = label(row["method"]) if row["method"] in CLASSIC else row["method"]
    return pa.Table.from_pylist([{name: row[name] for name in _PUBLISHED.names} for row in rows], _PUBLISHED)

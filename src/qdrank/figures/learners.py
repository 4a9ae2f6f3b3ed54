"""Tables of the classic learners and aggregators: all methods, tests against RankSVM, published against ours."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from qdrank.datasets.judged import load_judged
from qdrank.errors import InputError
from qdrank.evaluation.comparison import DETECTABLE, compare, corrected_p
from qdrank.evaluation.pairs import FoldMeans, fit_columns, fold_means, method_pairs
from qdrank.evaluation.published import PublishedFigures, compare_published, load_expected, right_method_nearest
from qdrank.figures.tables import chosen_by_fold, write_table, write_tables
from qdrank.rankers.methods import CLASSIC
from qdrank.rankers.stages import FIRST_STAGES
from qdrank.store import read

_SHOWN = ("ndcg@1", "ndcg@3", "ndcg@5", "ndcg@10", "p@1", "p@5", "p@10", "mean_ndcg")


def _label(method: str) -> str:
    """What tables call a method."""
    return CLASSIC[method].label if method in CLASSIC else FIRST_STAGES[method]


def shown_measures(measures: pa.Table, convention: str) -> list[str]:
    """The measures that a table in ``convention`` shows, of those that were measured."""
    names = ["ap", *(f"{name}/{convention}" for name in _SHOWN)]
    return [name for name in names if name in measures.column_names]


def means_of(measures: pa.Table, method: str, name: str) -> FoldMeans:
    """Means of a measure of a method, by fold, of the folds and of all queries."""
    of_method = measures.filter(pc.equal(measures.column("method"), method))
    return fold_means(of_method.column(name).to_numpy(), of_method.column("fold").to_numpy(zero_copy_only=False))


def learners_table(
    measures: pa.Table, methods: Sequence[str], choices: Sequence[pa.Table], convention: str
) -> pa.Table:
    """One row per method: means of the folds, as LETOR publishes them, and the settings chosen in each fold."""
    chosen = chosen_by_fold(choices)
    rows = []
    measured = set(measures.column("method").to_pylist())
    for method in [*(name for name in FIRST_STAGES if name in measured), *methods]:
        row: dict[str, Any] = {"method": _label(method)}
        row |= {name: means_of(measures, method, name).published for name in shown_measures(measures, convention)}
        row |= fit_columns(measures, method, "ap")
        rows.append(row | {"settings by fold": "; ".join(chosen.get(method, []))})
    return pa.Table.from_pylist(rows)


def tabulate_learners(
    files: Mapping[str, Any],
    out: Mapping[str, str],
    *,
    title: str,
    methods: Sequence[str],
    convention: str,
    interval: Mapping[str, Any],
) -> None:
    """Write the tables of the methods of a data set: means with the settings chosen, and tests."""
    measures, choices = read(files["measures"], "measures"), [read(path, "choices") for path in files["choices"]]
    means = learners_table(measures, methods, choices, convention)
    tests = tests_table(measures, methods, convention, interval)
    named = {"means": (means, f"{title}: learners, mean of folds"), "tests": (tests, f"{title}: learners, tests")}
    write_tables(named, out)


def baseline_of(methods: Sequence[str]) -> str:
    """The method that the others are tested against: RankSVM, or the first one if RankSVM is not run."""
    return "ranksvm" if "ranksvm" in methods else methods[0]


def tests_table(measures: pa.Table, methods: Sequence[str], convention: str, interval: Mapping[str, Any]) -> pa.Table:
    """Every method against RankSVM on all test queries, in average precision and NDCG@10.

    The p-values of the t tests of one measure are corrected together after Holm.
    """
    against = baseline_of(methods)
    names = [name for name in ("ap", f"ndcg@10/{convention}") if name in measures.column_names]
    rows = [
        row
        for name in names
        for row in _tests(measures, [method for method in methods if method != against], against, name, interval)
    ]
    return pa.Table.from_pylist(rows, _TESTS)


_TESTS = pa.schema(
    [("measure", pa.string()), ("method", pa.string()), ("against", pa.string()), ("queries", pa.int64())]
    + [(name, pa.float64()) for name in ("difference", "low", "high", "t", "p (t test)", "p (Holm)")]
    + [(name, pa.float64()) for name in ("p (Wilcoxon)", "p (permutation)", DETECTABLE)]
    + [("verdict", pa.string())]
)


def _tests(
    measures: pa.Table, methods: Sequence[str], against: str, name: str, interval: Mapping[str, Any]
) -> list[dict[str, Any]]:
    pairs = [method_pairs(measures, method, against, name) for method in methods]
    compared = [compare(one, family=len(methods), **interval) for one in pairs]
    corrected = corrected_p(compared, family=f"{name} against {against}")
    return [
        {"measure": name, "method": _label(method), "against": _label(against), **one.columns(p)}
        for method, one, p in zip(methods, compared, corrected, strict=True)
    ]


_PUBLISHED = pa.schema(
    [(name, pa.string()) for name in ("method", "measure", "fold")]
    + [(name, pa.float64()) for name in ("published", "ours", "difference", "band")]
    + [("nearest", pa.string()), ("methods", pa.int64()), ("others in the band", pa.int64())]
    + [(name, pa.string()) for name in ("verdict", "convention", "source", "certainty", "note")]
)


def published_table(expected: PublishedFigures, measures: pa.Table, *, queries: int, documents: int) -> pa.Table:
    """Published, ours, difference, nearest method, verdict: one row per published figure, means before folds.

    The last two rows say how often the right method is the nearest, against chance, for means and for single folds. If
    the data differ in size from those behind the published figures, as a sample does, the table has no rows.
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
    shown = [_shown_row(row, expected) for row in rows] + _nearest_rows(rows)
    return pa.Table.from_pylist(shown, _PUBLISHED)


def write_published(files: Mapping[str, str], out: Mapping[str, str], *, title: str, log: Callable[..., None]) -> None:
    """Write the table of published figures beside ours."""
    judged = load_judged(files["judged"], [])
    size = {"queries": judged.n_queries, "documents": judged.n_documents}
    table = published_table(load_expected(files["expected"]), read(files["measures"], "measures"), **size)
    log("%s: %s", size, dict(Counter(table.column("verdict").to_pylist())) or "not the published data")
    write_table(table, out, title=f"{title}: published against ours")


def _shown_row(row: Mapping[str, Any], expected: PublishedFigures) -> dict[str, Any]:
    """A row as the table shows it, with labels in place of names."""
    labels = [_label(name) if name in CLASSIC else name for name in [row["method"], *(row["nearest"] or [])]]
    about: dict[str, str | None] = {"convention": expected.convention, "source": expected.sources[row["source"]].text}
    about |= {"method": labels[0], "nearest": " or ".join(labels[1:]) or None}
    return {name: (about if name in about else row)[name] for name in _PUBLISHED.names}


def _nearest_rows(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The table's last rows: how often the right method is the nearest."""
    means = [row for row in rows if row["fold"] == "mean"]
    folds = [row for row in rows if row["fold"] != "mean"]
    nearest = {"mean": right_method_nearest(means), "single folds": right_method_nearest(folds)}
    blank = dict.fromkeys(_PUBLISHED.names)
    return [
        blank | {"method": "all methods", "measure": "all measures", "fold": fold, "verdict": one.text}
        for fold, one in nearest.items()
        if one.figures
    ]

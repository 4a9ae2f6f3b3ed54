"""Tables of the classic learners and aggregators: all methods, tests against RankSVM, published figures beside ours."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd
import pyarrow as pa

from qdrank.datasets.judged import load_judged
from qdrank.errors import InputError
from qdrank.evaluation.published import PublishedFigures, compare_published, load_expected, right_method_nearest
from qdrank.evaluation.values import fold_means
from qdrank.figures.method_tables import comparisons_table, spread_of_fits, with_settings
from qdrank.figures.numbers import chosen
from qdrank.figures.tables import write_table, write_tables
from qdrank.rankers import FIRST_STAGES
from qdrank.rankers.methods import CLASSIC
from qdrank.store import read

_SHOWN = ("ndcg@1", "ndcg@3", "ndcg@5", "ndcg@10", "p@1", "p@5", "p@10", "mean_ndcg")


def method_label(method: str) -> str:
    """What tables call a method."""
    return CLASSIC[method].label if method in CLASSIC else FIRST_STAGES.get(method, method)


def learners_table(
    values: pd.DataFrame, methods: Sequence[str], choices: pd.DataFrame, convention: str
) -> pd.DataFrame:
    """One row per method: means of the folds, as LETOR publishes them, and the settings chosen in each fold."""
    labels = {name: method_label(name) for name in [*FIRST_STAGES, *methods]}
    values = chosen(values, labels)
    names = [name for name in ("ap", *(f"{name}/{convention}" for name in _SHOWN)) if name in values]
    means = values.groupby(["method", "fold"], sort=False)[names].mean().groupby("method", sort=False).mean()
    return with_settings(means.join(spread_of_fits(values, "ap")), labels, choices)


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
    measures = read(files["measures"], "measures").to_pandas()
    choices = pa.concat_tables([read(path, "choices") for path in files["choices"]])
    means = learners_table(measures, methods, choices.to_pandas(), convention)
    tests = tests_table(measures, methods, convention, interval)
    named = {"means": (means, f"{title}: learners, mean of folds"), "tests": (tests, f"{title}: learners, tests")}
    write_tables(named, out)


def baseline_of(methods: Sequence[str]) -> str:
    """The method that the others are tested against: RankSVM, or the first one if RankSVM is not run."""
    return "ranksvm" if "ranksvm" in methods else methods[0]


def tests_table(
    values: pd.DataFrame, methods: Sequence[str], convention: str, interval: Mapping[str, Any]
) -> pd.DataFrame:
    """Every method against RankSVM on all test queries, in average precision and NDCG@10.

    The p-values of the t tests of one measure are corrected together after Holm.
    """
    against, labels = baseline_of(methods), {name: method_label(name) for name in methods}
    compared = [(method, against) for method in methods if method != against]
    parts = []
    for name in ("ap", f"ndcg@10/{convention}"):
        if name in values:
            parts.append(comparisons_table(values, compared, labels, name, interval))
            parts[-1].insert(0, "measure", name)
    return pd.concat(parts)


_PUBLISHED = pa.schema(
    [(name, pa.string()) for name in ("method", "measure", "fold")]
    + [(name, pa.float64()) for name in ("published", "ours", "difference", "band")]
    + [("nearest", pa.string()), ("methods", pa.int64()), ("others in the band", pa.int64())]
    + [(name, pa.string()) for name in ("verdict", "convention", "source", "certainty", "note")]
)


def published_table(expected: PublishedFigures, values: pd.DataFrame, *, queries: int, documents: int) -> pa.Table:
    """Published, ours, difference, nearest method, verdict: one row per published figure, means before folds.

    The last two rows say how often the right method is the nearest, against chance, for means and for single folds. If
    the data differ in size from those behind the published figures, as a sample does, the table has no rows.
    """
    wanted = {name for figures in expected.figures for name in [*figures.values, *figures.folds]}
    known = [name for name in values if name in wanted]
    measured = {
        str(method): {str(name): fold_means(of[name].to_numpy(), of["fold"].to_numpy()) for name in known}
        for method, of in values.groupby("method")
    }
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
    table = published_table(load_expected(files["expected"]), read(files["measures"], "measures").to_pandas(), **size)
    log("%s: %s", size, dict(Counter(table.column("verdict").to_pylist())) or "not the published data")
    write_table(table, out, title=f"{title}: published against ours")


def _shown_row(row: Mapping[str, Any], expected: PublishedFigures) -> dict[str, Any]:
    """A row as the table shows it, with labels in place of names."""
    labels = [method_label(name) if name in CLASSIC else name for name in [row["method"], *(row["nearest"] or [])]]
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

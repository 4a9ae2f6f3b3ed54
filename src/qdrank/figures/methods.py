"""Tables of the methods of a data set: the learners with their tests and published figures; all methods, best first; first stages.

Of all methods the best is chosen on the queries that test it, so its lead over every other of k methods is decided at the level
alpha / (k - 1). Then the method that is truly best is shown to be behind with probability alpha at most, whichever was chosen: that
takes one of k - 1 others to be shown above it. So with confidence 1 - alpha it is the first, or one that is not shown to be behind.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd
import pyarrow as pa

from qdrank.datasets.judged import load_judged
from qdrank.errors import InputError
from qdrank.evaluation.deciding import decide
from qdrank.evaluation.declared import Claim, Declaration
from qdrank.evaluation.published import PublishedFigures, compare_published, load_expected, right_method_nearest
from qdrank.evaluation.values import fold_means, observe
from qdrank.figures.method_tables import comparisons_table, differences, spread_of_fits, with_settings
from qdrank.figures.numbers import bca_ends, chosen, numbers
from qdrank.figures.tables import write_table, write_tables
from qdrank.measures import NDCG_IN_WORDS
from qdrank.rankers import FIRST_STAGES, REFERENCE
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


_FROM_FIRST = "MAP from the first stage"
#: The difference in MAP that counts, as in the claims of the studies.
MARGIN = 0.005
#: Columns of the table of methods: how far the first method is ahead of this one, the verdict on "it is better", and why.
LEAD, BETTER, REASON = "lead of the best", "the best is better", "reason"


def methods_table(
    measures: pa.Table, labels: Mapping[str, str], convention: str, interval: Mapping[str, Any]
) -> pd.DataFrame:
    """One row per method of the artifact ``measures``, by decreasing MAP over all test queries, each mean with its interval.

    The ends of an interval are missing where the queries are too few for one (`table_ends`). The last columns are about the
    lead of the first method over each other; its interval has the corrected level.
    """
    values = measures.to_pandas()
    means = _means(values, convention, interval)
    means.insert(1, "label", means["method"].replace(labels))
    means = means.sort_values(["MAP", "method"], ascending=[False, True])
    leads = _leads(values, means["method"].tolist())
    return means.merge(leads, on="method", how="left", validate="one_to_one")


def _leads(values: pd.DataFrame, methods: Sequence[str]) -> pd.DataFrame:
    """What is known of the lead of the first method over each other one, decided together as a family of claims."""
    best, *others = methods
    about: Any = {"expected": "", "kind": "superiority", "margin": MARGIN, "measure": "ap", "family": LEAD}
    claims = tuple(Claim(name, f"{best} beats {name}", {LEAD: (best, name)}, **about) for name in others)
    observations = {"": observe(claims, values, {})}
    decided: pd.DataFrame = decide(Declaration("", "", claims), observations, dataset="").to_pandas()
    columns = {"effect": LEAD, "low": f"{LEAD}, low", "high": f"{LEAD}, high", "verdict": BETTER, "reason": REASON}
    return decided.rename(columns={"claim": "method"} | columns)[["method", *columns.values()]]


def _means(values: pd.DataFrame, convention: str, interval: Mapping[str, Any]) -> pd.DataFrame:
    """MAP and NDCG of each method with their intervals."""
    parts = []
    for shown, name in (("MAP", "ap"), (f"NDCG@10/{convention}", f"ndcg@10/{convention}")):
        rows = numbers(values, ["method"], name, interval, ends=bca_ends).set_index(["method", "queries"])
        parts.append(rows.rename(columns={"mean": shown, "low": f"{shown}, low", "high": f"{shown}, high"}))
    return pd.concat(parts, axis=1).reset_index()


def tabulate_methods(
    files: Mapping[str, str],
    out: Mapping[str, str],
    *,
    title: str,
    labels: Mapping[str, str],
    convention: str,
    interval: Mapping[str, Any],
) -> None:
    """Write the table of all methods of a data set."""
    table = methods_table(read(files["measures"], "measures"), labels, convention, interval)
    said = f"NDCG@k/{convention}: {NDCG_IN_WORDS[convention]}. A lead counts from {MARGIN:g}; all leads are tested together."
    write_table(table, out, title=f"{title}: all methods", folded=[REASON], said=said)


def first_stages_table(
    measures: Mapping[str, pd.DataFrame],
    labels: Mapping[str, str],
    convention: str,
    depth: int,
    interval: Mapping[str, Any],
) -> pd.DataFrame:
    """First stages and one learned model on every text set, each with its difference in MAP from the first stage as given.

    Parameters
    ----------
    measures : by title of the data set, values of the methods in ``labels``
    convention : that of NDCG
    depth : documents that every method ranks
    """
    columns = {"difference": _FROM_FIRST, "low": f"{_FROM_FIRST}, low", "high": f"{_FROM_FIRST}, high"}
    parts = []
    for title, of_set in measures.items():
        values = chosen(of_set, labels)
        apart = differences(values, REFERENCE, "ap", interval).drop(REFERENCE).rename(columns=columns)
        means = _means(values, convention, interval).set_index("method").join(apart[[*columns.values()]])
        means = means.rename(index=labels).reset_index()
        parts.append(pd.DataFrame({"data set": title, "candidates": depth, **means}))
    return pd.concat(parts)


def tabulate_first_stages(
    files: Mapping[str, Any],
    out: Mapping[str, str],
    *,
    titles: Sequence[str],
    labels: Mapping[str, str],
    convention: str,
    depth: int,
    interval: Mapping[str, Any],
) -> None:
    """Write the table of the first stages; ``titles`` are those of the data sets, in order."""
    measures = dict(zip(titles, (read(path, "measures").to_pandas() for path in files["measures"]), strict=True))
    table = first_stages_table(measures, labels, convention, depth, interval)
    write_table(table, out, title=f"First stages of all text sets, {depth} documents per query")

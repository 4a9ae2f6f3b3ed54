"""Tables of the classic learners and aggregators: all methods, and tests against RankSVM."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import pyarrow as pa

from qdrank.figures.method_tables import comparisons_table, spread_of_fits, with_settings
from qdrank.figures.numbers import chosen
from qdrank.figures.tables import write_tables
from qdrank.rankers.methods import CLASSIC
from qdrank.rankers.stages import FIRST_STAGES
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

"""Tables of methods: tests, means, differences from other methods, spread of the fits, and the settings that validation chose.

Values are frames as in `qdrank.figures.numbers`; ``labels`` say what tables call the methods, in their order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from qdrank.evaluation.comparison import compare, corrected_p
from qdrank.evaluation.values import pairs
from qdrank.figures.numbers import by_measure, chosen


def methods_table(
    values: pd.DataFrame,
    labels: Mapping[str, str],
    names: Sequence[str],
    choices: pd.DataFrame,
    *,
    against: Sequence[str],
    by: str,
    interval: Mapping[str, Any],
) -> pd.DataFrame:
    """Every method that was measured: means of the measures ``names``, and its difference in ``by`` from those it is ``against``.

    A verdict is by Holm's p-value over the table. Where it is against several, columns are called after them.
    """
    values = chosen(values, labels)
    table = values.groupby("method", sort=False)[[name for name in names if name in values]].mean()
    for other in against:
        apart = differences(values, other, by, interval).add_suffix(f" ({labels[other]})" if against[1:] else "")
        table[f"difference from {labels[other]}"] = apart.pop(apart.columns[0])
        table = table.join(apart, validate="one_to_one")
    return with_settings(table.join(spread_of_fits(values, by)), labels, choices)


def differences(values: pd.DataFrame, other: str, by: str, interval: Mapping[str, Any]) -> pd.DataFrame:
    """Each method against another, with its interval and t test, and the verdict by Holm's p-value."""
    names = list(values["method"].unique())
    compared = {
        name: compare(pairs(values, name, other, by), family=max(1, len(names) - 1), **interval) for name in names
    }
    others = [name for name in names if name != other]
    corrected = corrected_p([compared[name] for name in others])
    verdicts = {name: compared[name].verdict(p=p) for name, p in zip(others, corrected, strict=True)}
    rows = {
        name: {
            "difference": one.difference,
            "low": one.interval.low,
            "high": one.interval.high,
            "p": one.t.p,
            "verdict": verdicts.get(name, ""),
        }
        for name, one in compared.items()
    }
    return pd.DataFrame.from_dict(rows, orient="index")


def spread_of_fits(values: pd.DataFrame, by: str) -> pd.DataFrame:
    """Number of fits of each method, and the standard deviation of their means; missing for one fit."""
    means = values.assign(fit=values.get("fit", 0)).groupby(["method", "fit"], sort=False)[by].mean()
    spread = means.groupby("method", sort=False).agg(["size", "std"])
    return spread.set_axis(["fits", "spread of fits"], axis=1)


def settings_by_fold(choices: pd.DataFrame) -> pd.Series[str]:
    """The settings that validation chose, one per fold, by method."""
    settings: pd.Series[str] = choices[choices["chosen"]].groupby("method", sort=False)["setting"].agg("; ".join)
    return settings


def with_settings(table: pd.DataFrame, labels: Mapping[str, str], choices: pd.DataFrame) -> pd.DataFrame:
    """A table with a row for each method under its label, and the settings chosen for it."""
    table["settings by fold"] = settings_by_fold(choices).reindex(table.index, fill_value="")
    return table.rename(index=labels).rename_axis("method").reset_index()


def folds_table(values: pd.DataFrame, labels: Mapping[str, str], names: Sequence[str]) -> pd.DataFrame:
    """Means by fold, of the folds and over all queries, one row for each measure and method; a single measure is left unnamed."""
    shown = [name for name in names if name in values]
    long = by_measure(chosen(values, labels), shown)
    rows = long.groupby(["measure", "method"], sort=False)
    folds = long.groupby(["measure", "method", "fold"], sort=False)["value"].mean().unstack(sort=False)
    table = folds.assign(**{"mean of folds": folds.mean(axis=1), "all queries": rows["value"].mean()})
    table = table.rename(index=labels, level="method").reset_index()
    return table if len(shown) > 1 else table.drop(columns="measure")


def comparisons_table(
    values: pd.DataFrame,
    compared: Sequence[tuple[str, str]],
    labels: Mapping[str, str],
    by: str,
    interval: Mapping[str, Any],
) -> pd.DataFrame:
    """Three tests of each pair of methods, with p-values corrected over the table, and the smallest detectable difference."""
    made = [compare(pairs(values, *pair, by), family=len(compared), **interval) for pair in compared]
    rows = zip(compared, made, corrected_p(made), strict=True)
    return pd.DataFrame({"method": labels[a], "against": labels[b], **one.columns(p)} for (a, b), one, p in rows)

"""The numbers behind tables and pictures: means of groups of values, and their paired differences, each with its interval.

``values`` are frames with a row for each group, query and fit: columns that name the group, such as ``method``, then ``query_id``,
``fit`` (it may lack where everything is fitted once), and measures.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from qdrank.evaluation.estimates import column_ends, table_ends
from qdrank.evaluation.values import cube
from qdrank.layout import FloatArray

_NAMES = ("fold", "method", "fit", "query_id")
#: Names for the ends of a difference in numbers that have no other interval.
ALONE = {"difference_low": "low", "difference_high": "high"}


def chosen(values: pd.DataFrame, names: Iterable[Any], column: str = "method") -> pd.DataFrame:
    """Rows whose ``column`` has one of ``names``, in the order of the names."""
    return pd.DataFrame({column: list(names)}).merge(values, on=column, validate="one_to_many")[list(values.columns)]


def where(values: pd.DataFrame, **equal: Any) -> pd.DataFrame:
    """Rows whose columns have these values."""
    return values[np.logical_and.reduce([values[name] == one for name, one in equal.items()])]


def by_measure(values: pd.DataFrame, measures: Sequence[str]) -> pd.DataFrame:
    """A row for each measure, named in the column ``measure``, with its ``value``."""
    return values.melt([name for name in _NAMES if name in values], list(measures), "measure", "value")


def bca_ends(values: FloatArray, **interval: Any) -> tuple[FloatArray, FloatArray]:
    """Ends of BCa intervals, `table_ends`, of each column of ``values`` (n_queries, n_fits, n)."""
    low, high = np.array([table_ends(column, **interval) for column in np.moveaxis(values, 2, 0)]).T
    return low, high


def numbers(
    values: pd.DataFrame,
    by: Sequence[str],
    measure: str,
    interval: Mapping[str, Any],
    *,
    against: Mapping[str, Any] | None = None,
    apart: Sequence[str] = (),
    means: bool = True,
    ends: Callable[..., tuple[FloatArray, FloatArray]] = column_ends,
) -> pd.DataFrame:
    """A row for each group ``by``: number of queries, mean over queries and fits, and difference from another group.

    Parameters
    ----------
    measure : column whose mean is taken
    interval : level, resamples and seed of the bootstrap
    against : what the other group has in some of the columns ``by``: a value, or a mapping from the group's own; groups for
        which a mapping names none are left out
    apart : those of the columns ``by`` whose groups may have other queries
    means : whether the mean has an interval, too
    ends : gives lower and upper ends of a cube of values
    """
    if apart:
        parts = [part for _, part in values.groupby(list(apart), sort=False, observed=True)]
        of_parts = [numbers(part, by, measure, interval, against=against, means=means, ends=ends) for part in parts]
        return pd.concat(of_parts, ignore_index=True)
    rows, _, of = cube(values, by, measure)
    other = None if against is None else _others(rows, against)
    kept = np.arange(len(rows)) if other is None else np.flatnonzero(other >= 0)
    rows = rows.iloc[kept].reset_index(drop=True).assign(queries=len(of), mean=of[:, :, kept].mean(axis=(0, 1)))
    if means:
        rows["low"], rows["high"] = ends(of[:, :, kept], **interval)
    if other is not None:
        difference = of[:, :, kept] - of[:, :, other[kept]]
        rows["difference"] = difference.mean(axis=(0, 1))
        rows["difference_low"], rows["difference_high"] = ends(difference, **interval)
    return rows


def _others(groups: pd.DataFrame, against: Mapping[str, Any]) -> Any:
    """Place of the group that each is compared with, (n_groups,); -1 where there is none."""
    named = {name: groups[name].map(one) if isinstance(one, Mapping) else one for name, one in against.items()}
    places = groups.reset_index(names="place")
    found = groups.assign(**named).merge(places, on=list(groups.columns), how="left", validate="many_to_one")
    assert len(found) == len(groups)
    return found["place"].fillna(-1).to_numpy().astype(int)

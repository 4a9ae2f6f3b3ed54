"""Intervals about a method, not about one fit of it.

Trees, bagging and every random control give other rankings with another seed, or with targets moved by a hair. Such a method
is fitted r times, and a query has one value from each fit. The model is that of two crossed random effects,

    value(q, f) = mean + query(q) + fit(f) + rest(q, f).

What decides is the mean over fits of each query. With s_q the standard deviation of these means over the n queries, and s_f
that of the r means over queries of single fits, the error of the whole mean is

    error^2 = s_q^2 / n + s_f^2 / r,

with Satterthwaite's degrees of freedom from n - 1 and r - 1. Its first part holds query and rest, its second fit and rest,
so the rest is counted twice: the error is a little too large, never too small (the unbiased form subtracts the mean square of the
rest, and can become negative). The bootstrap draws queries, and its ends are moved apart by the second part in quadrature, as
limits of a sum of independent terms are combined (Zou and Donner 2008).

Fits of one data set share their training queries; nothing is said about other training queries.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import hypot, sqrt
from typing import Any

import numpy as np

from qdrank.errors import InputError
from qdrank.evaluation.estimates import Estimate, behind, over_queries, satterthwaite
from qdrank.evaluation.guard import lacking
from qdrank.evaluation.intervals import column_intervals, table_interval
from qdrank.layout import FloatArray


def over_refits(values: FloatArray) -> Estimate:
    """Mean over queries and fits of ``values`` (n_queries, n_fits), with the error of both; one fit: `over_queries`.

    A query without a finite value in some fit is left out.
    """
    table = np.asarray(values, dtype=np.float64)
    kept = table[np.isfinite(table).all(axis=1)]
    whole = over_queries(kept.mean(axis=1)) if table.shape[1] > 1 else over_queries(table[:, 0])
    fits = table.shape[1]
    if fits < 2 or whole.n < 2:
        return whole
    spread = float(np.round(kept.mean(axis=0), 12).std(ddof=1))
    of_fits = spread / sqrt(fits)
    return replace(
        whole,
        error=hypot(whole.error, of_fits),
        df=satterthwaite([whole.error, of_fits], [whole.df, fits - 1]),
        left_out=len(table) - len(kept),
        fits=fits,
        fit_spread=spread,
    )


def table_ends(values: FloatArray, **interval: Any) -> tuple[float, float]:
    """Ends of the interval that tables show for the mean of ``values`` (n_queries, n_fits); nan as in `table_interval`."""
    estimate, ends = over_refits(values), table_interval(values.mean(axis=1), **interval)
    return estimate.widened((ends.low, ends.high), 1 - ends.level)


def doubt(values: FloatArray, level: float) -> str:
    """Why the mean of ``values`` (n_queries, n_fits) cannot be said to differ from 0 at ``level``, in words; empty if it can.

    The guard of claims, for pictures and tables: too few queries, or too few that differ, or Student's interval excludes 0 and
    the studentised bootstrap's does not.
    """
    if lacks := lacking(values.mean(axis=1), level):
        return lacks
    estimate = over_refits(values)
    low, high = estimate.interval(level)
    if low <= 0 <= high or not _has_0(estimate.bootstrap(level)):
        return ""
    return "Student's interval excludes 0, the studentised bootstrap's does not"


def _has_0(ends: tuple[float, float]) -> bool:
    return not (ends[0] > 0 or ends[1] < 0)


def shown_mean(values: FloatArray, **interval: Any) -> dict[str, Any]:
    """``mean``, ``low``, ``high`` (nan where there is no interval) and ``lacks`` (`doubt`) of ``values`` (n_queries, n_fits)."""
    ends = dict(zip(("low", "high"), table_ends(values, **interval), strict=True))
    return {"mean": float(values.mean()), **ends, "lacks": doubt(values, 1 - interval.get("level", 0.95))}


def column_ends(values: FloatArray, **interval: Any) -> tuple[FloatArray, FloatArray]:
    """`column_intervals` of the columns of ``values`` (n_queries, n_fits, n), moved apart by the spread of the fits."""
    low, high = column_intervals(values.mean(axis=1), **interval)
    for i in range(values.shape[2] if values.shape[1] > 1 else 0):
        low[i], high[i] = over_refits(values[:, :, i]).widened((low[i], high[i]), 1 - interval["level"])
    return low, high


def over_these_seeds(seeds: Sequence[FloatArray]) -> Estimate:
    """Mean effect in exactly these worlds: queries and fits are a sample, the seeds are given (fixed effects).

    ``seeds`` are values (n_queries, n_fits) of each.
    """
    each = [over_refits(values) for values in seeds]
    if not each or any(one.n == 0 for one in each):
        raise InputError("every seed needs at least one finite value")
    error = sqrt(sum(one.error**2 for one in each)) / len(each)
    df = satterthwaite([one.error for one in each], [one.df for one in each])
    mean = float(np.mean([one.mean for one in each]))
    whole = behind(Estimate(mean, error, df, sum(one.n for one in each)), each, resampled=True)
    spread = sqrt(sum(one.fit_spread**2 for one in each)) / len(each)
    return replace(whole, fits=min(one.fits for one in each), fit_spread=spread)

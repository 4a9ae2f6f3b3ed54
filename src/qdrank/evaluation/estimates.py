"""Means with their standard errors: over queries, over seeds, and of two sets compared. Student's interval lives here.

Intervals about a method, not about one fit of it.

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

Sources are the units where queries of one source are kept together. With s_g the sum of the n_g values of source g, N queries
and e_g = s_g - n_g mean, the error is the cluster-robust one that is unbiased for independent queries (CR2; Bell and
McCaffrey 2002),

    error^2 = sum e_g^2 / (1 - n_g / N) / N^2,

with their degrees of freedom for values that differ between sources alone, variance n_g^2 of s_g: fewer where sizes differ.
bench/sources.py has how often this and other intervals cover.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import hypot, inf, isfinite, nan, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr, stdtrit

from qdrank.errors import InputError
from qdrank.evaluation.intervals import (
    Sample,
    column_intervals,
    detectable_effect,
    lacking,
    studentised_interval,
    table_interval,
)
from qdrank.layout import FloatArray

_DECIMALS = 12
"""Values are rounded to this, so that values that differ only by rounding errors have no spread, on every machine."""


@dataclass(frozen=True)
class Estimate:
    """A mean, its standard error and the degrees of freedom of that error.

    Attributes
    ----------
    mean, error, df : the error is nan if it is unknown, 0 if all values are equal
    n : number of units, queries or seeds
    left_out : number of values that were not finite
    fits, fit_spread : number of fits behind every value, and the standard deviation of their means
    sample : the values behind it, for the guard and the bootstrap; None for an estimate that is given as figures only
    """

    mean: float
    error: float
    df: float
    n: int
    left_out: int = 0
    fits: int = 1
    fit_spread: float = 0.0
    sample: Sample | None = field(default=None, repr=False, compare=False)

    def interval(self, level: float) -> tuple[float, float]:
        """Two-sided t interval of coverage 1 - ``level``; nan where the error is unknown."""
        half = float(stdtrit(self.df, 1 - level / 2)) * self.error if self.error > 0 else self.error
        return self.mean - half, self.mean + half

    def bootstrap(self, level: float) -> tuple[float, float]:
        """Studentised bootstrap interval of coverage 1 - ``level``; Student's where the units are not single queries."""
        if self.sample is None or not self.sample.resampled:
            return self.interval(level)
        return self.widened(studentised_interval(self.sample.strata, level=level, sizes=self.sample.sizes), level)

    def widened(self, ends: tuple[float, float], level: float) -> tuple[float, float]:
        """Ends of an interval of coverage 1 - ``level`` over queries, moved apart by the spread of the fits, in quadrature."""
        if not self.fit_spread > 0:
            return ends
        moved = float(stdtrit(self.fits - 1, 1 - level / 2)) * self.fit_spread / sqrt(self.fits)
        return self.mean - hypot(self.mean - ends[0], moved), self.mean + hypot(ends[1] - self.mean, moved)

    def tail(self, bound: float) -> float:
        """One-sided p-value of the mean being ``bound`` or less; small where the estimate lies above it."""
        if not self.error > 0:
            return nan if self.error != 0 else float(self.mean <= bound)
        return float(stdtr(self.df, -(self.mean - bound) / self.error))

    def detectable(self, level: float, wanted: float) -> float:
        """Smallest true distance from a bound that a two-sided test at ``level`` finds with probability ``wanted``."""
        return detectable_effect(error=self.error, df=self.df, alpha=level, wanted=wanted)

    def minus(self, other: Estimate) -> Estimate:
        """Difference of the means of two independent sets, with Welch's degrees of freedom."""
        df = satterthwaite([self.error, other.error], [self.df, other.df])
        sample = self.sample.minus(other.sample) if self.sample and other.sample else None
        mean, error, n = self.mean - other.mean, hypot(self.error, other.error), min(self.n, other.n)
        return Estimate(mean, error, df, n, self.left_out + other.left_out, sample=sample)


def over_queries(values: FloatArray) -> Estimate:
    """Mean over the queries of one data set, (n_queries,), taken as independent."""
    x = np.asarray(np.round(np.asarray(values, dtype=np.float64), _DECIMALS), dtype=np.float64)
    finite: FloatArray = x[np.isfinite(x)]
    n, left_out = len(finite), int(len(x) - len(finite))
    if n == 0:
        return Estimate(nan, nan, nan, 0, left_out)
    error = nan if n < 2 else float(finite.std(ddof=1)) / sqrt(n) if np.ptp(finite) > 0 else 0.0
    return Estimate(float(finite.mean()), error, n - 1, n, left_out, sample=Sample.of(finite))


def over_sources(values: FloatArray, source: Sequence[str] | NDArray[Any]) -> Estimate:
    """Mean over the queries of one data set, (n_queries,), where those of one ``source``, (n_queries,), are not independent."""
    x, of = np.round(np.asarray(values, dtype=np.float64), _DECIMALS), np.asarray(source, dtype=str)
    known = np.isfinite(x)
    _, owner, count = np.unique(of[known], return_inverse=True, return_counts=True)
    if len(count) < 2:
        return replace(over_queries(values), error=nan, n=len(count))
    sizes, sums = count.astype(np.float64), np.bincount(owner, weights=x[known]).astype(np.float64)
    whole, share = float(sizes.sum()), sizes / sizes.sum()
    mean = float(sums.sum()) / whole
    apart = np.round(sums - sizes * mean, _DECIMALS)
    error = sqrt(float((apart**2 / (1 - share)).sum())) / whole
    df, sample = _degrees_of_freedom(sizes), Sample.of_sources(sums, sizes)
    return Estimate(mean, error, df, len(sizes), int((~known).sum()), sample=sample)


def _degrees_of_freedom(sizes: FloatArray) -> float:
    """Bell and McCaffrey's (2002), (trace M)^2 / trace M^2 with M the covariance of e_g / sqrt(1 - n_g / N), (n_sources,) sizes."""
    whole, weight = sizes.sum(), 1 / np.sqrt(1 - sizes / sizes.sum())
    v, n = weight * sizes**2, weight * sizes / whole
    total = (sizes**2).sum()
    own = weight * v
    # M = diag(own) - v n' - n v' + total n n'
    diagonal = total * n**2 - 2 * v * n
    squares = 2 * ((v @ v) * (n @ n) + (v @ n) ** 2) + (total * (n @ n)) ** 2 - 4 * total * (v @ n) * (n @ n)
    return float((own + diagonal).sum() ** 2 / ((own**2).sum() + 2 * (own @ diagonal) + squares))


def over_seeds(seeds: Sequence[FloatArray]) -> Estimate:
    """Mean effect over seeds: a random-effects estimate, with the seeds as the units.

    The effect of a seed is the mean over its queries, and the interval is Student's over these effects. It contains both
    sources of spread, between seeds and between the queries of a seed. Seeds of one design have about equally many queries
    and equal spread, so all weigh the same; with equal weights the interval is that of Hartung and Knapp, and no
    variance between seeds has to be estimated (which DerSimonian and Laird need many seeds for).
    """
    each = [over_queries(values) for values in seeds]
    return behind(over_queries(np.array([one.mean for one in each])), each, resampled=False)


def behind(whole: Estimate, each: Sequence[Estimate], *, resampled: bool) -> Estimate:
    """The estimate with the values of its seeds; seeds that do not differ give no interval worth believing."""
    samples = [one.sample for one in each if one.sample is not None]
    strata = tuple((1 / len(each), x) for sample in samples for _, x in sample.strata)
    differing = sum(sample.differing for sample in samples) if resampled or whole.error > 0 else 0.0
    left_out = sum(one.left_out for one in each)
    return replace(whole, left_out=left_out, sample=Sample(strata, differing, resampled))


def satterthwaite(errors: Sequence[float], df: Sequence[float]) -> float:
    """Degrees of freedom of the error of a sum of independent means (Satterthwaite 1946)."""
    if not all(isfinite(e) for e in errors):
        return nan
    squares = [e * e for e in errors]
    below = sum(s * s / f for s, f in zip(squares, df, strict=True) if s > 0)
    return sum(squares) ** 2 / below if below > 0 else inf


def over_refits(values: FloatArray, source: NDArray[Any] | None = None) -> Estimate:
    """Mean over queries and fits of ``values`` (n_queries, n_fits), with the error of both; one fit: `over_queries`.

    A query without a finite value in some fit is left out. With a ``source`` of every query, (n_queries,), sources are the units.
    """
    table = np.asarray(values, dtype=np.float64)
    complete = np.isfinite(table).all(axis=1)
    kept = table[complete]
    one = kept.mean(axis=1) if table.shape[1] > 1 else table[:, 0]
    if source is None:
        whole = over_queries(one)
    else:
        whole = over_sources(one, source[complete] if table.shape[1] > 1 else source)
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
    if low <= 0 <= high:
        return ""
    low, high = estimate.bootstrap(level)
    return "" if low > 0 or high < 0 else "Student's interval excludes 0, the studentised bootstrap's does not"


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

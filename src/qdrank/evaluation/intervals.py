"""Bootstrap intervals of a mean over queries, what a sample must have before one is believed, and power.

Student's interval, and every bootstrap, only knows what was drawn. Where few queries carry the whole difference it is too
short. Two numbers guard against that; both were fixed from simulations (tests/evaluation/test_error_rates.py) before any
claim was decided by them.

**Enough queries.** A kind of query that makes up the share q of all is absent from n of them with probability (1 - q)^n, and
then nothing in the sample tells of it. With q = `Rules.rare` this must be at most half the level of the interval:
n >= log(level / 2) / log(1 - q).

**Enough that differ.** With d the distances from the median, (sum |d|)^2 / sum d^2 is their effective number: k where k
queries differ by the same amount and all others do not, 0.64 n for normal values, 0 if all values are equal. It must be
`Rules.differing`. It counts values of any unit (differences, shares, ratios), and is not fooled by a hair of noise on
queries that hardly differ.

**Sources.** Where queries of one source stay together, sources are the units: both rules count them in place of queries, by
the sums of their deviations from the mean.

**Power** of the paired t test says how much "not significant" means.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil, inf, nan, sqrt

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import nctdtr, ndtr, ndtri, stdtrit

from qdrank.errors import InputError
from qdrank.evaluation.declared import Rules
from qdrank.layout import FloatArray

_BLOCK = 1 << 21
"""Queries drawn at once, to bound the memory."""


@dataclass(frozen=True)
class Interval:
    """A bootstrap interval, its coverage, and how many resamples were drawn."""

    low: float
    high: float
    level: float
    resamples: int


def bootstrap_interval(values: ArrayLike, *, seed: int, level: float = 0.95, resamples: int = 2000) -> Interval:
    """Interval of the mean of ``values``, shape (n_queries,), over resamples of the queries.

    These are the quantiles of the resampled means, corrected for bias and skewness (BCa; Efron 1987). The result depends on the order of ``values``: `qdrank.evaluation.values.Pairs` are in order of query id.
    """
    x = np.asarray(values, dtype=np.float64)
    if x.ndim != 1 or len(x) < 2 or not np.isfinite(x).all():
        raise InputError("a bootstrap interval needs finite values of at least two queries")
    if not 0 < level < 1:
        raise InputError("the level of an interval must lie between 0 and 1", found=str(level))
    tails = np.array([(1 - level) / 2, (1 + level) / 2])
    means = _resampled_means(x, resamples, seed)
    if np.ptp(x) > 0:
        tails = _bca_tails(tails, x, means)
    low, high = np.quantile(means, tails)
    return Interval(float(low), float(high), level, resamples)


def table_interval(
    values: FloatArray, *, seed: int, level: float = 0.95, resamples: int = 2000, rules: Rules | None = None
) -> Interval:
    """The interval of a mean as tables show it: BCa, or without ends (nan) where ``values`` lack what it needs.

    That is enough queries and enough that differ (`qdrank.evaluation.intervals`).
    """
    if lacking(values, 1 - level, rules):
        return Interval(nan, nan, level, resamples)
    return bootstrap_interval(values, seed=seed, level=level, resamples=resamples)


def _resampled_means(x: FloatArray, resamples: int, seed: int) -> FloatArray:
    """Means of resamples with replacement, shape (resamples,)."""
    rng, step = np.random.default_rng(seed), max(1, _BLOCK // len(x))
    starts = range(0, resamples, step)
    draws = (rng.integers(0, len(x), (min(step, resamples - start), len(x))) for start in starts)
    return np.concatenate([x[rows].mean(axis=1) for rows in draws])


def _bca_tails(tails: FloatArray, x: FloatArray, means: FloatArray) -> FloatArray:
    """Tail probabilities corrected for the bias and the acceleration, Efron 1987, eq. 2.3 and 6.6."""
    observed = x.mean()
    below = ((means < observed).mean() + (means <= observed).mean()) / 2
    half = 0.5 / len(means)
    bias = ndtri(np.clip(below, half, 1 - half))
    centred = x - observed
    acceleration = (centred**3).sum() / (6 * (centred**2).sum() ** 1.5)
    shifted = bias + ndtri(tails)
    corrected: FloatArray = ndtr(bias + shifted / (1 - acceleration * shifted))
    return corrected


_TAIL, _FEWEST = 25, 2000
"""Resamples that must lie beyond each end of a studentised interval, and resamples at least."""
_CACHED, _NOTHING = 1 << 16, 1e-12
"""Queries drawn at once, and what counts as no variance, relative to the squares."""
_SEED = 20_080_101
"""Of the studentised bootstrap: one for all, so that a verdict depends on the values and the level alone."""


def studentised_interval(
    strata: Sequence[tuple[float, FloatArray]], *, level: float, sizes: FloatArray | None = None
) -> tuple[float, float]:
    """Studentised bootstrap interval (Efron 1981; Hall 1988) of ``sum of weight times mean of stratum``.

    Parameters
    ----------
    strata : weight and values, (n_queries,), of each; resampled apart
    level : one minus the coverage. The lower it is the more resamples are drawn: 25 are to lie beyond each end
    sizes : (n_sources,) queries of each source; the values of every stratum are then sums over sources, which are drawn whole

    A resample of equal values has no error, and its t is infinite: where that happens more often than half the level, the
    interval has no end on that side. So few queries that differ never make a short interval.
    """
    x = [(weight, np.asarray(values, dtype=np.float64)) for weight, values in strata]
    if not x or any(len(values) < 2 for _, values in x):
        return nan, nan
    mean = sum(weight * float(_mean(values, sizes)) for weight, values in x)
    error = sqrt(sum(weight**2 * _squared_error(values, sizes) for weight, values in x))
    resamples = max(_FEWEST, ceil(2 * _TAIL / level))
    t = np.sort(np.concatenate(list(_resampled_t(x, resamples, sizes))))
    last = int(level / 2 * resamples)
    low, high = (mean - float(t[i]) * error if np.isfinite(t[i]) else -float(t[i]) for i in (-1 - last, last))
    return (float(np.round(low, 12)), float(np.round(high, 12))) if error > 0 else (-inf, inf)


def _mean(values: FloatArray, sizes: FloatArray | None) -> float:
    return float(values.mean() if sizes is None else values.sum() / sizes.sum())


def _squared_error(values: FloatArray, sizes: FloatArray | None) -> float:
    """Squared error of the mean; by sources that of a ratio of two sums."""
    if sizes is None:
        return float(values.var(ddof=1)) / len(values)
    apart, n = values - sizes * _mean(values, sizes), len(values)
    return float((apart**2).sum()) * n / (n - 1) / float(sizes.sum()) ** 2


def _resampled_t(
    strata: Sequence[tuple[float, FloatArray]], resamples: int, sizes: FloatArray | None
) -> Iterator[FloatArray]:
    """The t of resamples around the mean of the sample, in blocks that fit a processor's cache."""
    rng, step = np.random.default_rng(_SEED), max(1, _CACHED // max(len(x) for _, x in strata))
    for start in range(0, resamples, step):
        size = min(step, resamples - start)
        apart, variance = np.zeros(size), np.zeros(size)
        for weight, x in strata:
            centred = x - _mean(x, sizes) * (1.0 if sizes is None else sizes)
            rows = rng.integers(0, len(x), (size, len(x)), dtype=np.int32)
            drawn = centred[rows]
            # with sources: per query of an average source, so that both forms are one
            n = np.ones(1) if sizes is None else sizes[rows].mean(axis=1)
            means, squares = drawn.mean(axis=1) / n, np.einsum("ij,ij->i", drawn, drawn) / len(x) / n**2
            spread = squares - means**2 if sizes is None else _spread(drawn, sizes[rows], means, n)
            # equal values have no variance, whatever the rounding
            spread[spread <= _NOTHING * squares] = 0.0
            apart += weight * means
            variance += weight**2 * spread / (len(x) - 1)
        with np.errstate(divide="ignore", invalid="ignore"):
            yield np.where(variance > 0, apart / np.sqrt(variance), np.copysign(inf, apart))


def _spread(drawn: FloatArray, sizes: FloatArray, means: FloatArray, n: FloatArray) -> FloatArray:
    """Variance over sources of their distances from the mean, (n_resamples,), relative to their size."""
    apart = drawn - sizes * means[:, None]
    spread: FloatArray = np.einsum("ij,ij->i", apart, apart) / drawn.shape[1] / n**2
    return spread


def column_intervals(values: FloatArray, *, level: float, resamples: int, seed: int) -> tuple[FloatArray, FloatArray]:
    """Percentile bootstrap intervals of the mean of every column of ``values`` (n_queries, n), from one set of resamples.

    For pictures with a hundred intervals; for a single one use `table_interval`, which is more accurate. As there, the ends
    are nan where a column lacks what an interval needs.
    """
    n, rng = len(values), np.random.default_rng(seed)
    lacks = np.array([bool(lacking(column, 1 - level)) for column in values.T], dtype=bool)
    if lacks.all():
        return np.full(len(lacks), nan), np.full(len(lacks), nan)
    counts = np.stack([np.bincount(rng.integers(0, n, n), minlength=n) for _ in range(resamples)])
    means = counts @ values / n
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2], axis=0)
    return np.where(lacks, nan, low), np.where(lacks, nan, high)


# ---- power, and what a sample must have ----------------------------------------------------------------------------


_MOST_QUERIES = 1 << 30


def power(difference: float, *, deviation: float, n: int, alpha: float = 0.05) -> float:
    """Probability that a two-sided paired t test at level ``alpha`` finds a true mean ``difference``.

    ``deviation`` is the standard deviation of the differences of ``n`` queries.
    """
    if n < 2 or deviation < 0 or not 0 < alpha < 1:
        raise InputError(
            "power needs at least two queries, a deviation of 0 or more and a level between 0 and 1",
            found=f"n={n}, deviation={deviation}, alpha={alpha}",
        )
    if deviation == 0:
        return 1.0 if difference else alpha
    return _power(abs(difference) * sqrt(n) / deviation, n - 1, alpha)


def detectable_difference(*, deviation: float, n: int, alpha: float = 0.05, wanted: float = 0.8) -> float:
    """Smallest true mean difference that a two-sided paired t test finds with probability ``wanted``; infinite below two queries."""
    if n < 2:
        return inf
    return detectable_effect(error=deviation / sqrt(n), df=n - 1, alpha=alpha, wanted=wanted)


def queries_needed(difference: float, *, deviation: float, alpha: float = 0.05, wanted: float = 0.8) -> int | None:
    """Fewest queries with which a two-sided paired t test finds a true mean ``difference`` with probability ``wanted``.

    None if no number is enough: there is no difference to find, or more than a billion queries would be needed.
    """
    if deviation == 0 or difference == 0:
        return 2 if difference else None
    low, high = 1, 2
    while power(difference, deviation=deviation, n=high, alpha=alpha) < wanted:
        low, high = high, 2 * high
        if high > _MOST_QUERIES:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        enough = power(difference, deviation=deviation, n=middle, alpha=alpha) >= wanted
        low, high = (low, middle) if enough else (middle, high)
    return high


def detectable_effect(*, error: float, df: float, alpha: float = 0.05, wanted: float = 0.8) -> float:
    """Smallest true effect that a two-sided t test at level ``alpha`` finds with probability ``wanted``.

    ``error``, with ``df`` degrees of freedom, is the effect's standard error; if it is unknown, no effect can be found.
    """
    if not alpha < wanted < 1:
        raise InputError("the power must lie between the level of the test and 1", found=str(wanted))
    if not error > 0:
        return 0.0 if error == 0 else inf
    low, high = 0.0, 1.0
    while _power(high, df, alpha) < wanted:
        low, high = high, 2 * high
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _power(middle, df, alpha) < wanted else (low, middle)
    return high * error


def _power(noncentrality: float, df: float, alpha: float) -> float:
    """Probability that |t| passes the critical value, for noncentral t."""
    critical = stdtrit(df, 1 - alpha / 2)
    return float(1 - nctdtr(df, noncentrality, critical) + nctdtr(df, noncentrality, -critical))


def effective_number(values: FloatArray) -> float:
    """Effective number of ``values`` (n,) that differ from the others: 0 if all are equal, 0.64 n if they are normal."""
    distance = np.abs(values - np.median(values)) if len(values) else values
    squares = float((distance**2).sum())
    return float(distance.sum()) ** 2 / squares if squares > 0 else 0.0


@dataclass(frozen=True, eq=False)
class Sample:
    """The values behind an estimate of the form sum of weight times mean of stratum.

    Attributes
    ----------
    strata : weight and values, (n_queries,), of each: one for a data set, one for every seed of a simulated world
    differing : effective number of units that differ
    resampled : whether queries or sources are the units, so that the bootstrap draws them
    units : what counts, in words
    sizes : (n_sources,) queries of each source, where the only stratum has their sums
    """

    strata: tuple[tuple[float, FloatArray], ...]
    differing: float
    resampled: bool = True
    units: str = "queries"
    sizes: FloatArray | None = None

    @classmethod
    def of(cls, values: FloatArray) -> Sample:
        """The queries of one data set."""
        return cls(((1.0, values),), effective_number(values))

    @classmethod
    def of_sources(cls, sums: FloatArray, sizes: FloatArray) -> Sample:
        """The sources of one data set: sums of values, and numbers of queries, both (n_sources,)."""
        apart = np.round(sums - sizes * (sums.sum() / sizes.sum()), 12)
        return cls(((1.0, sums),), effective_number(apart), units="sources", sizes=sizes)

    @property
    def smallest(self) -> int:
        """Units of the smallest set that is compared, all strata of a set together."""
        sides = [sum(len(x) for w, x in self.strata if (w > 0) == side) for side in (True, False)]
        return min(n for n in sides if n) if any(sides) else 0

    def minus(self, other: Sample) -> Sample:
        """The sample of a difference of two independent means; the weaker of the two decides."""
        strata = self.strata + tuple((-w, x) for w, x in other.strata)
        return Sample(strata, min(self.differing, other.differing), self.resampled and other.resampled)

    def lacks(self, level: float, rules: Rules) -> str:
        """What is missing for an interval at ``level``, in words; empty if nothing is."""
        needed = rules.needed(level)
        if self.smallest < needed:
            return f"too few {self.units}: {self.smallest}, and {needed} are needed at this level"
        if self.differing == 0:
            return f"no spread: all {self.smallest} values are equal"
        if self.differing < rules.differing:
            carry = f"about {int(self.differing + 1e-9)} of {self.smallest} carry the result"
            return f"too few {self.units} differ: {carry}, and {rules.differing} must"
        return ""


def lacking(values: FloatArray, level: float = 0.05, rules: Rules | None = None) -> str:
    """Why ``values`` (n_queries,) can have no interval of their mean at ``level``, in words; empty if they can."""
    return Sample.of(np.asarray(values, dtype=np.float64)).lacks(level, rules or Rules())

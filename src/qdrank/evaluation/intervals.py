"""Bootstrap intervals of a mean over queries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri

from qdrank.errors import InputError
from qdrank.groups import FloatArray

IntervalMethod = Literal["percentile", "bca"]
_BLOCK = 1 << 21
"""Queries drawn at once, to bound the memory."""


@dataclass(frozen=True)
class Interval:
    """A confidence interval, and how it was computed."""

    low: float
    high: float
    level: float
    method: IntervalMethod
    resamples: int


def bootstrap_interval(
    values: ArrayLike, *, seed: int, level: float = 0.95, resamples: int = 2000, method: IntervalMethod = "bca"
) -> Interval:
    """Interval of the mean of ``values``, shape (n_queries,), over resamples of the queries.

    ``percentile`` takes the quantiles of the resampled means; ``bca`` corrects them for bias and skewness (Efron
    1987). The result depends on the order of ``values``: `qdrank.evaluation.pairs.Pairs` are in order of query id.
    """
    x = np.asarray(values, dtype=np.float64)
    if x.ndim != 1 or len(x) < 2 or not np.isfinite(x).all():
        raise InputError("a bootstrap interval needs finite values of at least two queries")
    if not 0 < level < 1:
        raise InputError("the level of an interval must lie between 0 and 1", found=str(level))
    tails = np.array([(1 - level) / 2, (1 + level) / 2])
    means = _resampled_means(x, resamples, seed)
    if method == "bca" and np.ptp(x) > 0:
        tails = _bca_tails(tails, x, means)
    low, high = np.quantile(means, tails)
    return Interval(float(low), float(high), level, method, resamples)


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


def column_intervals(values: FloatArray, *, level: float, resamples: int, seed: int) -> tuple[FloatArray, FloatArray]:
    """Percentile bootstrap intervals of the mean of every column of ``values`` (n_queries, n), from one set of resamples.

    For pictures with a hundred intervals; for a single one use `bootstrap_interval`, which is more accurate.
    """
    n, rng = len(values), np.random.default_rng(seed)
    if n < 2:
        return values.mean(axis=0), values.mean(axis=0)
    counts = np.stack([np.bincount(rng.integers(0, n, n), minlength=n) for _ in range(resamples)])
    means = counts @ values / n
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2], axis=0)
    return low, high

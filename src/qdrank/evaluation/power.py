"""What a sample must have before its interval is believed: enough queries, and enough of them that differ; and power.

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

from dataclasses import dataclass
from math import inf, sqrt

import numpy as np
from scipy.special import nctdtr, stdtrit

from qdrank.errors import InputError
from qdrank.evaluation.declared import Rules
from qdrank.layout import FloatArray

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

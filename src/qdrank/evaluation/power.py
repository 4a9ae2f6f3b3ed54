"""Power of the paired t test: how much "not significant" means."""

from __future__ import annotations

from math import inf, sqrt

from scipy.special import nctdtr, stdtrit

from qdrank.errors import InputError

_MOST_QUERIES = 1 << 30


def power(difference: float, *, deviation: float, n: int, alpha: float = 0.05) -> float:
    """Probability that a two-sided paired t test finds a true mean ``difference``.

    Parameters
    ----------
    difference : the true mean difference
    deviation : standard deviation of the differences
    n : number of queries
    alpha : level of the test
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
    """Smallest true mean difference that a two-sided paired t test finds with probability ``wanted``.

    Parameters
    ----------
    deviation : standard deviation of the differences
    n : number of queries; infinite below two
    alpha : level of the test
    wanted : the power wanted
    """
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
    """Smallest true effect that a two-sided t test finds with probability ``wanted``.

    Parameters
    ----------
    error : standard error of the effect; if it is unknown, no effect can be found
    df : degrees of freedom of the error
    alpha : level of the test; with corrected p-values, the corrected level
    wanted : the power wanted
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

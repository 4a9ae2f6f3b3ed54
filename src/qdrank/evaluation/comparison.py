"""Everything that is said about the difference between two rankers, in a table or of a run and its baseline.

Tests are two-sided, on values paired by query. Distribution functions come from ``scipy.special``: importing ``scipy.stats``
would take seconds in every job.

A difference by groups of queries, shrunk towards the whole, so that small groups are not overstated.

The model is that of random effects: a query of group g has the difference theta_g + noise of variance s^2, and theta_g itself is
drawn around mu with variance tau^2. With n_g queries of mean d_g and v_g = s^2 / n_g,

    s^2   = pooled variance within groups, sum (n_g - 1) s_g^2 / sum (n_g - 1)
    Q     = sum (d_g - m)^2 / v_g,  m the mean of d_g weighted by 1 / v_g                           (Cochran 1954)
    tau^2 = max(0, (Q - (G - 1)) / (sum 1/v_g - sum 1/v_g^2 / sum 1/v_g))                       (DerSimonian and Laird 1986, eq. 8)
    mu    = mean of d_g weighted by 1 / (v_g + tau^2)
    w_g   = tau^2 / (tau^2 + v_g)
    theta_g = mu + w_g (d_g - mu),  with variance w_g v_g                                       (Efron and Morris 1975)

A group differs from the whole if w_g (d_g - mu) is more than z times the root of w_g v_g, z at the level alpha / G (Bonferroni). If groups mean nothing,
that ratio has standard deviation sqrt(w_g), below 1: with 40 random groups the chance that any is named is below alpha.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import nan, sqrt
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
from scipy.special import ndtr, ndtri, stdtr

from qdrank.errors import AnyPath, InputError
from qdrank.evaluation.declared import RULES_OF_RUNS, Rules
from qdrank.evaluation.estimates import over_refits
from qdrank.evaluation.intervals import Interval, detectable_difference, lacking, table_interval
from qdrank.evaluation.values import Pairs, join
from qdrank.layout import FloatArray
from qdrank.measures.names import parse

if TYPE_CHECKING:
    from qdrank.evaluation.run_files import MeasuredRun


DETECTABLE = "smallest detectable difference (power 0.8)"


@dataclass(frozen=True)
class Comparison:
    """Ranker a against ranker b on the same queries.

    Attributes
    ----------
    difference : of the means over the queries, a minus b
    n : number of queries
    interval : bootstrap interval of the difference; its ends are nan where the data lack what it needs
    t, wilcoxon : two of the three tests
    detectable : smallest true difference that the t test would find with probability 0.8, at the corrected level
        of one comparison of its family; "not significant" only means that the difference is probably not larger
    pairs, level, seed : the values, that corrected level, and the seed of the third test
    rules : what the data must have for a verdict
    fits, fit_spread : number of fits behind the values, and the standard deviation of their mean differences, which
        widens the interval and the error of the t test; the other two tests are about the means over fits
    """

    difference: float
    n: int
    interval: Interval
    t: PairedTest
    wilcoxon: PairedTest
    detectable: float
    pairs: Pairs = field(repr=False, compare=False)
    level: float
    seed: int
    rules: Rules = field(default_factory=Rules)
    fits: int = 1
    fit_spread: float = 0.0

    @property
    def lacks(self) -> str:
        """What is missing for a verdict (`qdrank.evaluation.intervals`), in words; empty if nothing is."""
        return lacking(self.pairs.differences, self.level, self.rules)

    # Resampling takes most of the time of a table, and not every table shows what comes of it.

    @cached_property
    def permutation(self) -> PairedTest:
        """The third test."""
        return permutation(self.pairs, seed=self.seed, resamples=self.interval.resamples)

    @cached_property
    def boot(self) -> tuple[float, float]:
        """Studentised bootstrap interval of the difference at ``level``, which must agree with a t test that finds one."""
        return (nan, nan) if self.lacks else over_refits(self.pairs.by_fit).bootstrap(self.level)

    def verdict(self, *, p: float | None = None) -> str:
        """The conclusion at level .05; ``p`` is the t test's unless an adjusted one is given."""
        p = self.t.p if p is None else p
        if lacks := self.lacks:
            return f"cannot tell: {lacks}"
        if p < 0.05 and self.boot[0] <= 0 <= self.boot[1]:
            return f"cannot tell: the t test finds a difference (p = {p:.2g}), the studentised bootstrap does not"
        if p < 0.05:
            return f"{'better' if self.difference > 0 else 'worse'} by {abs(self.difference):.4f} (p = {p:.2g})"
        return f"not significant (p = {p:.2g}); smallest detectable difference (power 0.8): {self.detectable:.4f}"

    def columns(self, p: float) -> dict[str, Any]:
        """Columns of a table of tests; ``p`` is the t test's, corrected."""
        row = {"queries": self.n, "difference": self.difference, "low": self.interval.low, "high": self.interval.high}
        row |= {"t": self.t.statistic, "p (t test)": self.t.p, "p (Holm)": p, "p (Wilcoxon)": self.wilcoxon.p}
        return {**row, "p (permutation)": self.permutation.p, DETECTABLE: self.detectable, "verdict": self.verdict(p=p)}


def compare(
    pairs: Pairs,
    *,
    seed: int,
    resamples: int = 2000,
    level: float = 0.95,
    alpha: float = 0.05,
    family: int = 1,
    rules: Rules | None = None,
) -> Comparison:
    """Compare two rankers on paired values; equal input and seed give equal output.

    ``family`` is the number of comparisons whose p-values are corrected together. The smallest detectable difference is at
    ``alpha / family``, the level of the first step of Holm's procedure.
    """
    d, estimate = pairs.differences, over_refits(pairs.by_fit)
    rules = rules or Rules()
    interval = table_interval(d, seed=seed, level=level, resamples=resamples, rules=rules)
    low, high = estimate.widened((interval.low, interval.high), 1 - level)
    return Comparison(
        difference=float(d.mean()),
        n=pairs.n,
        interval=replace(interval, low=low, high=high),
        t=paired_t(pairs),
        wilcoxon=wilcoxon(pairs),
        detectable=detectable_difference(deviation=float(d.std(ddof=1)), n=pairs.n, alpha=alpha / family)
        if estimate.fits == 1
        else estimate.detectable(alpha / family, 0.8),
        pairs=pairs,
        level=alpha / family,
        seed=seed,
        rules=rules,
        fits=estimate.fits,
        fit_spread=estimate.fit_spread,
    )


def guarded(pairs: Pairs, level: float) -> tuple[str, tuple[float, float]]:
    """What is missing for a verdict at ``level``, in words, and the bootstrap interval that must agree with the t test."""
    lacks = lacking(pairs.differences, level)
    return lacks, (nan, nan) if lacks else over_refits(pairs.by_fit).bootstrap(level)


def corrected_p(comparisons: Sequence[Comparison]) -> list[float]:
    """P-values of the t tests, corrected together after Holm, in the order of ``comparisons``."""
    return list(holm({i: one.t.p for i, one in enumerate(comparisons)}).values())


@dataclass(frozen=True)
class Difference:
    """One run minus the baseline in one measure; ``p`` is the t test's, corrected for all differences of the table."""

    run: str
    measure: str
    comparison: Comparison
    p: float


def pairs_of(run: MeasuredRun, baseline: MeasuredRun, measure: str) -> Pairs:
    """Values of two runs, joined on the queries."""
    return join(run.query_id, run.values[measure], baseline.query_id, baseline.values[measure])


def differences(runs: Sequence[MeasuredRun], baseline: MeasuredRun, names: Sequence[str]) -> list[Difference]:
    """Every other run against the baseline in every measure of quality; p-values are corrected together, after Holm.

    Not in Judged: how much of a run was judged says nothing of how good it is.
    """
    tested = [name for name in names if parse(name).base != "judged"]
    asked = [(run, name) for run in runs if run is not baseline for name in tested]
    made = [
        compare(pairs_of(run, baseline, name), seed=0, family=len(asked), rules=RULES_OF_RUNS) for run, name in asked
    ]
    corrected = corrected_p(made)
    return [Difference(run.name, name, one, p) for (run, name), one, p in zip(asked, made, corrected, strict=True)]


# ---- tests ---------------------------------------------------------------------------------------------------------


Question = TypeVar("Question", bound=Hashable)
_EXACT_WILCOXON = 50
"""Up to this many untied differences the exact distribution is used, beyond it the normal approximation."""
_BLOCK = 1 << 21
"""Signs drawn at once, to bound the memory."""


class PairedTest(NamedTuple):
    """Outcome of a two-sided test: t, the smaller sum of ranks or the mean difference; its p; and the mean of a minus b."""

    statistic: float
    p: float
    difference: float


def paired_t(pairs: Pairs) -> PairedTest:
    """Student's t test of the mean difference; differences that are all equal have no spread to test with: p = 1.

    With several fits the error has the part of the fits (`qdrank.evaluation.estimates`).
    """
    if pairs.n < 2:
        raise InputError("a paired t test needs at least two queries", found=str(pairs.n))
    estimate = over_refits(pairs.by_fit)
    t = estimate.mean / estimate.error if estimate.error > 0 else 0.0
    return PairedTest(t, float(2 * stdtr(estimate.df, -abs(t))), estimate.mean)


def wilcoxon(pairs: Pairs) -> PairedTest:
    """Wilcoxon's signed rank test; zero differences are left out, tied ones share their mean rank."""
    d = pairs.differences
    mean, d = float(d.mean()), d[d != 0]
    ranks, ties = _mean_ranks(np.abs(d))
    smaller = float(min(ranks[d > 0].sum(), ranks[d < 0].sum()))
    if len(d) == 0:
        p = 1.0
    elif len(d) <= _EXACT_WILCOXON and len(ties) == len(d):
        p = _exact_signed_rank(smaller, len(d))
    else:
        p = _normal_signed_rank(smaller, len(d), ties)
    return PairedTest(smaller, p, mean)


def _mean_ranks(x: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Rank of each value, equal ones sharing the mean of theirs, and the sizes of the runs of equal values."""
    _, place, sizes = np.unique(x, return_inverse=True, return_counts=True)
    return (np.cumsum(sizes) - (sizes - 1) / 2)[place], sizes.astype(np.float64)


def _exact_signed_rank(smaller: float, n: int) -> float:
    """Two-sided p from the number of subsets of the ranks 1 ... n by their sum (below 2^50: exact in float64)."""
    subsets = np.zeros(n * (n + 1) // 2 + 1)
    subsets[0] = 1
    for rank in range(1, n + 1):
        subsets[rank:] += subsets[:-rank].copy()
    return min(1.0, 2 * float(subsets[: int(smaller) + 1].sum()) / 2.0**n)


def _normal_signed_rank(smaller: float, n: int, ties: FloatArray) -> float:
    """Two-sided p from the normal approximation, its variance corrected for ties."""
    variance = n * (n + 1) * (2 * n + 1) / 24 - float((ties**3 - ties).sum()) / 48
    return float(2 * ndtr((smaller - n * (n + 1) / 4) / sqrt(variance)))


def permutation(pairs: Pairs, *, seed: int, resamples: int = 10_000) -> PairedTest:
    """Paired permutation test of the mean difference: under the null hypothesis each difference could have the other sign.

    All 2^n assignments of signs are tried if there are at most ``resamples``. Otherwise ``resamples`` random ones are
    drawn, and p counts the observed one among them, so that it is never 0 (Phipson and Smyth 2010).
    """
    d = pairs.differences
    exact = pairs.n < 63 and 2**pairs.n <= resamples
    every = [np.where(np.arange(2**pairs.n)[:, None] >> np.arange(pairs.n) & 1, 1.0, -1.0)] if exact else []
    blocks = every or _random_signs(pairs.n, resamples, seed)
    # Sums that differ only by rounding are as extreme as the observed one.
    threshold = abs(float(d.sum())) * (1 - 1e-10) - 1e-14
    extreme = sum(int((np.abs(signs @ d) >= threshold).sum()) for signs in blocks)
    p = extreme / 2**pairs.n if exact else (extreme + 1) / (resamples + 1)
    return PairedTest(float(d.mean()), p, float(d.mean()))


def _random_signs(n: int, resamples: int, seed: int) -> Iterator[FloatArray]:
    """Blocks of random signs, together of shape (resamples, n)."""
    rng, step = np.random.default_rng(seed), max(1, _BLOCK // n)
    for start in range(0, resamples, step):
        yield np.where(rng.random((min(step, resamples - start), n)) < 0.5, 1.0, -1.0)


def holm(p_values: Mapping[Question, float]) -> dict[Question, float]:
    """Holm's step-down correction of ``p_values``, by the question that each answers, for all of them together."""
    names, p = list(p_values), np.array(list(p_values.values()), dtype=np.float64)
    if not ((p >= 0) & (p <= 1)).all():
        raise InputError("p-values must lie between 0 and 1", found=str(p))
    order = np.argsort(p, kind="stable")
    adjusted = np.minimum(np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)), 1.0)
    by_name = {names[i]: float(value) for i, value in zip(order, adjusted, strict=True)}
    return {name: by_name[name] for name in names}


# ---- groups of queries ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class GroupDifference:
    """A group's difference.

    Attributes
    ----------
    group, n : its name and its number of queries
    raw : mean difference of its queries
    shrunk, low, high : estimate, and its interval at the level corrected for all groups
    differs : whether the group differs from the whole
    """

    group: str
    n: int
    raw: float
    shrunk: float
    low: float
    high: float
    differs: bool


def by_group(differences: FloatArray, group: Sequence[str], *, alpha: float = 0.05) -> list[GroupDifference]:
    """Differences (n_queries,) by the group of each query, groups in the order of their names.

    Raises `InputError` if there are fewer than two groups, or no group has two queries.
    """
    d = np.asarray(differences, dtype=np.float64)
    names, of_query = np.unique(np.asarray(group, dtype=str), return_inverse=True)
    n = np.bincount(of_query).astype(np.float64)
    free = len(d) - len(n)
    if len(n) < 2 or free < 1:
        fix = "give each query one of a few groups"
        raise InputError(f"{len(n)} groups of {len(d)} queries cannot be compared", fix=fix)
    mean = np.bincount(of_query, weights=d) / n
    v = max(float(((d - mean[of_query]) ** 2).sum()) / free, 1e-18) / n
    tau2 = between_groups(mean, v)
    weight = 1 / (v + tau2)
    mu = float((weight * mean).sum() / weight.sum())
    w = tau2 / (tau2 + v)
    apart, spread = w * (mean - mu), np.sqrt(w * v)
    z = -float(ndtri(alpha / (2 * len(n))))
    half = z * np.sqrt(w * v + (1 - w) ** 2 / weight.sum())
    rows = zip(names.tolist(), n, mean, mu + apart, half, (np.abs(apart) > z * spread) & (w > 0), strict=True)
    return [
        GroupDifference(g, int(k), float(m), float(s), float(s - h), float(s + h), bool(f)) for g, k, m, s, h, f in rows
    ]


def between_groups(mean: FloatArray, v: FloatArray) -> float:
    """Variance tau^2 between groups of means (n_groups,) with variances ``v``: DerSimonian and Laird 1986, eq. 8."""
    weight = 1 / v
    middle = (weight * mean).sum() / weight.sum()
    Q = float((weight * (mean - middle) ** 2).sum())
    return max(0.0, (Q - (len(mean) - 1)) / float(weight.sum() - (weight**2).sum() / weight.sum()))


def groups_of(query: Sequence[str], groups: Mapping[str, str], path: AnyPath | None) -> list[str]:
    """Group of each query; one that has none is an error."""
    lacking = [name for name in query if name not in groups]
    if lacking:
        fix = "give every judged query a line: query group"
        raise InputError(f"{len(lacking)} queries have no group", file=path, found=f"query {lacking[0]}", fix=fix)
    return [groups[name] for name in query]

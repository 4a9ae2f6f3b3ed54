"""Everything that is said about the difference between two rankers, in a table or of a run and its baseline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import nan
from typing import TYPE_CHECKING, Any

from qdrank.evaluation.declared import RULES_OF_RUNS, Rules
from qdrank.evaluation.estimates import over_refits
from qdrank.evaluation.intervals import Interval, detectable_difference, lacking, table_interval
from qdrank.evaluation.significance import PairedTest, holm, paired_t, permutation, wilcoxon
from qdrank.evaluation.values import Pairs, join
from qdrank.measures.names import parse

if TYPE_CHECKING:
    from qdrank.evaluation.run_files import MeasuredRun

DETECTABLE = "smallest detectable difference (power 0.8)"


@dataclass(frozen=True)
class Comparison:
    """Ranker a against ranker b on the same queries.

    Attributes
    ----------
    mean_a, mean_b, difference : means over the queries, and a minus b
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

    mean_a: float
    mean_b: float
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

    def verdict(self, *, alpha: float = 0.05, p: float | None = None) -> str:
        """The conclusion at level ``alpha``; ``p`` is the t test's unless an adjusted one is given."""
        p = self.t.p if p is None else p
        if lacks := self.lacks:
            return f"cannot tell: {lacks}"
        if p < alpha and self.boot[0] <= 0 <= self.boot[1]:
            return f"cannot tell: the t test finds a difference (p = {p:.2g}), the studentised bootstrap does not"
        if p < alpha:
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
        mean_a=float(pairs.a.mean()),
        mean_b=float(pairs.b.mean()),
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

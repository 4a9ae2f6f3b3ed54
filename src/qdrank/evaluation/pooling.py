"""Averages of a claim's effects over independent sets of queries: what holds beyond the sets at hand.

Effects of sets are a sample: that of set i is mean + set(i) + error(i), with the variance tau^2 between sets and the set's own
standard error s_i, which holds its queries and its fits. With the weights w_i = 1 / (s_i^2 + tau^2),

    mean = sum w_i y_i / sum w_i,    error^2 = q / sum w_i,    q = sum w_i (y_i - mean)^2 / (k - 1),

and Student's interval with k - 1 degrees of freedom is that of Hartung, Knapp, Sidik and Jonkman. tau^2 is Paule and
Mandel's: the one at which q is 1, or 0 where q is below 1 already. There the interval would become the narrower the more alike
the effects happen to be, so q is 1 at least (Röver, Knapp and Friede 2015): q is then 1 everywhere, and needs no code.

Where one set has most of the weight, the others say little about tau^2, and the interval is too short. So the error is at
least the jackknife's: the root of the sum of squares by which the mean moves when each set is left out, at the same weights. What
that changes is in docs/verdicts.md, by ``bench/pooling.py``.

Sets that share queries count once: of those with the same ``queries_of`` the first in the configuration. With fewer than
`Rules.sets` there is no average: Student's quantile for three sets is 4.3, and says nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import hypot, isnan, nan, sqrt
from typing import Any

import numpy as np
import pyarrow as pa
from scipy.special import stdtrit

from qdrank.evaluation.deciding import AVERAGE, QUERIES, SETS, verdicts_table
from qdrank.evaluation.declared import Claim, Rules
from qdrank.evaluation.estimates import Estimate
from qdrank.evaluation.verdicts import decide_by_estimates, family_sizes
from qdrank.layout import FloatArray

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Pooled:
    """The estimate of a mean over sets, and the standard deviation ``between`` the true effects of sets."""

    estimate: Estimate
    between: float

    def new_set(self, level: float) -> tuple[float, float]:
        """Interval that has the true effect of a further set with probability 1 - ``level`` (Higgins and others 2009, eq. 12)."""
        half = float(stdtrit(self.estimate.df - 1, 1 - level / 2)) * hypot(self.estimate.error, self.between)
        return self.estimate.mean - half, self.estimate.mean + half


def pool(effects: FloatArray, errors: FloatArray) -> Pooled:
    """The mean of ``effects`` (n_sets,) with standard errors ``errors`` (n_sets,), all above 0; if they are nan, the mean alone."""
    if np.isnan(errors).any():
        return Pooled(Estimate(float(effects.mean()), nan, nan, len(effects)), nan)
    tau2 = between_sets(effects, errors**2)
    weight = 1 / (errors**2 + tau2)
    mean = float((weight * effects).sum() / weight.sum())
    error = max(1 / sqrt(weight.sum()), float(np.sqrt((moved_without_each(effects, weight) ** 2).sum())))
    return Pooled(Estimate(mean, error, len(effects) - 1, len(effects)), sqrt(tau2))


def moved_without_each(effects: FloatArray, weight: FloatArray) -> FloatArray:
    """How far the weighted mean of ``effects`` (n_sets,) lies from that without each set, (n_sets,)."""
    share = weight / weight.sum()
    moved: FloatArray = share * (effects - share @ effects) / (1 - share)
    return moved


def between_sets(effects: FloatArray, variances: FloatArray) -> float:
    """Paule and Mandel's tau^2, by the Newton steps of DerSimonian and Kacker 2007: from 0 they rise to it and never pass it."""
    tau2, step = 0.0, np.inf
    while step > 1e-12 * tau2:
        weight = 1 / (variances + tau2)
        squares = (effects - (weight * effects).sum() / weight.sum()) ** 2
        excess = float((weight * squares).sum()) - (len(effects) - 1)
        step = excess / float((weight**2 * squares).sum()) if excess > 0 else 0.0
        tau2 += step
    return tau2


def believed_errors(sets: Sequence[Row], differing: int) -> FloatArray:
    """Standard errors of ``sets`` (``error``, ``n`` queries, ``differing`` of them); nan if no set has one to believe.

    Where fewer than ``differing`` queries differ, the spread that a set shows says little. It counts as at least that of a
    usual set: else a set in which nothing differs would have no error, and all the weight.
    """
    error, n, differ = (np.array([one[name] for one in sets], dtype=np.float64) for name in ("error", "n", "differing"))
    enough = differ >= differing
    usual = float(np.median((error * np.sqrt(n))[enough])) if enough.any() else np.nan
    return np.where(enough, error, np.maximum(error, usual / np.sqrt(n)))


def pooled_contrasts(rows: Iterable[Row], rules: Rules) -> dict[str, Pooled]:
    """Averages of the contrasts of one claim, from its ``rows`` on data sets; contrasts on too few independent sets are left out."""
    sets: dict[str, list[Row]] = {}
    for row in independent(rows):
        for one in row["estimates"]:
            sets.setdefault(one["contrast"], []).append(one)
    return {
        name: pool(np.array([one["mean"] for one in of]), believed_errors(of, rules.differing))
        for name, of in sets.items()
        if len(of) >= rules.sets
    }


def independent(rows: Iterable[Row]) -> list[Row]:
    """Of the ``rows`` of one claim those on public data, the first of each set of queries."""
    first: dict[str, Row] = {}
    for row in rows:
        if row["analysis"] == QUERIES and row["estimates"]:
            first.setdefault(row["queries_of"], row)
    return list(first.values())


def averages(verdicts: pa.Table, rules: Rules | None = None) -> pa.Table:
    """Verdicts on the averages of claims over sets, from those on single data sets; families are corrected as on one of these."""
    rules, by_claim = rules or Rules(), dict[tuple[str, str], list[Row]]()
    for row in verdicts.to_pylist():
        by_claim.setdefault((row["study"], row["claim"]), []).append(row)
    pooled = {key: contrasts for key, rows in by_claim.items() if (contrasts := pooled_contrasts(rows, rules))}
    claims = {key: claim_of(by_claim[key][0]) for key in pooled}
    rows = []
    for study in dict.fromkeys(study for study, _ in pooled):
        of = {claim: contrasts for (name, claim), contrasts in pooled.items() if name == study}
        sizes = family_sizes([claims[study, claim] for claim in of], {claim: len(of[claim]) for claim in of})
        for claim, contrasts in of.items():
            rows.append(_row(by_claim[study, claim], claims[study, claim], contrasts, sizes[claim], rules))
    return verdicts_table(rows)


def with_averages(verdicts: pa.Table) -> pa.Table:
    """Verdicts on single data sets, after those on averages over them."""
    return pa.concat_tables([averages(verdicts), verdicts])


def claim_of(row: Row) -> Claim:
    """The claim that a verdict is about."""
    declared = ("text", "expected", "kind", "margin", "limit", "unit", "family", "purpose", "measure", "budget")
    return Claim(row["claim"], **{name: row[name] for name in declared})


def _row(rows: Sequence[Row], claim: Claim, contrasts: Mapping[str, Pooled], size: int, rules: Rules) -> dict[str, Any]:
    one = decide_by_estimates(claim, {name: of.estimate for name, of in contrasts.items()}, size=size, rules=rules)
    if isnan(one.low):
        one = replace(one, reason=f"in no set do {rules.differing} queries differ")
    sets = independent(rows)
    note = ["sets: " + ", ".join(row["dataset"] for row in sets), *filter(None, [sets[0]["note"]])]
    if len(contrasts) == 1 and not isnan(one.low):
        low, high = next(iter(contrasts.values())).new_set(rules.alpha)
        note.insert(0, f"a new set: {low:+.4f} to {high:+.4f} ({100 * (1 - rules.alpha):g} %)")
    average = {"dataset": AVERAGE, "queries_of": "", "analysis": SETS, "estimates": [], "note": "; ".join(note)}
    return {**sets[0], **vars(one), **average, "commit": "", "configuration": ""}

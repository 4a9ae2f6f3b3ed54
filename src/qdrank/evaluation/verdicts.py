"""Verdicts on claims: one scheme for every kind of claim, three outcomes, no cliff.

Let ``[low, high]`` be the interval of a mean difference d at the corrected level, and ``margin`` the smallest difference
that counts. Everything is built from two statements about the upper side, and their mirror images below 0:

- d is *shown above*: ``low > 0`` and ``mean > margin``. Wrong only if d is 0 or less.
- d is *ruled out above*: ``high < margin``. Wrong only if d is the margin or more.

Between 0 and the margin neither statement is wrong: there a difference exists but is too small to count. That is the
zone of indifference. Since ``mean <= high``, the statements exclude each other, and at a fixed width the means that satisfy
one are at least half the interval's width away from those that satisfy the other. All in between is "cannot tell", so
moving an interval by a hair never jumps from "holds" to "does not hold". Without ``mean > margin`` it would:
[.0001, .0047] would be shown above at a margin of .005, [-.0001, .0045] ruled out. Now both are ruled out, and for
intervals whose half width is larger than the margin "shown above" is the usual test, ``low > 0``, with nothing added.

====================  ==========================  ===============================
kind                  holds                       does not hold
====================  ==========================  ===============================
superiority           shown above                 ruled out above
no superiority        ruled out above             shown above
equivalence           ruled out on both sides     shown above or shown below
non-inferiority       ruled out below             shown below
below, above a limit  as superiority, of the distance from the limit
rise and fall         as superiority, of two contrasts: both must hold, one failure is enough
flat                  as non-inferiority, of one contrast for every setting: likewise
====================  ==========================  ===============================

A claim with several contrasts holds if it holds of every one, and fails if it fails of one; that keeps the gap. Checks of
the implementation ("identical", "bounded") are exact: they look at every value and use no interval.

**Correction.** The intervals of a family are simultaneous: with k intervals in the family (a claim of several contrasts has
several) each has the level alpha / k (Bonferroni), so with probability 1 - alpha all cover the truth and no verdict of the
family is wrong, in either direction, whatever the margins and however the claims depend on each other. The corrected
p-value is k p, and it is below alpha exactly where the interval excludes the bound in question. Holm's p-values are
smaller, but no simultaneous intervals agree with them, they say nothing about "does not hold", and the level of one claim would
jump with the p-value of another. The level is fixed before the numbers, and so is what the data can show.

**No verdict from next to nothing.** Student's interval is too short where few queries carry the difference. So the sample
must have enough queries, and enough that differ (`qdrank.evaluation.intervals`), and a studentised bootstrap interval at the
same level must give the same verdict. Where it does not, the data cannot tell. Both verdicts come from one scheme, so the
gap between "holds" and "does not hold" stays.

**Units.** On one public data set the queries are the units, all folds together. On simulated worlds the seeds are. With fewer
than `Rules.seeds` seeds the verdict is about these worlds only, and its row says so (`estimates.over_these_seeds`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite, isnan, nan

import numpy as np

from qdrank.errors import InputError
from qdrank.evaluation.declared import CLAIM_KINDS, FAILS, HOLDS, UNCLEAR, Claim, Rules
from qdrank.evaluation.estimates import Estimate
from qdrank.layout import FloatArray

_SHOWN, RULED_OUT, OPEN = "shown", "ruled out", "open"


@dataclass(frozen=True)
class Verdict:
    """A verdict and the figures behind it; for several contrasts, those of the weakest.

    Attributes
    ----------
    verdict, reason : the outcome, and why in words
    effect, low, high, level : mean and interval, in the claim's unit, and the corrected level of the interval
    p, p_corrected : for the nearest true value at which the claim would be false; small where it holds
    detectable : smallest difference that would be found at the corrected level, with the power of the rules
    n : number of units
    differing : effective number of queries that differ (`qdrank.evaluation.intervals`)
    boot_low, boot_high : the studentised bootstrap interval at the same level, drawn where Student's gives a verdict; nan where
        it is not drawn or has no end
    fits, fit_spread : fits behind every value, and the standard deviation between them (`qdrank.evaluation.estimates`)
    """

    verdict: str
    reason: str
    effect: float
    low: float = nan
    high: float = nan
    level: float = nan
    p: float = nan
    p_corrected: float = nan
    detectable: float = nan
    n: int = 0
    differing: float = nan
    boot_low: float = nan
    boot_high: float = nan
    fits: int = 1
    fit_spread: float = nan


def side(low: float, mean: float, high: float, margin: float) -> str:
    """What an interval says about "the mean is above 0 by a difference that counts": shown, ruled out or open."""
    if low > 0 and mean > margin:
        return _SHOWN
    return RULED_OUT if high < margin else OPEN


def verdict_by_interval(
    kind: str, low: float, mean: float, high: float, *, margin: float, limit: float | None = None
) -> str:
    """The verdict of one interval."""
    if isnan(low) or isnan(high):
        return UNCLEAR
    if kind == "below":
        low, mean, high = (limit or 0) - high, (limit or 0) - mean, (limit or 0) - low
    elif kind == "above":
        low, mean, high = low - (limit or 0), mean - (limit or 0), high - (limit or 0)
    up, down = side(low, mean, high, margin), side(-high, -mean, -low, margin)
    holds, fails = _OUTCOMES[kind](up, down)
    return HOLDS if holds else FAILS if fails else UNCLEAR


_Outcome = Callable[[str, str], tuple[bool, bool]]
_SUPERIOR: _Outcome = lambda up, _: (up == _SHOWN, up == RULED_OUT)  # noqa: E731
_NOT_INFERIOR: _Outcome = lambda _, down: (down == RULED_OUT, down == _SHOWN)  # noqa: E731
_OUTCOMES: dict[str, _Outcome] = {
    "superiority": _SUPERIOR,
    "no superiority": lambda up, _: (up == RULED_OUT, up == _SHOWN),
    "equivalence": lambda up, down: (up == down == RULED_OUT, _SHOWN in (up, down)),
    "non-inferiority": _NOT_INFERIOR,
    "below": _SUPERIOR,
    "above": _SUPERIOR,
    "rise and fall": _SUPERIOR,
    "flat": _NOT_INFERIOR,
}
"""Whether a claim holds, and whether it fails, from the statements about the upper and the lower side."""


def claim_p_value(claim: Claim, estimate: Estimate) -> float:
    """Two-sided p-value of the nearest true value at which the claim is false; below the level exactly where it is excluded.

    For superiority that value is 0; for a difference that must not reach the margin, the margin; for a limit, the limit.
    """
    flipped = Estimate(-estimate.mean, estimate.error, estimate.df, estimate.n)
    above = {"above": claim.limit or 0.0}.get(claim.kind, 0.0)
    tails = {
        "no superiority": [flipped.tail(-claim.margin)],
        "equivalence": [flipped.tail(-claim.margin), estimate.tail(-claim.margin)],
        "non-inferiority": [estimate.tail(-claim.margin)],
        "flat": [estimate.tail(-claim.margin)],
        "below": [flipped.tail(-(claim.limit or 0.0))],
    }.get(claim.kind, [estimate.tail(above)])
    worst = max(tails)
    return nan if isnan(worst) else min(1.0, 2 * worst)


def decide_by_estimates(claim: Claim, contrasts: Mapping[str, Estimate], *, size: int, rules: Rules) -> Verdict:
    """The verdict of a claim from the estimates of its contrasts.

    Parameters
    ----------
    claim : the claim, of a kind that is decided by intervals
    contrasts : an estimate for every contrast
    size : number of intervals in the claim's family, over which alpha is divided
    rules : alpha and power
    """
    _check_contrasts(claim, contrasts)
    level = rules.alpha / size
    each = {name: _decide_contrast(claim, estimate, level, size, rules) for name, estimate in contrasts.items()}
    verdicts = {one.verdict for one in each.values()}
    overall = FAILS if FAILS in verdicts else HOLDS if verdicts == {HOLDS} else UNCLEAR
    # The contrast that decided: of those with the overall verdict the one that is furthest from holding.
    deciding = {name: one for name, one in each.items() if one.verdict == overall}
    name = max(deciding, key=lambda key: (deciding[key].p if isfinite(deciding[key].p) else 2.0, deciding[key].n))
    prefix = f"{name}: " if len(contrasts) > 1 else ""
    return replace(each[name], reason=prefix + each[name].reason)


def _check_contrasts(claim: Claim, contrasts: Mapping[str, object]) -> None:
    wanted = CLAIM_KINDS[claim.kind].contrasts
    if not contrasts or (wanted and set(wanted) != set(contrasts)):
        need = " and ".join(wanted) if wanted else "at least one contrast"
        raise InputError(
            f"claim {claim.name}: the observations must have {need}", found=", ".join(contrasts) or "nothing"
        )


def _decide_contrast(claim: Claim, estimate: Estimate, level: float, size: int, rules: Rules) -> Verdict:
    sample = estimate.sample
    differing = nan if sample is None else sample.differing
    if sample is not None and (lack := sample.lacks(level, rules)):
        # No interval: the one that can be computed says less than it seems to.
        return Verdict(UNCLEAR, lack, estimate.mean, n=estimate.n, differing=differing, fits=estimate.fits)
    low, high = estimate.interval(level)
    verdict = verdict_by_interval(claim.kind, low, estimate.mean, high, margin=claim.margin, limit=claim.limit)
    reason, boot = _reason(claim, verdict, low, estimate.mean, high), (nan, nan)
    if verdict != UNCLEAR:
        boot = estimate.bootstrap(level)
        verdict, reason = _agreed(claim, estimate.mean, boot, verdict, reason)
    if estimate.left_out:
        reason += f"; {estimate.left_out} values left out that are not finite"
    p = claim_p_value(claim, estimate)
    return Verdict(
        verdict,
        reason,
        estimate.mean,
        low,
        high,
        level,
        p,
        p if isnan(p) else min(1.0, size * p),
        estimate.detectable(level, rules.power),
        estimate.n,
        differing,
        *boot,
        estimate.fits,
        estimate.fit_spread if estimate.fits > 1 else nan,
    )


def _agreed(claim: Claim, mean: float, boot: tuple[float, float], verdict: str, reason: str) -> tuple[str, str]:
    """The verdict of Student's interval and its reason if the bootstrap's says the same; otherwise the data cannot tell."""
    other = verdict_by_interval(claim.kind, boot[0], mean, boot[1], margin=claim.margin, limit=claim.limit)
    if other == verdict:
        return verdict, reason
    ends = " to ".join(f"{end:+.4f}" if isfinite(end) else "no end" for end in boot)
    return UNCLEAR, f"the intervals disagree: Student's says {verdict!r}, the bootstrap's ({ends}) {other!r}"


def _reason(claim: Claim, verdict: str, low: float, mean: float, high: float) -> str:
    """The criterion that is met, or what is left open."""
    if isnan(low):
        return "one value has no interval"
    if verdict != UNCLEAR:
        return claim.criteria[verdict == FAILS].split(": ")[-1]
    if claim.kind in ("below", "above"):
        return f"the limit {claim.limit:g} is not excluded" if low <= (claim.limit or 0) <= high else _trifle(claim)
    if low <= 0 <= high:
        return f"neither 0 nor a difference of {claim.margin:g} is ruled out"
    return _trifle(claim) + (" (above 0)" if mean > 0 else " (below 0)")


def _trifle(claim: Claim) -> str:
    return f"there is a difference, but whether it is {claim.margin:g} is open"


def decide_exactly(claim: Claim, contrasts: Mapping[str, FloatArray]) -> Verdict:
    """The verdict of a check: every single value counts, and a value that is not a number fails."""
    _check_contrasts(claim, contrasts)
    values = np.concatenate([np.asarray(contrast, dtype=np.float64) for contrast in contrasts.values()])
    if len(values) == 0:
        return Verdict(UNCLEAR, "no values", nan)
    distance, bound = (values, claim.limit or 0.0) if claim.kind == "bounded" else (np.abs(values), claim.margin)
    worst = float(distance.max()) if not np.isnan(distance).any() else nan
    verdict = HOLDS if worst <= bound else FAILS
    return Verdict(verdict, f"largest value {worst:.3g} of {len(values)}, allowed {bound:g}", worst, n=len(values))


def family_sizes(claims: Sequence[Claim], contrasts: Mapping[str, int]) -> dict[str, int]:
    """Number of intervals in each claim's family.

    Parameters
    ----------
    claims : all claims of a study
    contrasts : number of contrasts of the observations, by the claim's name; claims without observations are absent
    """
    tested = [claim for claim in claims if claim.name in contrasts and not CLAIM_KINDS[claim.kind].exact]
    family = {claim.name: claim.family or f"({claim.name})" for claim in tested}
    return {name: sum(contrasts[other] for other in family if family[other] == named) for name, named in family.items()}

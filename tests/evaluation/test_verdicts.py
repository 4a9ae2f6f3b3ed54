"""Verdicts: each kind and outcome, no cliff, intervals and p-values that agree, error rates as promised."""

from math import isnan

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from qdrank.errors import InputError
from qdrank.evaluation.declared import CLAIM_KINDS, FAILS, HOLDS, UNCLEAR, Claim, Declaration, Rules
from qdrank.evaluation.estimates import Estimate, over_queries, over_seeds, over_these_seeds
from qdrank.evaluation.verdicts import (
    claim_p_value,
    decide_by_estimates,
    decide_exactly,
    family_sizes,
    verdict_by_interval,
)

MARGIN = 0.005
BY_INTERVAL = [kind for kind, about in CLAIM_KINDS.items() if not about.exact]


def claim(kind="superiority", *, name="a", margin=MARGIN, **more):
    limit = {"limit": 0.5} if CLAIM_KINDS[kind].limited else {}
    return Claim(name=name, text="A beats B", expected="above 0", kind=kind, margin=margin, **limit, **more)


def spread(mean, deviation=0.01, n=100):
    """Values with exactly this mean and deviation."""
    x = np.linspace(-1, 1, n)
    return mean + deviation * x / x.std(ddof=1)


def at(low, high, kind="superiority", margin=MARGIN, limit=None):
    return verdict_by_interval(kind, low, (low + high) / 2, high, margin=margin, limit=limit)


# ---- the scheme ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "low", "high", "verdict"),
    [
        ("superiority", 0.001, 0.015, HOLDS),
        ("superiority", 0.0001, 0.0047, FAILS),
        ("superiority", -0.0001, 0.0045, FAILS),
        ("superiority", 0.0001, 0.0070, UNCLEAR),
        ("superiority", -0.0001, 0.0150, UNCLEAR),
        ("superiority", -0.02, -0.01, FAILS),
        ("no superiority", 0.001, 0.015, FAILS),
        ("no superiority", -0.02, 0.004, HOLDS),
        ("no superiority", -0.02, 0.006, UNCLEAR),
        ("equivalence", 0.0005, 0.0049, HOLDS),
        ("equivalence", 0.0005, 0.0051, UNCLEAR),
        ("equivalence", 0.0005, 0.0120, FAILS),
        ("equivalence", -0.0120, -0.0005, FAILS),
        ("equivalence", -0.0051, 0.0010, UNCLEAR),
        ("non-inferiority", -0.0049, 0.02, HOLDS),
        ("non-inferiority", -0.0051, 0.02, UNCLEAR),
        ("non-inferiority", -0.02, -0.001, FAILS),
    ],
)
def test_every_kind_and_outcome(kind, low, high, verdict):
    assert at(low, high, kind) == verdict


@pytest.mark.parametrize(
    ("kind", "low", "high", "verdict"),
    [
        ("below", 0.30, 0.49, HOLDS),
        ("below", 0.49, 0.52, UNCLEAR),
        ("below", 0.51, 0.60, FAILS),
        ("above", 0.51, 0.60, HOLDS),
        ("above", 0.30, 0.49, FAILS),
        ("above", 0.45, 0.60, UNCLEAR),
    ],
)
def test_limits(kind, low, high, verdict):
    assert at(low, high, kind, margin=0.0, limit=0.5) == verdict
    assert at(low, high, kind, margin=0.001, limit=0.5) == verdict


# ---- no cliff --------------------------------------------------------------------------------------------------------


def jumps(verdict_at):
    """Whether a path from t = 0 to t = 1 goes from "holds" to "does not hold" within a hair, by bisection."""
    a, b = 0.0, 1.0
    if {verdict_at(a), verdict_at(b)} != {HOLDS, FAILS}:
        return False
    first = verdict_at(a)
    for _ in range(45):
        middle = (a + b) / 2
        found = verdict_at(middle)
        if found == UNCLEAR:
            return False
        a, b = (middle, b) if found == first else (a, middle)
    return True


CENTRES = st.floats(-0.05, 0.05)
WIDTHS = st.floats(1e-6, 0.05)
MARGINS = st.floats(0, 0.02)


def path(rule, start, end):
    def verdict_at(t):
        (c0, w0), (c1, w1) = start, end
        centre, width = c0 + t * (c1 - c0), w0 + t * (w1 - w0)
        return rule(centre - width / 2, centre, centre + width / 2)

    return verdict_at


@pytest.mark.parametrize("kind", BY_INTERVAL)
@given(st.tuples(CENTRES, WIDTHS), st.tuples(CENTRES, WIDTHS), MARGINS)
def test_moving_or_stretching_an_interval_never_jumps_over_cannot_tell(kind, start, end, margin):
    limit = 0.01 if CLAIM_KINDS[kind].limited else None
    assert not jumps(
        path(lambda low, m, high: verdict_by_interval(kind, low, m, high, margin=margin, limit=limit), start, end)
    )


@pytest.mark.parametrize("kind", BY_INTERVAL)
@given(CENTRES, WIDTHS, MARGINS)
def test_a_shift_by_less_than_half_the_width_never_jumps(kind, centre, width, margin):
    limit = 0.01 if CLAIM_KINDS[kind].limited else None
    both = [
        verdict_by_interval(kind, c - width / 2, c, c + width / 2, margin=margin, limit=limit)
        for c in (centre, centre + 0.499 * width)
    ]
    assert set(both) != {HOLDS, FAILS}


@given(*[st.tuples(CENTRES, WIDTHS)] * 4, MARGINS, st.sampled_from(["rise and fall", "flat"]))
def test_parts_together_never_jump(a0, a1, b0, b1, margin, kind):
    asked = claim(kind, margin=margin)

    def verdict_at(t):
        contrasts = {}
        for name, (start, end) in {"rise": (a0, a1), "fall": (b0, b1)}.items():
            centre, width = (x + t * (y - x) for x, y in zip(start, end, strict=True))
            contrasts[name] = Estimate(centre, width, 50, 51)
        return decide_by_estimates(asked, contrasts, size=2, rules=Rules()).verdict

    assert not jumps(verdict_at)


def test_the_bisection_sees_the_cliff_of_simpler_rules():
    def significant_or_small(low, _mean, high):
        return HOLDS if low > 0 else FAILS if high < MARGIN else UNCLEAR

    def equal_or_significant(low, _mean, high):
        return HOLDS if low > -MARGIN and high < MARGIN else FAILS if low > 0 or high < 0 else UNCLEAR

    assert jumps(path(significant_or_small, (0.0024, 0.0046), (0.0022, 0.0046)))
    assert jumps(path(equal_or_significant, (0.0027, 0.0044), (0.0028, 0.0046)))


@given(CENTRES, WIDTHS, MARGINS)
def test_kinds_do_not_contradict_each_other(centre, width, margin):
    assume(margin > 0)
    found = {
        kind: verdict_by_interval(kind, centre - width / 2, centre, centre + width / 2, margin=margin)
        for kind in ("superiority", "no superiority", "equivalence", "non-inferiority")
    }
    opposite = {HOLDS: FAILS, FAILS: HOLDS, UNCLEAR: UNCLEAR}
    assert found["no superiority"] == opposite[found["superiority"]]
    if found["superiority"] == HOLDS:
        assert found["equivalence"] != HOLDS
    if found["equivalence"] == HOLDS:
        assert found["superiority"] == FAILS
        assert found["non-inferiority"] == HOLDS


# ---- intervals, p-values, correction ---------------------------------------------------------------------------------


def test_the_interval_is_students():
    x = spread(0.02, 0.1, 25)
    found = stats.ttest_1samp(x, 0).confidence_interval(0.99)
    assert over_queries(x).interval(0.01) == pytest.approx((found.low, found.high))


def test_two_sets_are_compared_after_welch():
    a, b = spread(0.3, 0.1, 20), spread(0.2, 0.3, 35)
    found = stats.ttest_ind(a, b, equal_var=False)
    apart = over_queries(a).minus(over_queries(b))
    assert apart.df == pytest.approx(found.df)
    assert apart.interval(0.05) == pytest.approx(tuple(found.confidence_interval(0.95)))


@given(CENTRES, st.floats(1e-4, 0.02), st.integers(2, 200), st.integers(1, 9), st.sampled_from(BY_INTERVAL))
def test_the_corrected_p_is_below_alpha_where_the_interval_excludes_the_bound(centre, error, df, size, kind):
    asked, found = claim(kind), Estimate(centre + (0.5 if CLAIM_KINDS[kind].limited else 0), error, df, df + 1)
    low, high = found.interval(0.05 / size)
    excluded = {
        "superiority": low > 0,
        "rise and fall": low > 0,
        "no superiority": high < MARGIN,
        "equivalence": low > -MARGIN and high < MARGIN,
        "non-inferiority": low > -MARGIN,
        "flat": low > -MARGIN,
        "below": high < 0.5,
        "above": low > 0.5,
    }[kind]
    p = size * claim_p_value(asked, found)
    assume(abs(p - 0.05) > 1e-9)
    assert (p < 0.05) == excluded


def test_p_of_superiority_is_that_of_the_t_test():
    x = spread(0.02, 0.1, 25)
    assert claim_p_value(claim(), over_queries(x)) == pytest.approx(stats.ttest_1samp(x, 0).pvalue)


def test_a_family_is_corrected_by_its_number_of_intervals():
    asked = [claim(name="a", family="f"), claim("rise and fall", name="b", family="f"), claim(name="c")]
    assert family_sizes(asked, {"a": 1, "b": 2, "c": 1}) == {"a": 3, "b": 3, "c": 1}
    assert family_sizes(asked, {"a": 1, "c": 1}) == {"a": 1, "c": 1}


def test_the_correction_widens_the_interval_and_what_can_be_found():
    x = over_queries(spread(0.007, 0.03))
    alone, six = (decide_by_estimates(claim(), {"difference": x}, size=size, rules=Rules()) for size in (1, 6))
    assert (alone.verdict, six.verdict) == (HOLDS, UNCLEAR)
    assert six.level == pytest.approx(0.05 / 6)
    assert six.p_corrected == pytest.approx(6 * six.p)
    assert six.detectable > alone.detectable
    found = stats.nct.sf(stats.t.ppf(1 - six.level / 2, 99), 99, six.detectable / x.error)
    assert found == pytest.approx(0.8, abs=1e-6)


# ---- contrasts, checks, units --------------------------------------------------------------------------------------------

GAIN, NOTHING, NOISE = (over_queries(spread(m, s)) for m, s in ((0.02, 0.01), (0.0, 0.01), (0.01, 0.5)))


@pytest.mark.parametrize(
    ("rise", "fall", "verdict"),
    [(GAIN, GAIN, HOLDS), (GAIN, NOTHING, FAILS), (NOTHING, NOISE, FAILS), (GAIN, NOISE, UNCLEAR)],
)
def test_rise_and_fall(rise, fall, verdict):
    found = decide_by_estimates(claim("rise and fall"), {"rise": rise, "fall": fall}, size=2, rules=Rules())
    assert found.verdict == verdict
    assert found.effect == min(rise.mean, fall.mean) or verdict == UNCLEAR


def test_flat_names_the_part_that_decided():
    contrasts = {"k = 5": NOTHING, "k = 10": over_queries(spread(-0.02))}
    found = decide_by_estimates(claim("flat"), contrasts, size=2, rules=Rules())
    assert found.verdict == FAILS
    assert found.reason.startswith("k = 10: ")


def test_wrong_parts_are_named():
    with pytest.raises(InputError, match="rise and fall"):
        decide_by_estimates(claim("rise and fall"), {"rise": GAIN}, size=1, rules=Rules())


def test_checks_look_at_every_value():
    same = claim("identical", margin=0.0)
    assert decide_exactly(same, {"d": np.zeros(3)}).verdict == HOLDS
    assert decide_exactly(same, {"d": np.array([0, 1e-15])}).verdict == FAILS
    assert decide_exactly(same, {"d": np.array([0, np.nan])}).verdict == FAILS
    bounded = claim("bounded")
    assert decide_exactly(bounded, {"d": np.array([0.1, 0.5])}).verdict == HOLDS
    assert decide_exactly(bounded, {"d": np.array([0.1, 0.51])}).verdict == FAILS
    assert decide_exactly(bounded, {"d": np.array([])}).verdict == UNCLEAR


def test_one_value_says_nothing():
    found = decide_by_estimates(claim(), {"d": over_queries(np.array([0.3]))}, size=1, rules=Rules())
    assert found.verdict == UNCLEAR
    assert isnan(found.p)
    assert isnan(found.p_corrected)


def test_values_that_are_not_finite_are_left_out_and_counted():
    found = decide_by_estimates(claim("below"), {"d": over_queries(np.r_[spread(0.3), np.inf])}, size=1, rules=Rules())
    assert found.verdict == HOLDS
    assert found.reason.endswith("1 values left out that are not finite")


def test_seeds_are_the_units():
    """Three seeds whose pooled queries are "significant" though the seeds disagree."""
    seeds = [spread(mean, 0.2, 2000) for mean in (-0.009, 0.029, 0.021)]
    assert claim_p_value(claim(), over_queries(np.concatenate(seeds))) < 0.001
    apart = over_seeds(seeds)
    assert apart.n == 3
    assert claim_p_value(claim(), apart) == pytest.approx(stats.ttest_1samp([-0.009, 0.029, 0.021], 0).pvalue)


def test_these_worlds_only_is_the_stratified_mean():
    seeds = [spread(0.01, 0.1, 50), spread(0.03, 0.2, 80)]
    found = over_these_seeds([values[:, None] for values in seeds])
    assert found.mean == pytest.approx(0.02)
    assert found.error == pytest.approx(np.hypot(0.1 / np.sqrt(50), 0.2 / np.sqrt(80)) / 2)
    welch = stats.ttest_ind(seeds[0], seeds[1], equal_var=False)
    assert found.df == pytest.approx(welch.df)


def test_seeds_contain_the_spread_between_worlds():
    """Coverage over random worlds: with seeds as units as promised, with queries pooled far below."""
    rng, inside, pooled, runs = np.random.default_rng(5), 0, 0, 400
    for _ in range(runs):
        effects = rng.normal(0.0, 0.02, 10)
        seeds = [rng.normal(effect, 0.1, 200) for effect in effects]
        low, high = over_seeds(seeds).interval(0.05)
        inside += low <= 0 <= high
        low, high = over_queries(np.concatenate(seeds)).interval(0.05)
        pooled += low <= 0 <= high
    assert inside / runs > 0.92
    assert pooled / runs < 0.7


# ---- declarations ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "wrong", [{"kind": "superority"}, {"purpose": "findings"}, {"margin": -1}, {"margin": float("nan")}, {"limit": 0.5}]
)
def test_mistakes_in_a_claim_are_named(wrong):
    right = {"name": "a", "text": "t", "expected": "e", "kind": "superiority"}
    with pytest.raises(InputError, match="claim a"):
        Claim(**{**right, **wrong})


def test_a_name_twice_is_refused():
    with pytest.raises(InputError, match="two claims are called a"):
        Declaration(study="s", paper="p", claims=(claim(), claim()))

"""How often a verdict is wrong where differences are sparse, skewed or zero-inflated; the limits are stated here.

Every world's true mean is the bound of the claim, so a verdict on either side of it is wrong. The nominal rate of each side is
half the level. Student's interval alone exceeds it up to tenfold; with guard and bootstrap no side of any world exceeds
`LIMIT` times the nominal rate, at the smallest sample that the guard lets pass and at larger ones. The worst world is
the one where rare large changes hide behind noise: what the sample does not show, no interval can know.
"""

import numpy as np
import pytest
from scipy import stats

from qdrank.evaluation.declared import FAILS, HOLDS, UNCLEAR, Claim, Rules
from qdrank.evaluation.estimates import over_queries, over_seeds
from qdrank.evaluation.intervals import effective_number, lacking, studentised_interval
from qdrank.evaluation.verdicts import decide_by_estimates

RULES = Rules()
LIMIT = 3.5
"""Times the nominal rate, of one side, at the level .05 and at .05 / 6."""
SHARES = pytest.mark.parametrize("share", [0.1, pytest.param(1, marks=pytest.mark.full)])
"""Of the simulations: a tenth each day."""


def changes(share, size):
    """A share of the queries changes, the others do not."""
    return lambda rng, n: (rng.random(n) < share) * size(rng, n)


def _mixed(rng, n):
    u = rng.random(n)
    return (u < 0.15) * 1.0 - ((u >= 0.15) & (u < 0.2))


WORLDS = {
    "zero-inflated, 8 % large of one sign": (changes(0.08, lambda rng, n: rng.uniform(0, 0.2, n)), 0.008),
    "noise, and 8 % large of one sign": (
        lambda rng, n: changes(0.08, lambda r, m: r.uniform(0, 0.2, m))(rng, n) + rng.normal(0, 0.01, n),
        0.008,
    ),
    "P@1: one sign": (changes(0.05, lambda rng, n: np.ones(n)), 0.05),
    "P@1: two signs": (_mixed, 0.1),
    "sparse and skewed": (changes(0.2, lambda rng, n: rng.exponential(0.1, n)), 0.02),
    "sparse and symmetric": (changes(0.3, lambda rng, n: rng.laplace(0, 0.1, n)), 0.0),
    "normal": (lambda rng, n: rng.normal(0, 0.1, n), 0.0),
}


def claim(kind="superiority", **more):
    return Claim(name="a", text="t", expected="e", kind=kind, **more)


def wrong(world, n, *, family, runs, guarded=True, rules=RULES):
    """Shares of verdicts that the mean is below its true value, and above it; with a margin of 0 every verdict is wrong."""
    draw, mean = WORLDS[world]
    rng, found = np.random.default_rng(11), []
    for _ in range(runs):
        estimate = over_queries(draw(rng, n) - mean)
        if not guarded:
            low, high = estimate.interval(RULES.alpha / family)
            found.append((high < 0, low > 0))
            continue
        verdict = decide_by_estimates(claim(), {"value": estimate}, size=family, rules=rules).verdict
        found.append((verdict == FAILS, verdict == HOLDS))
    return np.mean(found, axis=0)


def test_what_student_alone_does():
    """The cases that the guard is for: .23 instead of .025, .2 instead of .0042, and width 0 from equal values."""
    world = "zero-inflated, 8 % large of one sign"
    assert wrong(world, 25, family=1, runs=500, guarded=False)[0] > 0.2
    assert wrong(world, 25, family=6, runs=500, guarded=False)[0] > 0.17
    assert wrong("noise, and 8 % large of one sign", 25, family=1, runs=500, guarded=False)[0] > 0.18
    assert over_queries(np.full(10, 0.1)).interval(0.05) == (0.1, 0.1)


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("n", [10, 25, 50])
def test_small_samples_say_nothing(world, n):
    assert wrong(world, n, family=1, runs=20).max() == 0


@SHARES
@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize(("n", "family"), [(60, 1), (120, 1), (300, 1), (89, 6), (200, 6)])
def test_verdicts_are_wrong_no_more_often_than_stated(world, n, family, share):
    runs = int(share * (400 if family == 1 else 800))
    nominal = RULES.alpha / family / 2
    allowed = LIMIT * nominal + 3 * np.sqrt(LIMIT * nominal / runs)
    assert wrong(world, n, family=family, runs=runs).max() <= allowed


@SHARES
@pytest.mark.parametrize("world", WORLDS)
def test_seeds_average_sparse_differences(world, share):
    """The mean of a seed's queries is near normal, so Student's over seeds needs no bootstrap."""
    draw, mean = WORLDS[world]
    rng, found, runs = np.random.default_rng(5), [], int(600 * share)
    for _ in range(runs):
        contrasts = {"value": over_seeds([draw(rng, 60) - mean for _ in range(10)])}
        verdict = decide_by_estimates(claim(), contrasts, size=1, rules=RULES).verdict
        found.append((verdict == FAILS, verdict == HOLDS))
    assert np.mean(found, axis=0).max() <= 2 * 0.025 + 3 * np.sqrt(0.025 / runs)


def test_power_is_not_lost_on_ordinary_differences():
    """Differences as two rankers have them, half a deviation above 0: guard and bootstrap cost less than 3 % of the verdicts."""
    rng, both, student = np.random.default_rng(3), 0, 0
    draw = changes(0.7, lambda r, n: r.laplace(0.04, 0.1, n))
    for _ in range(300):
        estimate = over_queries(draw(rng, 150))
        low, _ = estimate.interval(0.05)
        student += low > 0
        verdict = decide_by_estimates(claim(), {"d": estimate}, size=1, rules=RULES).verdict
        both += verdict == HOLDS
    assert both <= student
    assert both > 0.97 * student


# ---- the guard ---------------------------------------------------------------------------------------------------------


def test_the_effective_number_of_queries_that_differ():
    assert effective_number(np.full(10, 0.3)) == 0
    assert effective_number(np.r_[np.zeros(90), np.full(10, -0.2)]) == pytest.approx(10)
    assert effective_number(np.r_[np.zeros(90), np.full(10, -0.2)] + 5) == pytest.approx(10)
    noisy = np.r_[np.zeros(90), np.full(10, 0.5)] + np.random.default_rng(0).normal(0, 1e-3, 100)
    assert effective_number(noisy) == pytest.approx(10, abs=0.5)
    normal = np.random.default_rng(1).normal(size=100_000)
    assert effective_number(normal) / 1e5 == pytest.approx(2 / np.pi, abs=0.01)


def test_the_queries_needed_are_those_that_a_rare_kind_is_not_absent_from():
    for family in (1, 6, 12):
        level = RULES.alpha / family
        n = RULES.needed(level)
        assert (1 - RULES.rare) ** n <= level / 2 < (1 - RULES.rare) ** (n - 1)
    assert [RULES.needed(0.05 / k) for k in (1, 6, 12)] == [60, 89, 100]


def test_what_tables_lack_is_said():
    assert lacking(np.random.default_rng(0).normal(size=60)) == ""
    assert lacking(np.zeros(100)) == "no spread: all 100 values are equal"
    assert lacking(np.random.default_rng(0).normal(size=60), 0.05 / 6).startswith("too few queries: 60")


# ---- the studentised bootstrap -------------------------------------------------------------------------------------------


def test_the_studentised_interval_against_a_plain_loop():
    """The same formula query by query, with other random numbers."""
    x, y = np.random.default_rng(2).exponential(1, 40), np.random.default_rng(3).normal(0, 1, 25)
    rng, t = np.random.default_rng(9), []

    def of(a, b):
        return a.mean() - 0.5 * b.mean(), np.sqrt(a.var(ddof=1) / len(a) + 0.25 * b.var(ddof=1) / len(b))

    mean, error = of(x, y)
    for _ in range(20_000):
        again, spread = of(rng.choice(x, len(x)), rng.choice(y, len(y)))
        t.append((again - mean) / spread)
    low, high = np.quantile(t, [0.975, 0.025])
    ours = studentised_interval([(1.0, x), (-0.5, y)], level=0.05)
    assert ours == pytest.approx((mean - low * error, mean - high * error), abs=0.04)


def test_the_studentised_interval_is_students_for_normal_values():
    x = stats.norm.ppf((np.arange(400) + 0.5) / 400)
    assert studentised_interval([(1.0, x)], level=0.01) == pytest.approx(over_queries(x).interval(0.01), abs=0.02)


def test_few_that_differ_leave_the_interval_without_an_end():
    low, high = studentised_interval([(1.0, np.r_[np.zeros(97), 1.0, 1.0, 1.0])], level=0.05)
    assert high == np.inf
    assert low < 0.03
    assert studentised_interval([(1.0, np.full(10, 0.1))], level=0.05) == (-np.inf, np.inf)


def test_the_interval_is_the_same_in_blocks_of_any_size_for_one_stratum(monkeypatch):
    x = np.random.default_rng(4).normal(size=70)
    whole = studentised_interval([(1.0, x)], level=0.05)
    monkeypatch.setattr("qdrank.evaluation.intervals._CACHED", 70 * 16)
    assert studentised_interval([(1.0, x)], level=0.05) == whole


def test_an_estimate_without_its_values_is_judged_by_students_interval():
    from qdrank.evaluation.estimates import Estimate

    found = decide_by_estimates(claim(), {"d": Estimate(0.1, 0.01, 20, 21)}, size=1, rules=RULES)
    assert found.verdict == HOLDS
    assert decide_by_estimates(claim(), {"d": over_queries(np.ones(9))}, size=1, rules=RULES).verdict == UNCLEAR

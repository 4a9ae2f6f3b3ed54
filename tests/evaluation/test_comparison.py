"""Everything said of a difference: pairing, tests against scipy's, their correction, intervals, power, tables, groups of queries."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from qdrank.datasets.runs.rows import read_groups
from qdrank.errors import InputError
from qdrank.evaluation.comparison import (
    Comparison,
    between_groups,
    by_group,
    compare,
    corrected_p,
    differences,
    groups_of,
    guarded,
    holm,
    paired_t,
    permutation,
    wilcoxon,
)
from qdrank.evaluation.intervals import bootstrap_interval, detectable_difference, power, queries_needed
from qdrank.evaluation.run_files import MeasuredRun
from qdrank.evaluation.values import Pairs, join, pairs
from qdrank.figures.style import error_bars


def pairs_of(differences) -> Pairs:
    d = np.asarray(differences, dtype=float)
    return Pairs(np.arange(len(d)), d, np.zeros(len(d)))


def drawn(n, seed, effect=0.02):
    return pairs_of(np.random.default_rng(seed).normal(effect, 0.1, n))


# --- pairing -----------------------------------------------------------------------------------------------------


def test_values_are_joined_on_query_id_whatever_their_order():
    pairs = join(["q2", "q1", "q3"], [0.2, 0.1, 0.3], ["q3", "q2", "q1"], [3.0, 2.0, 1.0])
    assert list(pairs.query) == ["q1", "q2", "q3"]
    np.testing.assert_array_equal(pairs.a * 10, pairs.b)


def test_objects_and_text_are_the_same_ids():
    pairs = join(np.array(["a", "b"], dtype=object), [1, 2], ["b", "a"], [2, 1])
    np.testing.assert_array_equal(pairs.differences, [0, 0])


def test_unmatched_queries_are_refused():
    arguments = (["a", "b", "c"], [1, 2, 3], ["b", "c", "d"], [2, 3, 4])
    with pytest.raises(InputError, match="2 queries are measured for only one of the two rankers"):
        join(*arguments)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((["a", "a"], [1, 2], ["a"], [1]), "query a is measured twice"),
        ((["a", "b"], [1, np.nan], ["a", "b"], [1, 2]), "value of query b is not finite"),
        ((["a", "b"], [1], ["a", "b"], [1, 2]), "first ranker"),
        (([1, 2], [1, 2], ["1", "2"], [1, 2]), "are text"),
        (([], [], [], []), "no query in common"),
    ],
)
def test_what_cannot_be_paired_is_named(arguments, said):
    with pytest.raises(InputError, match=said):
        join(*arguments)


def test_nothing_depends_on_the_order_of_the_queries():
    rng = np.random.default_rng(1)
    ids, a, b = np.array([f"q{i}" for i in range(40)]), rng.random(40), rng.random(40)
    rows = rng.permutation(40)
    assert compare(join(ids, a, ids, b), seed=3) == compare(join(ids[rows], a[rows], ids, b), seed=3)


# --- tests -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [2, 5, 30, 400])
def test_paired_t_equals_scipys(n):
    pairs = drawn(n, n)
    expected = stats.ttest_rel(pairs.a, pairs.b)
    ours = paired_t(pairs)
    assert (ours.statistic, ours.p) == pytest.approx((expected.statistic, expected.pvalue), rel=1e-9)


def test_equal_differences():
    assert paired_t(pairs_of([0.0, 0.0, 0.0])).p == 1
    assert paired_t(pairs_of([0.1, 0.1, 0.1])).p == 1  # no spread, so nothing to test with
    with pytest.raises(InputError, match="two queries"):
        paired_t(pairs_of([0.1]))


@pytest.mark.parametrize("n", [3, 10, 49, 50, 51, 200])
def test_wilcoxon_equals_scipys(n):
    pairs = drawn(n, n, effect=0.03)
    expected = stats.wilcoxon(pairs.differences)
    ours = wilcoxon(pairs)
    assert (ours.statistic, ours.p) == pytest.approx((expected.statistic, expected.pvalue), rel=1e-9)


def test_wilcoxon_with_ties_and_zeros_equals_scipys():
    d = np.random.default_rng(0).integers(-3, 5, 120) / 8
    expected = stats.wilcoxon(d, method="approx", correction=False)
    ours = wilcoxon(pairs_of(d))
    assert (ours.statistic, ours.p) == pytest.approx((expected.statistic, expected.pvalue), rel=1e-9)
    assert wilcoxon(pairs_of(np.zeros(9))).p == 1


@given(st.lists(st.integers(-5, 5).map(lambda i: i / 10), min_size=2, max_size=12))
def test_permutation_of_few_queries_tries_all_signs(d):
    signs = np.array(np.meshgrid(*[[-1, 1]] * len(d))).reshape(len(d), -1)
    sums = np.abs(np.asarray(d) @ signs)
    expected = (sums >= abs(sum(d)) - 1e-9).mean()
    assert permutation(pairs_of(d), seed=0).p == pytest.approx(expected)


def test_random_permutations_come_near_scipys_and_repeat_at_the_same_seed():
    pairs = drawn(60, 4)
    expected = stats.permutation_test(
        (pairs.a, pairs.b), lambda a, b: np.mean(a - b), permutation_type="samples", n_resamples=9999, rng=1
    ).pvalue
    ours = permutation(pairs, seed=5, resamples=9999)
    assert ours.p == pytest.approx(expected, abs=0.015)
    assert permutation(pairs, seed=5, resamples=9999) == ours
    assert permutation(pairs, seed=6, resamples=9999).p != ours.p


def test_permutation_does_not_depend_on_the_size_of_its_blocks(monkeypatch):
    pairs = drawn(100, 2)
    before = permutation(pairs, seed=1, resamples=1000)
    monkeypatch.setattr("qdrank.evaluation.comparison._BLOCK", 1717)
    assert permutation(pairs, seed=1, resamples=1000) == before


def test_a_permutation_p_is_never_0():
    assert permutation(pairs_of(np.ones(40)), seed=0, resamples=99).p == 0.01


@given(st.lists(st.integers(-40, 40), min_size=3, max_size=40))
def test_p_values_are_probabilities_and_the_same_for_both_directions(d):
    there, back = pairs_of(np.array(d) / 100), pairs_of(-np.array(d) / 100)
    for test in (paired_t, wilcoxon, lambda pairs: permutation(pairs, seed=0, resamples=200)):
        assert 0 <= test(there).p <= 1
        assert test(there).difference == -test(back).difference
    assert paired_t(there).p == paired_t(back).p
    assert wilcoxon(there).p == wilcoxon(back).p


# --- correction --------------------------------------------------------------------------------------------------


def test_holm_by_hand():
    corrected = holm({"a": 0.01, "b": 0.04, "c": 0.03, "d": 0.5})
    assert corrected == pytest.approx({"a": 0.04, "b": 0.09, "c": 0.09, "d": 0.5})
    assert holm({}) == {}


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_lies_between_the_plain_p_and_bonferronis(p):
    adjusted = np.array(list(holm(dict(enumerate(p))).values()))
    assert (adjusted >= p).all()
    assert (adjusted <= np.minimum(1, np.array(p) * len(p)) + 1e-15).all()
    assert (np.diff(adjusted[np.argsort(p, kind="stable")]) >= 0).all()


def test_holm_refuses_what_is_no_probability():
    with pytest.raises(InputError, match="between 0 and 1"):
        holm({"a": float("nan")})


# --- intervals ---------------------------------------------------------------------------------------------------


def test_intervals_come_near_scipys():
    x = np.random.default_rng(3).exponential(1.0, 80)
    expected = stats.bootstrap((x,), np.mean, method="BCa", n_resamples=20_000, rng=1).confidence_interval
    ours = bootstrap_interval(x, seed=2, resamples=20_000)
    assert (ours.low, ours.high) == pytest.approx((expected.low, expected.high), abs=0.012)
    assert (ours.level, ours.resamples) == (0.95, 20_000)


def test_an_interval_repeats_and_narrows_with_its_level(monkeypatch):
    x = np.random.default_rng(0).random(50)
    wide, narrow = bootstrap_interval(x, seed=1), bootstrap_interval(x, seed=1, level=0.8)
    assert wide.low < narrow.low < x.mean() < narrow.high < wide.high
    monkeypatch.setattr("qdrank.evaluation.intervals._BLOCK", 333)
    assert bootstrap_interval(x, seed=1) == wide


def test_an_interval_of_equal_values_is_that_value():
    interval = bootstrap_interval(np.full(9, 0.25), seed=0)
    assert (interval.low, interval.high) == (0.25, 0.25)


@pytest.mark.parametrize(("values", "level"), [([1.0], 0.95), ([1.0, np.nan], 0.95), ([1.0, 2.0], 1.5)])
def test_an_interval_refuses_what_makes_no_sense(values, level):
    with pytest.raises(InputError):
        bootstrap_interval(values, seed=0, level=level)


# --- power -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [5, 60, 784, 1692])
def test_power_equals_that_of_the_noncentral_t(n):
    critical, shift = stats.t.ppf(0.975, n - 1), 0.1 * np.sqrt(n)
    expected = stats.nct.sf(critical, n - 1, shift) + stats.nct.cdf(-critical, n - 1, shift)
    assert power(0.1, deviation=1.0, n=n) == pytest.approx(expected, rel=1e-9)
    found = detectable_difference(deviation=1.0, n=n)
    assert power(found, deviation=1.0, n=n) == pytest.approx(0.8, abs=1e-9)


def test_power_at_the_edges():
    assert detectable_difference(deviation=1.0, n=1) == np.inf
    assert detectable_difference(deviation=0.0, n=9) == 0
    assert power(0.0, deviation=1.0, n=20) == pytest.approx(0.05)
    assert power(0.1, deviation=0.0, n=20) == 1
    with pytest.raises(InputError):
        power(0.1, deviation=-1.0, n=20)
    with pytest.raises(InputError):
        detectable_difference(deviation=1.0, n=20, wanted=0.01)


def test_a_comparison_says_everything():
    pairs = drawn(120, 9)
    result = compare(pairs, seed=0, resamples=500)
    assert result.difference == pytest.approx(pairs.a.mean() - pairs.b.mean())
    assert result.interval.low < result.difference < result.interval.high
    assert result.detectable > 0


def test_a_verdict_of_nothing_found_says_what_would_have_been():
    null, found = compare(drawn(80, 1, effect=0.0), seed=0), compare(drawn(80, 1, effect=-0.2), seed=0)
    assert null.verdict() == (
        f"not significant (p = {null.t.p:.2g}); smallest detectable difference (power 0.8): {null.detectable:.4f}"
    )
    assert found.verdict().startswith(f"worse by {-found.difference:.4f}")
    assert found.verdict(p=0.2).startswith("not significant (p = 0.2)")


def test_a_comparison_of_next_to_nothing_has_no_interval_and_no_verdict():
    few = compare(drawn(50, 1, effect=-0.2), seed=0)
    assert few.verdict() == "cannot tell: too few queries: 50, and 60 are needed at this level"
    assert np.isnan([few.interval.low, few.interval.high]).all()


def test_a_difference_that_the_bootstrap_does_not_find_is_not_told(monkeypatch):
    found = compare(drawn(80, 1, effect=-0.2), seed=0)
    assert found.verdict().startswith("worse")
    assert found.boot == guarded(drawn(80, 1, effect=-0.2), 0.05)[1]
    monkeypatch.setattr(Comparison, "boot", (-0.3, 0.1))
    assert compare(drawn(80, 1, effect=-0.2), seed=0).verdict().startswith("cannot tell: the t test finds a difference")


def test_what_could_be_found_is_at_the_level_left_to_one_of_a_family():
    pairs = drawn(60, 2)
    alone, six = compare(pairs, seed=0), compare(pairs, seed=0, family=6)
    assert six.detectable == pytest.approx(
        detectable_difference(deviation=float(pairs.differences.std(ddof=1)), n=60, alpha=0.05 / 6)
    )
    assert six.detectable > 1.2 * alone.detectable
    found = power(alone.detectable, deviation=float(pairs.differences.std(ddof=1)), n=60, alpha=0.05 / 6)
    assert found < 0.6


def measures(values: dict[str, dict[str, float]], seed: int = 0) -> pd.DataFrame:
    rows = [
        {"fold": "f" + q[-1], "method": m, "query_id": q, "ap": v} for m, of in values.items() for q, v in of.items()
    ]
    return pd.DataFrame(rows).sample(frac=1, random_state=seed)


VALUES = {"a": {"q10": 0.5, "q2": 0.25, "q9": 1.0}, "b": {"q2": 0.75, "q9": 0.0, "q10": 0.5}}


@pytest.mark.parametrize("seed", range(3))
def test_methods_are_paired_by_query_and_never_by_place(seed):
    paired = pairs(measures(VALUES, seed), "a", "b", "ap")
    assert paired.query.tolist() == ["q10", "q2", "q9"]
    assert paired.differences.tolist() == [0.0, -0.5, 1.0]
    assert (paired.a.tolist(), paired.b.tolist()) == ([0.5, 0.25, 1.0], [0.5, 0.75, 0.0])


def holm_by_hand(p: list[float]) -> list[float]:
    adjusted, largest = [0.0] * len(p), 0.0
    for step, i in enumerate(sorted(range(len(p)), key=lambda i: p[i])):
        largest = max(largest, min(1.0, (len(p) - step) * p[i]))
        adjusted[i] = largest
    return adjusted


def run(name: str, values: np.ndarray) -> MeasuredRun:
    ids = np.array([f"q{i:02}" for i in range(len(values))])
    return MeasuredRun(name, "", "", ids, {"ap": values, "rr": values**2}, 0, 0, 0, {})


def test_every_other_run_is_compared_with_the_baseline():
    rng = np.random.default_rng(5)
    base, *others = (run(name, rng.random(20)) for name in ("base", "one", "two"))
    made = differences([others[0], base, others[1]], base, ["ap", "rr"])
    assert [(one.run, one.measure) for one in made] == [(r, m) for r in ("one", "two") for m in ("ap", "rr")]
    of = {other.name: other for other in others}
    p = [stats.ttest_rel(of[one.run].values[one.measure], base.values[one.measure]).pvalue for one in made]
    np.testing.assert_allclose([one.p for one in made], holm_by_hand(p), rtol=1e-8)
    apart = [float((of[one.run].values[one.measure] - base.values[one.measure]).mean()) for one in made]
    np.testing.assert_allclose([one.comparison.difference for one in made], apart, atol=1e-12)


def test_error_bars_reach_the_ends_and_never_below_zero():
    assert error_bars([1.0, 2.0], [0.5, 2.5], [1.5, 2.0]).tolist() == [[0.5, 0.0], [0.5, 0.0]]


@given(st.integers(2, 5), st.integers(0, 2**32 - 1))
@settings(max_examples=10)
def test_p_values_are_corrected_together_in_the_order_given(n, seed):
    rng = np.random.default_rng(seed)
    ids = np.array([f"q{i:02}" for i in range(12)])
    pairs = [Pairs(ids, rng.random(12) + 0.1 * i, rng.random(12)) for i in range(n)]
    made = [compare(one, seed=1, resamples=50, family=n) for one in pairs]
    p = [stats.ttest_rel(one.a, one.b).pvalue for one in pairs]
    np.testing.assert_allclose(corrected_p(made), holm_by_hand(p), rtol=1e-8)
    columns = made[0].columns(0.03)
    assert (columns["queries"], columns["p (Holm)"]) == (12, 0.03)
    assert columns["difference"] == pytest.approx((pairs[0].a - pairs[0].b).mean())


def test_the_formulas_by_hand():
    d, group = np.array([0.1, 0.3, 0.9, 0.7, 0.8, -0.2]), ["a", "a", "b", "b", "b", "c"]
    n, mean = np.array([2, 3, 1]), np.array([0.2, 0.8, -0.2])
    s2 = (2 * 0.1**2 + 0.1**2 + 0.1**2) / (1 + 2)
    v = s2 / n
    m = (mean / v).sum() / (1 / v).sum()
    Q = ((mean - m) ** 2 / v).sum()
    tau2 = (Q - 2) / ((1 / v).sum() - (1 / v**2).sum() / (1 / v).sum())
    mu = (mean / (v + tau2)).sum() / (1 / (v + tau2)).sum()
    w = tau2 / (tau2 + v)
    made = by_group(d, group)
    assert between_groups(mean, v) == pytest.approx(tau2)
    assert [one.group for one in made] == ["a", "b", "c"]
    assert [one.n for one in made] == [2, 3, 1]
    assert [one.raw for one in made] == pytest.approx(mean)
    assert [one.shrunk for one in made] == pytest.approx(mu + w * (mean - mu))
    assert all(one.low < one.shrunk < one.high for one in made)


def test_random_groups_give_nothing():
    """40 groups that mean nothing, of skewed, often zero differences: the chance that any is named stays below .05."""
    rng, named = np.random.default_rng(0), 0
    for _ in range(300):
        d = np.where(rng.random(400) < 0.4, 0.0, rng.exponential(0.2, 400) * rng.choice([-1, 1], 400))
        named += any(one.differs for one in by_group(d, rng.integers(0, 40, 400).astype(str)))
    assert named <= 15


def test_small_groups_are_drawn_to_the_whole_and_a_real_one_is_found():
    rng = np.random.default_rng(1)
    group = np.repeat([f"g{i:02}" for i in range(20)], 20)
    d = rng.normal(0, 0.2, 400)
    d[group == "g07"] += 0.4
    made = {one.group: one for one in by_group(d, group)}
    assert [name for name, one in made.items() if one.differs] == ["g07"]
    whole = np.mean([one.shrunk for one in made.values()])
    lonely = by_group(np.append(d, 0.9), [*group, "one"])
    (one,) = (g for g in lonely if g.group == "one")
    assert not one.differs
    assert abs(one.shrunk - whole) < 0.3 * abs(one.raw - whole)


def test_groups_from_a_file(tmp_path):
    (tmp_path / "groups").write_text("1 easy\n2 hard\n")
    groups = read_groups(tmp_path / "groups")
    assert groups_of(["2", "1"], groups, "groups") == ["hard", "easy"]
    with pytest.raises(InputError, match="1 queries have no group"):
        groups_of(["2", "3"], groups, "groups")
    (tmp_path / "groups").write_text("1 easy\n2 hard\n1 hard\n")
    with pytest.raises(InputError, match="line 3: query 1 comes again"):
        read_groups(tmp_path / "groups")
    with pytest.raises(InputError, match="cannot be compared"):
        by_group(np.array([1.0, 2.0]), ["a", "a"])


@pytest.mark.parametrize("difference", [0.003, 0.05, -0.2])
def test_the_queries_needed_are_the_fewest(difference):
    n = queries_needed(difference, deviation=0.15)
    assert power(difference, deviation=0.15, n=n) >= 0.8
    assert n == 2 or power(difference, deviation=0.15, n=n - 1) < 0.8
    assert queries_needed(0.0, deviation=0.1) is None
    assert queries_needed(0.1, deviation=0.0) == 2
    assert queries_needed(1e-7, deviation=1.0) is None

"""Several fits of a method: the formula by hand, its coverage, and the way of the values through observations and verdicts."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from qdrank.errors import InputError
from qdrank.evaluation.comparison import compare
from qdrank.evaluation.deciding import decide
from qdrank.evaluation.declared import UNCLEAR, Claim, Declaration, Rules
from qdrank.evaluation.estimates import (
    column_ends,
    doubt,
    over_queries,
    over_refits,
    over_these_seeds,
    shown_mean,
    table_ends,
)
from qdrank.evaluation.values import Pairs, Values, cube, difference, load_observations, observations_table, pairs
from qdrank.evaluation.verdicts import decide_by_estimates
from qdrank.figures.method_tables import spread_of_fits
from qdrank.store import read, write


def drawn(rng, n, fits, *, query=0.1, fit=0.0, rest=0.05, mean=0.0):
    """Values of crossed random effects, (n, fits)."""
    return mean + rng.normal(0, query, (n, 1)) + rng.normal(0, fit, (1, fits)) + rng.normal(0, rest, (n, fits))


def test_the_error_by_hand():
    values = np.array([[0.1, 0.2, 0.3], [0.0, 0.2, 0.1], [0.4, 0.3, 0.5], [0.1, 0.1, 0.4]])
    found = over_refits(values)
    queries = [sum(row) / 3 for row in values.tolist()]
    fits = [sum(column) / 4 for column in values.T.tolist()]
    variance = [sum((x - sum(of) / len(of)) ** 2 for x in of) / (len(of) - 1) / len(of) for of in (queries, fits)]
    assert found.mean == pytest.approx(values.mean())
    assert found.error == pytest.approx(sum(variance) ** 0.5)
    assert found.df == pytest.approx(sum(variance) ** 2 / (variance[0] ** 2 / 3 + variance[1] ** 2 / 2))
    assert (found.fits, found.fit_spread) == (3, pytest.approx((variance[1] * 3) ** 0.5))


def test_one_fit_is_the_mean_over_queries():
    x = np.random.default_rng(0).normal(size=30)
    assert over_refits(x[:, None]) == over_queries(x)


@pytest.mark.parametrize("fit", [0.0, 0.01, 0.05])
@pytest.mark.parametrize("level", [0.05, 0.05 / 6])
def test_coverage(fit, level):
    """Of the method's mean over all fits, whether fits differ not at all, as much as the queries' error, or far more."""
    rng, runs = np.random.default_rng(7), 2000
    inside = np.zeros(2)
    for _ in range(runs):
        found = over_refits(drawn(rng, 100, 5, fit=fit))
        low, high = found.interval(level)
        queries = over_queries(drawn(rng, 100, 1, fit=fit)[:, 0])
        inside += low <= 0 <= high, abs(queries.mean) <= queries.interval(level)[1] - queries.mean
    several, one = inside / runs
    assert several >= 1 - 1.5 * level - 3 * np.sqrt(level / runs)
    assert several <= 1 - 0.02 * level
    if fit >= 0.01:
        assert one < 1 - 1.5 * level  # an interval from one fit misses too often


def test_the_bootstrap_is_widened_too():
    values = drawn(np.random.default_rng(1), 100, 5, fit=0.05)
    whole, queries = over_refits(values), over_queries(values.mean(axis=1))
    (low, high), (inner_low, inner_high) = whole.bootstrap(0.05), queries.bootstrap(0.05)
    part_of_fits = 2.776 * whole.fit_spread / np.sqrt(5)
    assert whole.mean - low == pytest.approx(np.hypot(whole.mean - inner_low, part_of_fits), rel=1e-3)
    assert high - whole.mean == pytest.approx(np.hypot(inner_high - whole.mean, part_of_fits), rel=1e-3)


def test_two_settings_that_one_fit_each_puts_on_opposite_sides_cannot_be_told_apart():
    """Two fits, -.02 and +.02 away from no difference: each alone excludes 0, on opposite sides; together they do not."""
    rng = np.random.default_rng(2)
    values = (
        rng.normal(0, 0.05, (120, 1)) + np.array([[-0.02, 0.02, -0.018, 0.021, 0.002]]) + rng.normal(0, 0.01, (120, 5))
    )
    assert over_queries(values[:, 0]).interval(0.05)[1] < 0 < over_queries(values[:, 1]).interval(0.05)[0]
    low, high = over_refits(values).interval(0.05)
    assert low < 0 < high


def test_seeds_with_fits():
    rng = np.random.default_rng(3)
    seeds = [drawn(rng, 80, 4, fit=0.02), drawn(rng, 60, 4, fit=0.02)]
    found, each = over_these_seeds(seeds), [over_refits(values) for values in seeds]
    assert found.error == pytest.approx(np.hypot(each[0].error, each[1].error) / 2)
    assert (found.fits, found.n) == (4, 140)


def test_fits_go_through_observations_and_the_row_has_their_spread(tmp_path):
    values = drawn(np.random.default_rng(4), 100, 5, fit=0.05, mean=0.02).round(6)
    ids = [f"q{i:02}" for i in range(100)]
    own = {"gain": {"difference": Values(values, ids, "fold1")}}
    write(tmp_path / "observations.parquet", "observations", observations_table(own))
    again = load_observations(read(tmp_path / "observations.parquet", "observations"))
    np.testing.assert_allclose(again["gain"]["difference"].value, values, rtol=1e-6)
    asked = Claim(name="gain", text="t", expected="e", kind="superiority", margin=0.005)
    declaration = Declaration(study="toy", paper="Toy", claims=(asked,))
    row = decide(declaration, {"toy": again}, dataset="toy").to_pylist()[0]
    found = over_refits(values)
    assert (row["n"], row["fits"], row["fit_spread"]) == (100, 5, pytest.approx(found.fit_spread, rel=1e-5))
    assert (row["low"], row["high"]) == pytest.approx(found.interval(Rules().alpha), rel=1e-5)
    once = {"gain": {"difference": Values(values[:, 0], ids)}}
    assert decide(declaration, {"toy": once}, dataset="toy").to_pylist()[0]["fit_spread"] is None


def test_values_are_joined_on_queries_and_fits():
    rows = pa.table(
        {
            "method": [""] * 4,
            "measure": [""] * 4,
            "claim": ["c"] * 4,
            "contrast": ["d"] * 4,
            "fold": ["f"] * 4,
            "query_id": ["b", "a", "a", "b"],
            "fit": [1, 0, 1, 0],
            "value": [4.0, 1.0, 2.0, 3.0],
        }
    )
    found = load_observations(rows)["c"]["d"]
    assert found.query_id.tolist() == ["b", "a"]
    assert found.value.tolist() == [[3, 4], [1, 2]]
    with pytest.raises(InputError, match="a query has fewer fits"):
        load_observations(rows.slice(0, 3))


def measured(**methods):
    """The artifact ``measures`` with values (n_queries, n_fits) of each method, rows in no order."""
    rows = [
        {"fold": f"fold{q % 2}", "method": name, "fit": fit, "query_id": f"q{q:03d}", "ap": float(value)}
        for name, values in methods.items()
        for (q, fit), value in np.ndenumerate(values)
    ]
    return pd.DataFrame(rows).sample(frac=1, random_state=0)


def test_measures_of_several_fits_are_joined_on_queries_and_fits():
    rng = np.random.default_rng(5)
    trees, single = rng.random((30, 3)), rng.random((30, 1))
    measures = measured(trees=trees, single=single)
    groups, ids, values = cube(measures, ["method"], "ap")
    assert ids.tolist() == [f"q{i:03d}" for i in range(30)]
    of = dict(zip(groups["method"], np.moveaxis(values, 2, 0), strict=True))
    np.testing.assert_array_equal(of["trees"], trees)
    np.testing.assert_array_equal(of["single"], np.repeat(single, 3, axis=1))
    assert (pairs(measures, "single", "single", "ap").differences == 0).all()
    apart = difference(measures, "trees", "single", "ap")
    np.testing.assert_allclose(apart.value, trees - single, atol=1e-12)
    assert apart.fold[:6].tolist() == ["fold0", "fold1"] * 3
    spread = spread_of_fits(measures, "ap")
    assert spread["fits"].to_dict() == {"trees": 3, "single": 1}
    assert spread["spread of fits"].dropna().to_dict() == {"trees": pytest.approx(trees.mean(0).std(ddof=1))}


def test_fits_that_cannot_be_joined_are_refused():
    values = np.zeros((4, 3))
    with pytest.raises(InputError, match="b: 2 fits, others have 3"):
        cube(measured(a=values, b=values[:, :2]), ["method"], "ap")
    with pytest.raises(InputError, match="not measured on the same queries"):
        cube(measured(a=values).iloc[1:], ["method"], "ap")


def test_rankers_are_paired_by_fit_and_one_fit_serves_all():
    once, often = np.array([[0.5], [0.25]]), np.array([[0.1, 0.3], [0.2, 0.4]])
    apart = pairs(measured(once=once, often=often), "once", "often", "ap")
    np.testing.assert_allclose(apart.by_fit, [[0.4, 0.2], [0.05, -0.15]])
    np.testing.assert_allclose(apart.differences, [0.3, -0.05])


def test_tables_and_figures_widen_their_intervals_by_the_fits():
    options = {"level": 0.95, "resamples": 500, "seed": 1}
    trees, single = drawn(np.random.default_rng(6), 80, 5, fit=0.05, mean=0.04), np.zeros((80, 1))
    both = pairs(measured(trees=trees, single=single), "trees", "single", "ap")
    several, once = compare(both, **options), compare(Pairs(both.query, both.a, both.b), **options)
    estimate = over_refits(trees)
    assert (several.fits, several.fit_spread) == (5, pytest.approx(estimate.fit_spread))
    assert several.t.statistic == pytest.approx(estimate.mean / estimate.error)
    assert several.t.p > 3 * once.t.p
    assert several.detectable > once.detectable
    moved = 2.776 * estimate.fit_spread / np.sqrt(5)
    for found in (several.interval.high, table_ends(trees, **options)[1]):
        assert found - estimate.mean == pytest.approx(np.hypot(once.interval.high - estimate.mean, moved), rel=1e-3)
    wide, narrow = (column_ends(x[:, :, None], **options) for x in (trees, trees.mean(axis=1, keepdims=True)))
    assert wide[1][0] - estimate.mean == pytest.approx(np.hypot(narrow[1][0] - estimate.mean, moved), rel=1e-3)


SPARSE = np.r_[np.ones(5), np.zeros(95)][:, None]
LEFT = np.r_[np.ones(88), -np.linspace(1, 7, 12)][:, None]


@pytest.mark.parametrize(
    ("values", "why"),
    [
        (np.linspace(0, 1, 40)[:, None], "too few queries: 40, and 60 are needed at this level"),
        (np.ones((100, 2)), "no spread: all 100 values are equal"),
        (SPARSE, "too few queries differ: about 5 of 100 carry the result, and 10 must"),
        (LEFT, "Student's interval excludes 0, the studentised bootstrap's does not"),
        (np.linspace(0, 1, 100)[:, None], ""),
        (np.linspace(-1, 1.1, 100)[:, None], ""),
    ],
)
def test_pictures_and_tables_have_the_guard_of_claims(values, why):
    assert doubt(values, 0.05) == why
    claim = Claim(name="c", text="c", expected="", kind="superiority", margin=1e-9)
    told = decide_by_estimates(claim, {"difference": over_refits(values)}, size=1, rules=Rules())
    assert (told.verdict == UNCLEAR) == (bool(why) or values.min() == -1)
    shown = shown_mean(values, level=0.95, resamples=200, seed=1)
    assert shown["lacks"] == why
    assert bool(np.isnan(shown["low"])) == why.startswith(("too few", "no spread"))


def test_columns_that_lack_what_an_interval_needs_have_none():
    values = np.stack([np.linspace(0, 1, 100), SPARSE[:, 0], np.ones(100)], axis=1)
    for ends in column_ends(values[:, None], level=0.95, resamples=200, seed=1):
        assert np.isnan(ends).tolist() == [False, True, True]
    assert np.isnan(column_ends(values[:40, None], level=0.95, resamples=200, seed=1)).all()


def test_wrong_verdicts_from_measures_to_claims():
    """No true difference, fits that differ as much as the error of the queries: a wrong verdict at most at its level.

    One fit alone is wrong several times as often: its interval does not know of the other fits.
    """
    rng, runs = np.random.default_rng(8), 150
    asked = Claim(name="gain", text="t", expected="e", kind="superiority", margin=0.0)
    declaration = Declaration(study="toy", paper="Toy", claims=(asked,))
    wrong = np.zeros(2)
    for _ in range(runs):
        trees = drawn(rng, 60, 5, query=0.1, fit=0.02)
        for i, values in enumerate((trees, trees[:, :1])):
            part_of = difference(measured(trees=values, single=np.zeros((60, 1))), "trees", "single", "ap")
            (row,) = decide(declaration, {"toy": {"gain": {"difference": part_of}}}, dataset="toy").to_pylist()
            wrong[i] += row["low"] > 0 or row["high"] < 0
    assert wrong[0] / runs <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / runs)
    assert wrong[1] / runs > 0.15

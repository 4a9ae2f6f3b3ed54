"""Several fits of a method: the formula by hand, its coverage, and the way of the values through evidence and verdicts."""

from __future__ import annotations

import numpy as np
import pytest

from qdrank.errors import InputError
from qdrank.evaluation.declared import Claim, Declaration, Rules
from qdrank.evaluation.estimates import over_queries
from qdrank.evaluation.evidence import evidence_table, load_evidence, part, refitted
from qdrank.evaluation.judging import judge
from qdrank.evaluation.refits import by_fit, jittered, over_refits, over_these_seeds
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


def test_fits_go_through_evidence_and_the_row_has_their_spread(tmp_path):
    values = drawn(np.random.default_rng(4), 100, 5, fit=0.05, mean=0.02)
    ids = [f"q{i}" for i in range(100)]
    own = {"gain": {"difference": refitted(values, ids, "fold1")}}
    write(tmp_path / "evidence.parquet", "evidence", evidence_table(own))
    again = load_evidence(read(tmp_path / "evidence.parquet", "evidence"))
    np.testing.assert_array_equal(again["gain"]["difference"].by_fit, values)
    asked = Claim(name="gain", text="t", expected="e", kind="superiority", margin=0.005)
    declaration = Declaration(study="toy", paper="Toy", claims=(asked,))
    row = judge(declaration, {"toy": again}, dataset="toy").to_pylist()[0]
    found = over_refits(values)
    assert (row["n"], row["fits"], row["fit_spread"]) == (100, 5, pytest.approx(found.fit_spread))
    assert (row["low"], row["high"]) == pytest.approx(found.interval(Rules().alpha))
    once = {"gain": {"difference": part(values[:, 0], ids)}}
    assert judge(declaration, {"toy": once}, dataset="toy").to_pylist()[0]["fit_spread"] is None


def test_values_are_joined_on_queries_and_fits():
    query, fit = np.array(["b", "a", "a", "b"], dtype=object), np.array([1, 0, 1, 0])
    names, table = by_fit(query, fit, np.array([4.0, 1.0, 2.0, 3.0]))
    assert names.tolist() == ["b", "a"]
    assert table.tolist() == [[3, 4], [1, 2]]
    with pytest.raises(InputError, match="query b has 0 values of fit 0"):
        by_fit(query[:3], fit[:3], np.zeros(3))


def test_targets_are_moved_by_one_percent_of_their_deviation():
    y = np.repeat([0.0, 1.0, 2.0], 2000)
    np.testing.assert_array_equal(jittered(y, fit=0, seed=1), y)
    moved = jittered(y, fit=1, seed=1) - y
    assert moved.std() == pytest.approx(0.01 * y.std(), rel=0.05)
    assert not np.array_equal(jittered(y, fit=2, seed=1) - y, moved)
    np.testing.assert_array_equal(jittered(y, fit=1, seed=1) - y, moved)

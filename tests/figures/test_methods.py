import numpy as np
import pyarrow as pa
import pytest

from qdrank.evaluation.declared import HOLDS, UNCLEAR
from qdrank.figures.methods import BETTER, LEAD, REASON, methods_table
from qdrank.store import table_of

INTERVAL = {"level": 0.95, "resamples": 200, "seed": 1}


def measured(n: int, fits: int = 1) -> pa.Table:
    """Two methods on ``n`` queries; the second is better by 0.1 in average precision, and worse in NDCG."""
    rng = np.random.default_rng(0)
    ap = rng.random(n) * 0.5
    rows = [
        {
            "fold": "fold1",
            "method": method,
            "fit": fit,
            "query_id": f"q{i:03d}",
            "ap": ap[i] + gain,
            "ndcg@10/geng": ndcg,
        }
        for method, gain, ndcg, of_method in (("a", 0.0, 0.4, 1), ("b", 0.1, 0.3, fits))
        for fit in range(of_method)
        for i in range(n)
    ]
    return pa.Table.from_pylist(rows)


def test_the_best_method_comes_first_under_its_label() -> None:
    table = methods_table(measured(80), {"b": "Method B"}, "geng", INTERVAL)
    best, other = table_of(table).to_pylist()
    assert (best["method"], best["label"], other["label"]) == ("b", "Method B", "a")
    assert best["MAP"] - other["MAP"] == pytest.approx(0.1)
    assert (best["NDCG@10/geng"], other["NDCG@10/geng"]) == (pytest.approx(0.3), pytest.approx(0.4))
    assert best["queries"] == 80
    assert best["MAP, low"] < best["MAP"] < best["MAP, high"]


def test_equal_values_and_few_queries_have_no_interval() -> None:
    assert {
        row["NDCG@10/geng, low"] for row in methods_table(measured(80), {}, "geng", INTERVAL).pipe(table_of).to_pylist()
    } == {None}
    assert {
        row["MAP, high"] for row in methods_table(measured(5), {}, "geng", INTERVAL).pipe(table_of).to_pylist()
    } == {None}


def test_a_method_fitted_several_times_counts_each_query_once() -> None:
    best, other = methods_table(measured(80, fits=3), {}, "geng", INTERVAL).pipe(table_of).to_pylist()
    assert best["queries"] == other["queries"] == 80
    assert best["MAP"] - other["MAP"] == pytest.approx(0.1)


def noisy(rng: np.random.Generator, gains: dict[str, float], n: int) -> pa.Table:
    """Methods whose average precisions differ by gains, and by noise of their own on every query."""
    ids, first = [f"q{i:03d}" for i in range(n)], rng.random(n) * 0.5
    tables = [
        {"fold": ["fold1"] * n, "method": [name] * n, "fit": [0] * n, "query_id": ids, "ap": ap, "ndcg@10/exp": ap}
        for name, gain in gains.items()
        for ap in [first + gain + rng.normal(0, 0.05, n)]
    ]
    return pa.concat_tables(map(pa.table, tables))


def test_the_lead_of_the_best_over_every_other_method_is_decided() -> None:
    gains = {"far": 0.0, "near": 0.1, "best": 0.104}
    best, near, far = (
        methods_table(noisy(np.random.default_rng(4), gains, 200), {}, "exp", INTERVAL).pipe(table_of).to_pylist()
    )
    assert (best["method"], best[LEAD], best[BETTER]) == ("best", None, None)
    assert (near["method"], near[BETTER]) == ("near", UNCLEAR)
    assert near[f"{LEAD}, low"] < 0 < near[f"{LEAD}, high"]
    assert (far["method"], far[BETTER]) == ("far", HOLDS)
    assert far[LEAD] == pytest.approx(best["MAP"] - far["MAP"])


def test_too_few_queries_to_tell_the_best_are_named() -> None:
    few = (
        methods_table(noisy(np.random.default_rng(1), {"a": 0.0, "b": 0.3}, 20), {}, "exp", INTERVAL)
        .pipe(table_of)
        .to_pylist()
    )
    assert (few[1][BETTER], few[1][f"{LEAD}, low"]) == (UNCLEAR, None)
    assert "too few queries: 20" in few[1][REASON]


def test_the_truly_best_is_rarely_shown_to_be_behind_though_the_first_was_chosen() -> None:
    """Ten equal methods: without the correction each would be behind the first in one of seven worlds."""
    rng, equal = np.random.default_rng(7), {f"m{i}": 0.0 for i in range(10)}
    told = [
        row[BETTER] == HOLDS
        for _ in range(30)
        for row in methods_table(noisy(rng, equal, 120), {}, "exp", INTERVAL | {"resamples": 100}).to_dict("records")
    ]
    assert np.mean(told) < 0.05

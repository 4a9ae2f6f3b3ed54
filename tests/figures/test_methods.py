from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from qdrank.figures.methods import methods_table

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
    best, other = table.to_pylist()
    assert (best["method"], best["label"], other["label"]) == ("b", "Method B", "a")
    assert best["MAP"] - other["MAP"] == pytest.approx(0.1)
    assert (best["NDCG@10"], other["NDCG@10"]) == (pytest.approx(0.3), pytest.approx(0.4))
    assert best["queries"] == 80
    assert best["MAP, low"] < best["MAP"] < best["MAP, high"]


def test_equal_values_and_few_queries_have_no_interval() -> None:
    assert {row["NDCG@10, low"] for row in methods_table(measured(80), {}, "geng", INTERVAL).to_pylist()} == {None}
    assert {row["MAP, high"] for row in methods_table(measured(5), {}, "geng", INTERVAL).to_pylist()} == {None}


def test_a_method_fitted_several_times_counts_each_query_once() -> None:
    best, other = methods_table(measured(80, fits=3), {}, "geng", INTERVAL).to_pylist()
    assert best["queries"] == other["queries"] == 80
    assert best["MAP"] - other["MAP"] == pytest.approx(0.1)

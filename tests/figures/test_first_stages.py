import numpy as np
import pyarrow as pa
import pytest

from qdrank.evaluation.comparison import compare
from qdrank.evaluation.values import pairs
from qdrank.figures.methods import first_stages_table, methods_table

INTERVAL = {"level": 0.95, "resamples": 200, "seed": 1}
LABELS = {"reference": "first stage", "rm3": "RM3", "ranksvm": "RankSVM"}


def made_measures(seed: int, fits: int = 1) -> pa.Table:
    """Eighty queries; RM3 is .05 above the first stage, and RankSVM, fitted several times, differs from fit to fit."""
    rng = np.random.default_rng(seed)
    first, noise = rng.uniform(0.2, 0.6, 80), rng.normal(0, 0.02, 80)
    tables = []
    for method in LABELS:
        for fit in range(fits if method == "ranksvm" else 1):
            ap = first + {"reference": 0, "rm3": 0.05, "ranksvm": 0.02 * fit}[method] + noise * (method != "reference")
            columns = {"fold": ["fold1"] * 80, "method": [method] * 80, "query_id": [f"q{i}" for i in range(80)]}
            tables.append(pa.table(columns | {"fit": np.full(80, fit), "ap": ap, "ndcg@10/exp": ap / 2}))
    return pa.concat_tables(tables)


def test_methods_by_falling_map_with_their_intervals():
    rows = methods_table(made_measures(1, fits=3), LABELS, "exp", INTERVAL).to_dict("records")
    assert [row["method"] for row in rows] == ["rm3", "ranksvm", "reference"]
    assert all(row["MAP, low"] < row["MAP"] < row["MAP, high"] for row in rows)
    assert rows[0]["NDCG@10/exp"] == pytest.approx(rows[0]["MAP"] / 2)
    alone = {row["method"]: row for row in methods_table(made_measures(1), LABELS, "exp", INTERVAL).to_dict("records")}
    width = {name: row["MAP, high"] - row["MAP, low"] for name, row in alone.items()}
    assert rows[1]["MAP, high"] - rows[1]["MAP, low"] > width["ranksvm"]  # the spread of the fits is in it


def test_first_stages_of_all_text_sets():
    sets = {"One": made_measures(1), "Two": made_measures(2)}
    table = first_stages_table({name: one.to_pandas() for name, one in sets.items()}, LABELS, "exp", 100, INTERVAL)
    rows = table.to_dict("records")
    assert [(row["data set"], row["method"]) for row in rows] == [(s, m) for s in sets for m in LABELS.values()]
    assert {row["candidates"] for row in rows} == {100}
    assert np.isnan(rows[0]["MAP from the first stage"])
    for i, one in enumerate(sets.values()):
        expected, row = compare(pairs(one.to_pandas(), "rm3", "reference", "ap"), **INTERVAL), rows[3 * i + 1]
        assert row["MAP from the first stage"] == pytest.approx(expected.difference)
        assert row["MAP from the first stage, low"] == pytest.approx(expected.interval.low)

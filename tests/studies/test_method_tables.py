from __future__ import annotations

import pyarrow as pa
import pytest

from qdrank.studies.method_tables import folds_table, measured_methods, methods_table
from qdrank.studies.study import Method

METHODS = {name: Method(name, name.upper(), "black", "o") for name in ("c", "b", "a")}
VALUES = {"a": [0.1, 0.2, 0.6, 0.7], "b": [0.2, 0.3, 0.8, 0.9]}


def measures() -> pa.Table:
    rows = [
        {"fold": f"fold{i // 3 + 1}", "method": method, "query_id": f"q{i}", "ap": value, "p": 1 - value}
        for method, values in VALUES.items()
        for i, value in enumerate(values)
    ]
    return pa.Table.from_pylist(rows)


def test_methods_are_in_the_order_of_the_study_without_those_not_run() -> None:
    assert measured_methods(measures(), METHODS) == ["b", "a"]


def test_methods_have_means_a_difference_and_their_settings() -> None:
    choices = pa.Table.from_pylist(
        [
            {"method": "b", "setting": "k=3", "chosen": True},
            {"method": "b", "setting": "k=5", "chosen": False},
            {"method": "b", "setting": "k=9", "chosen": True},
        ]
    )
    interval = {"level": 0.95, "resamples": 100, "seed": 1}
    table = methods_table(
        measures(), METHODS, ["ap", "not measured"], [choices], against="a", by="ap", interval=interval
    )
    b, a = table.to_pylist()
    assert (b["method"], b["ap"], a["ap"]) == ("B", pytest.approx(0.55), pytest.approx(0.4))
    assert b["difference from A"] == pytest.approx(0.15)
    assert (a["difference from A"], a["settings by fold"]) == (0, "")
    assert b["settings by fold"] == "k=3; k=9"
    assert "not measured" not in table.column_names


def test_folds_weigh_alike_whatever_their_size() -> None:
    b, a = folds_table(measures(), METHODS, ["ap"]).to_pylist()
    assert list(b) == ["method", "fold1", "fold2", "mean of folds", "all queries"]
    assert (a["fold1"], a["fold2"]) == (pytest.approx(0.3), pytest.approx(0.7))
    assert (a["mean of folds"], a["all queries"]) == (pytest.approx(0.5), pytest.approx(0.4))
    both = folds_table(measures(), METHODS, ["ap", "p"]).to_pylist()
    assert [(row["measure"], row["method"]) for row in both] == [("ap", "B"), ("ap", "A"), ("p", "B"), ("p", "A")]

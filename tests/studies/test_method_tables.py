from __future__ import annotations

import numpy as np
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


def test_a_verdict_is_corrected_over_the_table() -> None:
    """A method that alone is better with p = .02 is not, as one of seven; one that is far better still is."""
    noise = np.random.default_rng(1).normal(0, 0.1, (7, 200))
    noise -= noise.mean(axis=1, keepdims=True)
    shifts = [0.0, 2.34 * noise[1].std(ddof=1) / np.sqrt(200), 0.1, 0.0, 0.0, 0.0, 0.0]
    values = {"a": np.zeros(200)} | {f"m{i}": noise[i] + shifts[i] for i in range(7)}
    table = pa.concat_tables(
        pa.table({"fold": ["fold1"] * 200, "method": [name] * 200, "query_id": [f"q{i}" for i in range(200)], "ap": v})
        for name, v in values.items()
    )

    def verdicts(names: list[str]) -> dict[str, str]:
        methods = {name: Method(name, name, "black", "o") for name in names}
        interval = {"level": 0.95, "resamples": 100, "seed": 1}
        rows = methods_table(table, methods, ["ap"], [], against="a", by="ap", interval=interval).to_pylist()
        return {row["method"]: row["verdict"] for row in rows}

    assert verdicts(["a", "m1"])["m1"].startswith("better")
    together = verdicts(list(values))
    assert together["m1"].startswith("not significant")
    assert together["m2"].startswith("better")
    assert together["a"] == ""


def test_folds_weigh_alike_whatever_their_size() -> None:
    b, a = folds_table(measures(), METHODS, ["ap"]).to_pylist()
    assert list(b) == ["method", "fold1", "fold2", "mean of folds", "all queries"]
    assert (a["fold1"], a["fold2"]) == (pytest.approx(0.3), pytest.approx(0.7))
    assert (a["mean of folds"], a["all queries"]) == (pytest.approx(0.5), pytest.approx(0.4))
    both = folds_table(measures(), METHODS, ["ap", "p"]).to_pylist()
    assert [(row["measure"], row["method"]) for row in both] == [("ap", "B"), ("ap", "A"), ("p", "B"), ("p", "A")]

import numpy as np
import pandas as pd
import pytest

from qdrank.figures.method_tables import folds_table, methods_table

LABELS = {"c": "C", "b": "B", "a": "A"}
VALUES = {"a": [0.1, 0.2, 0.6, 0.7], "b": [0.2, 0.3, 0.8, 0.9]}


def measures() -> pd.DataFrame:
    rows = [
        {"fold": f"fold{i // 3 + 1}", "method": method, "query_id": f"q{i}", "ap": value, "p": 1 - value}
        for method, values in VALUES.items()
        for i, value in enumerate(values)
    ]
    return pd.DataFrame(rows)


def test_methods_have_means_a_difference_and_their_settings() -> None:
    choices = pd.DataFrame(
        [
            {"method": "b", "setting": "k=3", "chosen": True},
            {"method": "b", "setting": "k=5", "chosen": False},
            {"method": "b", "setting": "k=9", "chosen": True},
        ]
    )
    interval = {"level": 0.95, "resamples": 100, "seed": 1}
    values, names = measures(), ["ap", "not measured"]
    table = methods_table(values, LABELS, names, choices, against=["a"], by="ap", interval=interval)
    b, a = table.to_dict("records")  # in the order of the labels, without what was not run
    assert (b["method"], b["ap"], a["ap"]) == ("B", pytest.approx(0.55), pytest.approx(0.4))
    assert b["difference from A"] == pytest.approx(0.15)
    assert (a["difference from A"], a["settings by fold"]) == (0, "")
    assert b["settings by fold"] == "k=3; k=9"
    assert "not measured" not in table
    several = methods_table(values, LABELS, names, choices, against=["a", "b"], by="ap", interval=interval)
    assert several["difference from B"].tolist() == pytest.approx([0, -0.15])
    assert {"low (A)", "low (B)"} < set(several.columns)


def test_a_verdict_is_corrected_over_the_table() -> None:
    """A method that alone is better with p = .02 is not, as one of seven; one that is far better still is."""
    noise = np.random.default_rng(1).normal(0, 0.1, (7, 200))
    noise -= noise.mean(axis=1, keepdims=True)
    shifts = [0.0, 2.34 * noise[1].std(ddof=1) / np.sqrt(200), 0.1, 0.0, 0.0, 0.0, 0.0]
    values = {"a": np.zeros(200)} | {f"m{i}": noise[i] + shifts[i] for i in range(7)}
    queries = [f"q{i}" for i in range(200)]
    table = pd.concat(pd.DataFrame({"method": name, "query_id": queries, "ap": v}) for name, v in values.items())
    none = pd.DataFrame({"method": [], "setting": [], "chosen": []}, dtype=object).astype({"chosen": bool})

    def verdicts(names: list[str]) -> dict[str, str]:
        labels, interval = dict(zip(names, names, strict=True)), {"level": 0.95, "resamples": 100, "seed": 1}
        rows = methods_table(table, labels, ["ap"], none, against=["a"], by="ap", interval=interval)
        return rows.set_index("method")["verdict"].to_dict()

    assert verdicts(["a", "m1"])["m1"].startswith("better")
    together = verdicts(list(values))
    assert together["m1"].startswith("not significant")
    assert together["m2"].startswith("better")
    assert together["a"] == ""


def test_folds_weigh_alike_whatever_their_size() -> None:
    b, a = folds_table(measures(), LABELS, ["ap"]).to_dict("records")
    assert list(b) == ["method", "fold1", "fold2", "mean of folds", "all queries"]
    assert (a["fold1"], a["fold2"]) == (pytest.approx(0.3), pytest.approx(0.7))
    assert (a["mean of folds"], a["all queries"]) == (pytest.approx(0.5), pytest.approx(0.4))
    both = folds_table(measures(), LABELS, ["ap", "p"]).to_dict("records")
    assert [(row["measure"], row["method"]) for row in both] == [("ap", "B"), ("ap", "A"), ("p", "B"), ("p", "A")]

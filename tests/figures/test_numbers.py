import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qdrank.errors import InputError
from qdrank.evaluation.estimates import column_ends
from qdrank.figures.method_tables import folds_table, methods_table
from qdrank.figures.numbers import by_measure, chosen, numbers, where
from qdrank.store import table_of

INTERVAL = {"level": 0.9, "resamples": 50, "seed": 1}


def measured(seed: int, queries: int = 30, fits: int = 3) -> pd.DataFrame:
    """Method a is fitted once, b and c several times, each at two sizes; rows in random order."""
    rng = np.random.default_rng(seed)
    rows = [
        {"method": method, "size": size, "query_id": f"q{query}", "fit": fit, "ap": rng.random()}
        for method in "abc"
        for size in (5, 0)
        for query in range(queries)
        for fit in range(1 if method == "a" else fits)
    ]
    return pd.DataFrame(rows).sample(frac=1, random_state=seed)


def values(frame: pd.DataFrame, method: str, size: int) -> np.ndarray:
    """Values (n_queries, n_fits), looked up one by one."""
    of = where(frame, method=method, size=size)
    known = {(row.query_id, row.fit): row.ap for row in of.itertuples()}
    fits = range(3)
    return np.array([[known.get((q, f), known[q, 0]) for f in fits] for q in sorted({q for q, _ in known})])


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from(["ap", "value"]))
def test_differences_are_of_the_same_queries_and_fits_whatever_the_order_of_rows(seed: int, measure: str) -> None:
    frame = measured(seed)
    given_values = frame.rename(columns={"ap": measure})
    rows = numbers(given_values, ["method", "size"], measure, INTERVAL, against={"method": "a"})
    assert list(rows.columns[:3]) == ["method", "size", "queries"]
    assert len(rows) == 6
    for row in rows.itertuples():
        own = values(frame, row.method, row.size)
        apart = own - values(frame, "a", row.size)
        assert (row.mean, row.difference) == pytest.approx((own.mean(), apart.mean()))
        ends = [end[0] for of in (own, apart) for end in column_ends(of[:, :, None], **INTERVAL)]
        assert [row.low, row.high, row.difference_low, row.difference_high] == pytest.approx(ends, nan_ok=True)


def test_a_group_is_compared_with_what_a_mapping_or_a_value_names() -> None:
    frame = measured(1)
    mean = frame.groupby(["method", "size"])["ap"].mean()
    rows = numbers(
        frame, ["method", "size"], "ap", INTERVAL, against={"method": {"b": "c", "c": "not run"}}, means=False
    )
    assert set(rows["method"]) == {"b"}
    assert "low" not in rows
    rows = numbers(frame, ["method", "size"], "ap", INTERVAL, against={"size": 0})
    for row in rows.itertuples():
        assert row.difference == pytest.approx(mean[row.method, row.size] - mean[row.method, 0])


def test_groups_that_have_other_queries_are_refused_unless_they_are_apart() -> None:
    frame = measured(1)
    fewer = frame[(frame["size"] == 0) | (frame["query_id"] < "q2")]
    with pytest.raises(InputError, match="same queries"):
        numbers(fewer, ["method", "size"], "ap", INTERVAL)
    rows = numbers(fewer, ["method", "size"], "ap", INTERVAL, against={"method": "a"}, apart=["size"])
    assert dict(zip(rows["size"], rows["queries"], strict=True)) == {0: 30, 5: 12}
    with pytest.raises(InputError, match="2 fits, others have 3"):
        numbers(frame[(frame["method"] != "b") | (frame["fit"] < 2)], ["method", "size"], "ap", INTERVAL)


def test_rows_are_chosen_in_the_order_of_names_and_named_by_measure() -> None:
    frame = measured(1)
    assert list(dict.fromkeys(chosen(frame, ["c", "unknown", "a"])["method"])) == ["c", "a"]
    long = by_measure(frame.assign(p=0.5), ["p", "ap"])
    assert list(dict.fromkeys(long["measure"])) == ["p", "ap"]
    assert len(long) == 2 * len(frame)


def test_a_frame_as_a_table_has_nulls_where_something_is_missing() -> None:
    table = table_of(pd.DataFrame({"text": ["x", None], "number": [1.0, np.nan], "whole": [1, 2]}, index=[3, 1]))
    assert table.schema == pa.schema([("text", pa.string()), ("number", pa.float64()), ("whole", pa.int64())])
    assert table.to_pylist()[1] == {"text": None, "number": None, "whole": 2}


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

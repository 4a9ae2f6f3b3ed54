"""The difficulty breakdown of any method against plain loops over queries."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from qdrank.datasets.judged import Judged
from qdrank.errors import InputError
from qdrank.evaluation.comparison import holm
from qdrank.evaluation.declared import Rules
from qdrank.evaluation.difficulty import DIFFICULTY_CLASSES, breakdown, difficulty
from qdrank.figures import difficulty as figures
from qdrank.figures.style import save_figure
from qdrank.store import table_of

KINDS = [0, 1, 3, 4, 20, 21, 30, 2, 5, 22, 0, 3]
RELEVANT = KINDS * 24
INTERVAL = {"seed": 1, "resamples": 200, "level": 0.95}


def judged():
    n = 40
    ids = np.array([f"q{i}" for i in range(len(RELEVANT))], dtype=object)
    y = np.concatenate([[1 + (j % 2 == 0) for j in range(r)] + [0] * (n - r) for r in RELEVANT]).astype(np.int64)
    offsets = np.arange(0, n * len(RELEVANT) + 1, n)
    names = np.array([f"d{i}" for i in range(len(y))], dtype=object)
    return Judged(ids, np.array(["S1"] * len(ids), dtype=object), offsets, names, y, np.zeros((len(y), 1), np.float32))


def measures():
    rng = np.random.default_rng(4)
    rows = []
    for method, gain in (("base", 0.0), ("better", 0.1), ("same", 0.0)):
        # the order of the rows must not matter
        for i in rng.permutation(len(RELEVANT)):
            value = 0.0 if RELEVANT[i] == 0 else 0.3 + 0.001 * i + gain * (1 + 0.2 * np.sin(i))
            rows.append({"fold": "fold1", "method": method, "query_id": f"q{i}", "ap": value, "p@1/letor4": value / 2})
    return pd.DataFrame(rows)


def test_classes_are_by_the_number_of_relevant_documents():
    found = difficulty(judged())
    assert found.relevant.tolist() == RELEVANT
    names = "none hard hard normal normal easy easy hard normal easy none hard"
    assert found.name.tolist() == names.split() * 24
    assert found.present == ["none", "hard", "normal", "easy"]


def test_relevant_documents_that_candidates_miss_count():
    data, missed = judged(), np.empty(len(RELEVANT), dtype=object)
    missed[:] = [(1,) * (i % 3) for i in range(len(RELEVANT))]
    found = difficulty(replace(data, missed=missed))
    assert found.relevant.tolist() == [r + i % 3 for i, r in enumerate(RELEVANT)]
    assert found.name.tolist()[4] == "easy"


def test_classes_are_counted_and_put_into_words():
    classes = difficulty(judged())
    assert {name: int((classes.name == name).sum()) for name in classes.present} == {
        "none": 48,
        "hard": 96,
        "normal": 72,
        "easy": 72,
    }
    assert classes.meaning("normal") == "4 to 20 relevant"
    assert classes.meaning("easy") == "21 or more relevant"


def test_classes_are_configurable_and_gaps_are_named():
    found = difficulty(judged(), {"few": [2, 4], "many": [10, None]})
    assert found.name.tolist()[1] == "other"
    assert found.present == ["none", "few", "many", "other"]


@pytest.mark.parametrize(
    "bounds",
    [{"a": [1, 5], "b": [5, None]}, {"a": [3, 2]}, {"a": [1, None], "b": [7, 9]}, {"a": [0, 3]}, {"none": [1, 2]}],
)
def test_classes_that_overlap_or_are_empty_are_refused(bounds):
    with pytest.raises(InputError, match="class"):
        difficulty(judged(), bounds)


def test_means_differences_and_tests_are_those_of_the_queries_of_a_class():
    table, classes = measures(), difficulty(judged())
    found = breakdown(table, classes, ["ap", "p@1/letor4"], baseline="base", interval=INTERVAL)
    values = {(r["method"], r["query_id"]): r for r in table.to_dict("records")}
    rows = table_of(found).to_pylist()
    assert len(rows) == 2 * 5 * 3
    for row in rows:
        own = [f"q{i}" for i, name in enumerate(classes.name) if row["class"] in (name, "all")]
        a = np.array([values[row["method"], q][row["measure"]] for q in own])
        b = np.array([values["base", q][row["measure"]] for q in own])
        assert row["queries"] == len(own)
        assert row["share"] == pytest.approx(len(own) / len(RELEVANT))
        assert row["mean"] == pytest.approx(a.mean())
        assert row["difference"] == pytest.approx((a - b).mean(), abs=1e-12)
        if row["class"] != "none" and row["method"] == "better":
            assert row["difference_low"] <= row["difference"] + 1e-12
        if row["method"] == "better" and row["class"] not in ("none",):
            assert row["p"] == pytest.approx(stats.ttest_rel(a, b).pvalue, rel=1e-6)
        if row["method"] == "base" or row["class"] == "none":
            assert row["p"] is None


def test_p_values_are_corrected_over_classes_and_methods():
    found = (
        breakdown(measures(), difficulty(judged()), ["ap"], baseline="base", interval=INTERVAL)
        .pipe(table_of)
        .to_pylist()
    )
    asked = {f"{r['class']} {r['method']}": r["p"] for r in found if r["p"] is not None and r["class"] != "all"}
    assert len(asked) == 3  # the method that is the same has no spread, and is not asked
    wanted = holm(asked)
    for row in found:
        name = f"{row['class']} {row['method']}"
        assert row["p_holm"] == (pytest.approx(wanted[name]) if name in wanted else None)


def test_methods_can_be_chosen_and_the_baseline_must_be_there():
    found = breakdown(
        measures(), difficulty(judged()), ["ap"], baseline="base", methods=["same", "absent"], interval=INTERVAL
    )
    assert set(found["method"]) == {"base", "same"}
    with pytest.raises(InputError, match="baseline"):
        breakdown(measures(), difficulty(judged()), ["ap"], baseline="absent")


def test_a_measured_query_without_judgments_is_refused():
    extra = pd.DataFrame([{"fold": "f", "method": "base", "query_id": "zz", "ap": 0.1, "p@1/letor4": 0.0}])
    with pytest.raises(InputError, match="zz"):
        breakdown(extra, difficulty(judged()), ["ap"], baseline="base")


@pytest.mark.parametrize(("most", "n"), [(1, 24), (2, 48), (3, 96)])
def test_a_class_of_few_queries_has_no_interval_and_no_test(most, n):
    bounds = {"few": [1, most], "rest": [most + 1, None]}
    found = breakdown(measures(), difficulty(judged(), bounds), ["ap"], baseline="base", interval=INTERVAL)
    row = next(r for r in table_of(found).to_pylist() if r["class"] == "few" and r["method"] == "better")
    assert row["queries"] == n
    enough = n >= Rules().needed(0.05)
    for name in ("low", "high", "difference_low", "difference_high", "p", "p_holm"):
        assert (row[name] is not None) == enough, name
    assert row["mean"] > 0
    shown = figures.readable_breakdown(found, {}, "base").to_dict("records")
    notes = {(r["class"], r["method"]): r["note"] for r in shown}
    assert notes["few", "better"] == ("" if enough else f"too few queries: {n}, and 60 are needed at this level")
    assert notes["rest", "better"] == ""
    assert notes["rest", "same"].startswith("no spread")
    heads = [axes.get_title().splitlines() for axes in _drawn(found).axes]
    assert ["too few for intervals" in head for head in heads] == [not enough, False]


def _drawn(found):
    return figures.draw(found, title="toy", labels={"better": "Better"}, baseline="base")


def test_intervals_stay_within_the_measure():
    found = (
        breakdown(measures(), difficulty(judged()), ["ap"], baseline="base", interval=INTERVAL)
        .pipe(table_of)
        .to_pylist()
    )
    known = [row for row in found if row["low"] is not None]
    assert known
    for row in known:
        assert 0 <= row["low"] <= row["mean"] + 1e-12 <= row["high"] + 2e-12 <= 1
    told = [row for row in found if row["difference_low"] is not None]
    assert {row["method"] for row in told} == {"better"}
    assert all(-1 <= row["difference_low"] <= row["difference_high"] <= 1 for row in told)


def test_the_table_to_read_and_the_picture(tmp_path):
    found = breakdown(measures(), difficulty(judged()), ["ap", "p@1/letor4"], baseline="base", interval=INTERVAL)
    shown = figures.readable_breakdown(found, {"base": "Base", "better": "Better"}, "base")
    assert "difference from Base" in shown
    assert set(shown["method"]) == {"Base", "Better", "same"}
    assert set(shown["measure"]) == {"MAP", "P@1"}
    for name in ("a", "b"):
        drawn = figures.draw(found, title="toy", labels={"better": "Better"}, baseline="base")
        save_figure(drawn, {"svg": tmp_path / f"{name}.svg"})
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
    assert list(DIFFICULTY_CLASSES) == ["hard", "normal", "easy"]

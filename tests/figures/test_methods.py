from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from qdrank.evaluation.comparison import compare
from qdrank.evaluation.declared import HOLDS, UNCLEAR
from qdrank.evaluation.published import load_expected
from qdrank.evaluation.values import pairs
from qdrank.figures.methods import (
    BETTER,
    LEAD,
    REASON,
    baseline_of,
    first_stages_table,
    learners_table,
    methods_table,
    published_table,
)
from qdrank.figures.methods import tests_table as significance_table  # its own name would make it a test
from qdrank.figures.tables import write_table
from qdrank.rankers.methods import CLASSIC
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


LABELS = {"reference": "first stage", "rm3": "RM3", "ranksvm": "RankSVM"}


def made_measures(seed: int) -> pa.Table:
    """Eighty queries; RM3 is .05 above the first stage, RankSVM like it."""
    rng = np.random.default_rng(seed)
    first, noise = rng.uniform(0.2, 0.6, 80), rng.normal(0, 0.02, 80)
    columns = {"fold": ["fold1"] * 80, "query_id": [f"q{i}" for i in range(80)], "fit": np.zeros(80, int)}
    ap = {"reference": first, "rm3": first + 0.05 + noise, "ranksvm": first + noise}
    return pa.concat_tables(
        [pa.table({"method": [name] * 80, **columns, "ap": ap[name], "ndcg@10/exp": ap[name] / 2}) for name in LABELS]
    )


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


MEANS = {"reference": 0.3, "ranksvm": 0.5, "listnet": 0.52, "regression": 0.5}
EXPECTED = """
dataset: toy
queries: 50
documents: 500
convention: letor4
bands: {ap: 0.01}
fold_bands: {ap: 0.02}
sources:
  book: {text: A book, certainty: verified}
  talk: {text: A talk, certainty: recalled}
figures:
  - {method: ranksvm, source: book, values: {ap: 0.505, ndcg@10/letor4: 0.4}, folds: {ap: [0.5, 0.5, 0.5, 0.5, 0.6]}}
  - {method: listnet, source: talk, values: {ap: 0.6}, note: a note}
  - {method: rankboost, source: book, values: {ap: 0.5}}
"""


def learners_measured(n_folds: int = 5) -> pa.Table:
    """Ten queries a fold; each method's AP is its mean, give or take."""
    noise = np.tile([-0.1, 0.1], 5)
    rows = [
        {
            "fold": f"fold{fold}",
            "method": method,
            "query_id": f"q{fold}{i}",
            "ap": mean + noise[i] + (0.01 * noise[(i + fold) % 10] if method == "listnet" else 0),
            "ndcg@10/letor4": mean - 0.1,
        }
        for fold in range(1, n_folds + 1)
        for method, mean in MEANS.items()
        for i in range(10)
    ]
    return pa.Table.from_pylist(rows)


@pytest.fixture
def expected(tmp_path: Path) -> Path:
    path = tmp_path / "toy.yaml"
    path.write_text(EXPECTED)
    return path


def test_all_methods_with_what_validation_chose():
    columns = {"fold": "fold1", "measure": "ap", "value": 0.5, "method": "listnet"}
    settings = {"l2=1": False, "l2=2": True, "l2=3": True}
    choices = pd.DataFrame([columns | {"setting": name, "chosen": one} for name, one in settings.items()])
    values = learners_measured().to_pandas()
    table = learners_table(values, ["ranksvm", "listnet", "regression"], choices, "letor4")
    assert list(table) == ["method", "ap", "ndcg@10/letor4", "fits", "spread of fits", "settings by fold"]
    rows = {row["method"]: row for row in table.to_dict("records")}
    assert list(rows) == ["first stage (reference)", "RankSVM", "ListNet", "Regression, linear"]
    assert rows["ListNet"]["ap"] == pytest.approx(0.52, abs=1e-9)
    assert rows["ListNet"]["settings by fold"] == "l2=2; l2=3"


def test_tests_are_against_ranksvm_and_corrected():
    rows = significance_table(
        learners_measured(8).to_pandas(), ["listnet", "ranksvm", "regression"], "letor4", INTERVAL
    ).to_dict("records")
    assert [(row["measure"], row["method"]) for row in rows] == [
        ("ap", "ListNet"),
        ("ap", "Regression, linear"),
        ("ndcg@10/letor4", "ListNet"),
        ("ndcg@10/letor4", "Regression, linear"),
    ]
    assert {row["against"] for row in rows} == {"RankSVM"}
    assert rows[0]["verdict"].startswith("better by 0.02")
    assert rows[0]["p (Holm)"] == pytest.approx(min(1, 2 * rows[0]["p (t test)"]))
    assert rows[1]["difference"] == 0
    assert rows[1]["verdict"].startswith("cannot tell: no spread")


def test_without_ranksvm_the_first_is_the_baseline():
    assert baseline_of(["bordacount", "cps-kendall"]) == "bordacount"
    assert significance_table(learners_measured().to_pandas(), ["listnet"], "letor4", INTERVAL).empty


def test_published_against_ours(expected, tmp_path):
    table = published_table(load_expected(expected), learners_measured().to_pandas(), queries=50, documents=500)
    found = [(row["method"], row["measure"], row["fold"], row["verdict"]) for row in table.to_pylist()]
    assert found == [
        ("RankSVM", "ap", "mean", "nearer to another method"),
        ("RankSVM", "ndcg@10/letor4", "mean", "no band"),
        ("ListNet", "ap", "mean", "differs"),
        ("RankBoost", "ap", "mean", "not measured"),
        *[("RankSVM", "ap", f"fold{i}", "agrees") for i in range(1, 5)],
        ("RankSVM", "ap", "fold5", "differs"),
        ("all methods", "all measures", "mean", "right method nearest in 0 of 1 (0%, by chance 50%)"),
    ]
    assert table.to_pylist()[0]["nearest"] == "RankBoost"
    row = table.to_pylist()[2]
    assert row["difference"] == pytest.approx(-0.08)
    assert (row["source"], row["certainty"], row["note"], row["convention"]) == (
        "A talk",
        "recalled",
        "a note",
        "letor4",
    )
    write_table(table, {form: tmp_path / f"published.{form}" for form in ("parquet", "csv", "md", "tex", "html")})
    assert "not measured" in (tmp_path / "published.md").read_text()


def test_a_sample_gives_an_empty_table(expected, tmp_path):
    table = published_table(load_expected(expected), learners_measured().to_pandas(), queries=50, documents=425)
    assert table.num_rows == 0
    assert "verdict" in table.column_names
    write_table(table, {"html": tmp_path / "published.html"})


def test_the_mean_of_some_folds_is_not_compared(expected):
    table = published_table(
        load_expected(expected), learners_measured(n_folds=2).to_pandas(), queries=50, documents=500
    )
    verdicts = {row["fold"]: row["verdict"] for row in table.to_pylist() if row["method"] == "RankSVM"}
    assert verdicts["mean"] == verdicts["fold5"] == "not measured"
    assert verdicts["fold1"] == "agrees"


def test_published_figures_are_of_methods_that_can_be_run(project):
    for path in sorted((project / "resources" / "expected").glob("*.yaml")):
        assert {figures.method for figures in load_expected(path).figures} <= set(CLASSIC), path.name

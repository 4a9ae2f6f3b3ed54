from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from qdrank.evaluation.published import load_expected
from qdrank.figures.methods import baseline_of, learners_table, published_table
from qdrank.figures.methods import tests_table as significance_table  # its own name would make it a test
from qdrank.figures.tables import write_table
from qdrank.rankers.methods import CLASSIC

INTERVAL = {"level": 0.95, "resamples": 200, "seed": 1}
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


def made_measures(n_folds: int = 5) -> pa.Table:
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
    values = made_measures().to_pandas()
    table = learners_table(values, ["ranksvm", "listnet", "regression"], choices, "letor4")
    assert list(table) == ["method", "ap", "ndcg@10/letor4", "fits", "spread of fits", "settings by fold"]
    rows = {row["method"]: row for row in table.to_dict("records")}
    assert list(rows) == ["first stage (reference)", "RankSVM", "ListNet", "Regression, linear"]
    assert rows["ListNet"]["ap"] == pytest.approx(0.52, abs=1e-9)
    assert rows["ListNet"]["settings by fold"] == "l2=2; l2=3"


def test_tests_are_against_ranksvm_and_corrected():
    rows = significance_table(
        made_measures(8).to_pandas(), ["listnet", "ranksvm", "regression"], "letor4", INTERVAL
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
    assert significance_table(made_measures().to_pandas(), ["listnet"], "letor4", INTERVAL).empty


def test_published_against_ours(expected, tmp_path):
    table = published_table(load_expected(expected), made_measures().to_pandas(), queries=50, documents=500)
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
    table = published_table(load_expected(expected), made_measures().to_pandas(), queries=50, documents=425)
    assert table.num_rows == 0
    assert "verdict" in table.column_names
    write_table(table, {"html": tmp_path / "published.html"})


def test_the_mean_of_some_folds_is_not_compared(expected):
    table = published_table(load_expected(expected), made_measures(n_folds=2).to_pandas(), queries=50, documents=500)
    verdicts = {row["fold"]: row["verdict"] for row in table.to_pylist() if row["method"] == "RankSVM"}
    assert verdicts["mean"] == verdicts["fold5"] == "not measured"
    assert verdicts["fold1"] == "agrees"


def test_published_figures_are_of_methods_that_can_be_run(project):
    for path in sorted((project / "resources" / "expected").glob("*.yaml")):
        assert {figures.method for figures in load_expected(path).figures} <= set(CLASSIC), path.name

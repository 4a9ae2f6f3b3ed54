from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest

import qdrank
from qdrank.errors import InputError
from tests.workflow.project import Project


@pytest.fixture(scope="module")
def made(finished: Project):
    return qdrank.results(finished.folder / "results")


def test_the_function_can_be_asked_for_twice(finished: Project):
    for _ in range(2):
        assert qdrank.results(finished.folder / "results").datasets == ["tiny", "tiny-runs"]


def test_measures_are_those_of_the_artifact(made, finished: Project):
    table = pq.read_table(finished.folder / "results/tiny/measures.parquet")
    frame = made.measures("tiny", fits=True)
    assert len(frame) == len(table)
    assert frame["ap"].tolist() == table["ap"].to_pylist()
    assert set(frame["dataset"]) == {"tiny"}
    assert set(made.measures(fits=True)["method"]) == set(made.methods)


def test_a_query_has_the_mean_over_the_fits_of_a_method(made):
    keys = ["method", "query_id"]
    fits, mean = made.measures(fits=True), made.measures()
    assert not mean.duplicated(keys).any()
    several = fits[fits["fit"] > 0]["method"].unique()
    assert len(several)
    for method in ("single", several[0]):
        of_method = fits[fits["method"] == method]
        by_hand = {query: sum(rows["ap"]) / len(rows) for query, rows in of_method.groupby("query_id")}
        ours = mean[mean["method"] == method].set_index("query_id")["ap"].to_dict()
        assert ours == pytest.approx(by_hand, abs=1e-12), method


def test_scores_of_a_method_give_its_measures(made, finished: Project):
    """Joined with the judgments by query and document, and measured by hand: precision at 1."""
    scores = made.scores("single")
    judged = pq.read_table(finished.folder / "results/tiny/judged.parquet", columns=["query_id", "doc_id", "label"])
    joined = scores.merge(judged.to_pandas(), on=["query_id", "doc_id"], validate="one_to_one")
    best = joined.loc[joined.groupby("query_id")["score"].idxmax()].set_index("query_id")["label"] > 0
    told = made.measures("tiny").query("method == 'single'").set_index("query_id")["p@1/letor4"]
    pd.testing.assert_series_equal(best.astype(float).sort_index(), told.sort_index(), check_names=False)


def test_one_setting_of_a_choice_is_chosen_and_it_is_the_best(made):
    for _, tried in made.choices().groupby(["dataset", "fold", "method"]):
        assert tried["chosen"].any()
        assert tried.loc[tried["chosen"], "value"].max() == pytest.approx(tried["value"].max(), abs=1e-9)


def test_claims_and_tables_are_those_of_the_files(made, finished: Project):
    folder = finished.folder / "results"
    assert made.claims()["claim"].tolist() == pq.read_table(folder / "claims.parquet")["claim"].to_pylist()
    assert set(made.tables) == {path.stem for path in folder.glob("*/tables/*.parquet")}
    name = made.tables[0]
    assert len(made.table(name, "tiny")) == pq.read_metadata(folder / f"tiny/tables/{name}.parquet").num_rows
    assert len(made.figure(made.figures[0])) > 0


def test_what_is_not_there_is_told_in_a_sentence(made, tmp_path: Path):
    with pytest.raises(InputError, match="no results of a run"):
        qdrank.results(tmp_path)
    with pytest.raises(InputError, match="did you mean single"):
        made.scores("singel")
    with pytest.raises(InputError, match="did you mean tiny"):
        made.measures("tiney")
    with pytest.raises(InputError, match="no table"):
        made.table("../claims")

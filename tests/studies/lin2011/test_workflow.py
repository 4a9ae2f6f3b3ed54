import pytest
from tests.workflow.project import Project

from qdrank.store import read
from qdrank.studies.lin2011.methods import METHODS


def test_scores_are_those_of_the_first_seed(finished: Project) -> None:
    values = read(finished.folder / "results/tiny/fold1/lin/values.parquet", "values").to_pylist()
    measures = read(finished.folder / "results/tiny/measures.parquet", "measures").to_pylist()
    first = {(row["method"], row["query_id"]): row["ap"] for row in values if row["fit"] < 2 and row["x"] is None}
    own = [row for row in measures if row["method"] in {method.name for method in METHODS}]
    assert {row["method"] for row in own} == {method.name for method in METHODS}
    for row in own:
        assert row["ap"] == pytest.approx(first[row["method"], row["query_id"]], abs=1e-12)

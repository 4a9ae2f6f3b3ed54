"""The study of Lin 2011 on tiny data, and the difficulty breakdown of all studies."""

import pytest
from tests.workflow.project import Project

from qdrank.store import read
from qdrank.studies.lin2011 import STUDY
from qdrank.studies.lin2011.methods import METHODS, PAPER, RANKSVM


def test_every_figure_and_table_is_there(finished: Project) -> None:
    results = finished.folder / "results/tiny"
    for name in (*(figure.id for figure in STUDY.figures), "difficulty"):
        for form in ("parquet", "pdf", "svg"):
            assert (results / f"figures/{name}.{form}").stat().st_size > 0, name
    for name in (*(table for made in STUDY.tables for table in made.shows), "lin-claims", "difficulty"):
        for form in ("parquet", "csv", "md", "tex", "html"):
            assert (results / f"tables/{name}.{form}").stat().st_size > 0, name


def test_settings_are_on_record_for_every_method_and_seed(finished: Project) -> None:
    choices = read(finished.folder / "results/tiny/fold1/choices/lin.parquet", "choices").to_pylist()
    chosen = [row["method"] for row in choices if row["chosen"]]
    assert chosen.count(RANKSVM) == 1
    assert all(chosen.count(method) == 2 for method in PAPER)
    tried = {method: sum(row["method"] == method for row in choices) for method in (RANKSVM, PAPER[0])}
    assert tried[RANKSVM] == tried[PAPER[0]] / 2, "RankSVM has as many settings as a method with one seed"


def test_scores_are_those_of_the_first_seed(finished: Project) -> None:
    values = read(finished.folder / "results/tiny/fold1/lin/values.parquet", "values").to_pylist()
    measures = read(finished.folder / "results/tiny/measures.parquet", "measures").to_pylist()
    first = {(row["method"], row["query_id"]): row["ap"] for row in values if row["fit"] < 2 and row["x"] is None}
    own = [row for row in measures if row["method"] in {method.name for method in METHODS}]
    assert {row["method"] for row in own} == {method.name for method in METHODS}
    for row in own:
        assert row["ap"] == pytest.approx(first[row["method"], row["query_id"]], abs=1e-12)


def test_the_difficulty_breakdown_has_the_methods_of_every_study(finished: Project) -> None:
    table = read(finished.folder / "results/tiny/figures/difficulty.parquet", "figure")
    methods = set(table.column("method").to_pylist())
    assert methods >= {method.name for method in METHODS}
    assert methods >= {"single", "knn-online"}

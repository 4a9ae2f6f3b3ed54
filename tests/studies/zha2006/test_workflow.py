"""The study of Zha 2006 on tiny data."""

from tests.workflow.project import Project

from qdrank.store import read
from qdrank.studies.zha2006 import STUDY
from qdrank.studies.zha2006.methods import METHODS


def test_every_figure_and_table_is_there(finished: Project) -> None:
    results = finished.folder / "results/tiny"
    for output in STUDY.figures:
        for form in ("parquet", "pdf", "svg"):
            assert (results / f"figures/{output.id}.{form}").stat().st_size > 0, output.id
    for name in (name for output in STUDY.tables for name in output.shows):
        for form in ("parquet", "csv", "md", "tex", "html"):
            assert (results / f"tables/{name}.{form}").stat().st_size > 0, name


def test_the_limits_hold_and_the_choices_are_on_record(finished: Project) -> None:
    verdicts = read(finished.folder / "results/claims.parquet", "verdicts").to_pylist()
    own = {row["claim"]: row["verdict"] for row in verdicts if row["study"] == STUDY.name}
    assert own["ridge: limit"] == own["trees: limit"] == "holds"
    choices = read(finished.folder / "results/tiny/fold1/choices/zha.parquet", "choices").to_pylist()
    assert {row["method"] for row in choices if row["chosen"]} == {method.name for method in METHODS}

"""The study of Geng 2008 on tiny data."""

from tests.workflow.project import Project

from qdrank.store import read

FIGURES = ("geng-fig1", "geng-fig7", "geng-differences", "geng-controls", "geng-fig8", "geng-fig9", "geng-bound")
TABLES = ("geng-methods", "geng-folds", "geng-tests", "geng-qc", "geng-table1", "geng-variants", "geng-claims")


def test_every_figure_and_table_is_there(finished: Project) -> None:
    results = finished.folder / "results/tiny"
    for name in FIGURES:
        for form in ("parquet", "pdf", "svg"):
            assert (results / f"figures/{name}.{form}").stat().st_size > 0, name
    for name in TABLES:
        for form in ("parquet", "csv", "md", "tex", "html"):
            assert (results / f"tables/{name}.{form}").stat().st_size > 0, name


def test_every_claim_has_a_verdict(finished: Project) -> None:
    claims = read(finished.folder / "results/claims.parquet", "verdicts")
    assert claims.num_rows > 20
    assert set(claims.column("verdict").to_pylist()) <= {"holds", "does not hold", "cannot tell"}
    rows = {row["text"]: row for row in claims.to_pylist()}
    assert rows["k = m equals Single"]["verdict"] == "holds"


def test_the_choice_of_settings_is_on_record(finished: Project) -> None:
    choices = read(finished.folder / "results/tiny/fold1/choices/geng.parquet", "choices").to_pylist()
    assert {row["method"] for row in choices if row["chosen"]} >= {"single", "qc", "knn-online", "knn-offline1"}

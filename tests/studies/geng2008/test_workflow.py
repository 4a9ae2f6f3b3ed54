"""The study of Geng 2008 on tiny data."""

from __future__ import annotations

import pytest
from tests.workflow.project import Project

from qdrank.store import read

FIGURES = ("geng-fig1", "geng-fig7", "geng-differences", "geng-controls", "geng-fig8", "geng-fig9", "geng-bound")
TABLES = (
    "geng-methods",
    "geng-folds",
    "geng-tests",
    "geng-qc",
    "geng-table1",
    "geng-variants",
    "geng-claims",
)


def test_every_figure_and_table_is_there(finished: Project) -> None:
    results = finished.folder / "results/tiny"
    for name in FIGURES:
        for form in ("parquet", "pdf", "svg", "png"):
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


@pytest.mark.slow
def test_the_number_of_shards_changes_no_byte(study: Project) -> None:
    models = study.folder / "results/tiny/fold1/models/local.parquet"
    before = models.read_bytes()
    models.unlink()
    printed = study.tiny(str(models.relative_to(study.folder)), "--set-scatter", "local=3")
    assert "3-of-3" in printed
    assert models.read_bytes() == before
    assert not (models.parent / "local").exists()

"""The study of Zha 2006 on tiny data."""

from __future__ import annotations

import re
from pathlib import Path

from tests.workflow.project import Project, copy_project

from qdrank.store import read
from qdrank.studies.zha2006 import STUDY
from qdrank.studies.zha2006.methods import JOBS


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
    assert {row["method"] for row in choices if row["chosen"]} == {method.name for method in STUDY.methods}


def test_trees_of_a_fold_are_one_job_on_small_data_sets_alone(project: Path, tmp_path: Path) -> None:
    copy = copy_project(project, tmp_path)
    several = {f"fit_zha_trees_{job}" for job in JOBS}
    for dataset, expected, gathers in (
        ("cranfield", {"fit_zha_trees"}, "gather_zha"),
        ("sim1", several, "gather_zha_divided"),
    ):
        (tmp_path / "one.yaml").write_text(f"datasets: [{dataset}]\nstudies: [zha]\ntraining: {{shards: 2}}\n")
        asked = f"results/{dataset}/fold1/zha/cells.parquet"
        options = ("--cores", "1", "--configfile", "one.yaml", "--dry-run", "--quiet", "rules")
        jobs = dict(re.findall(r"^(\w+) +(\d+)$", copy.snakemake(asked, *options), re.MULTILINE))
        assert {name for name in jobs if name.startswith("fit_zha_trees")} == expected
        assert {jobs[name] for name in (*expected, gathers)} == {"1"}

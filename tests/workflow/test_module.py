"""The workflow as a module of another one."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest
import yaml

from tests.workflow.project import Project, copy_project


@pytest.fixture
def outer(project: Path, tmp_path: Path) -> Project:
    """Another workflow, in a folder of its own, that uses this one."""
    inner = copy_project(project, tmp_path / "inner")
    folder = tmp_path / "outer"
    folder.mkdir()
    (folder / "Snakefile").write_text(
        textwrap.dedent(f"""
        configfile: "mine.yaml"

        module qdrank:
            snakefile: "{inner.folder / "Snakefile"}"
            config: config["ranking"]

        use rule * from qdrank as qdrank_*

        rule mine:
            input: "results/tiny/tables/data-summary.csv"
            output: "mine.txt"
            shell: "wc -l < {{input}} > {{output}}"
        """)
    )
    tiny = yaml.safe_load((project / "tests/configs/tiny.yaml").read_text())
    (folder / "mine.yaml").write_text(yaml.safe_dump({"ranking": tiny}))
    return Project(folder)


def test_another_workflow_can_use_its_rules(outer: Project) -> None:
    outer.snakemake("mine", "--cores", "1")
    assert int((outer.folder / "mine.txt").read_text()) == 5  # head, three parts, all
    assert (outer.folder / "results/tiny/judged.parquet").is_file()


def test_the_whole_study_is_a_target_of_it(outer: Project) -> None:
    printed = outer.snakemake("qdrank_all", "--cores", "1", "--dry-run", "--quiet", "rules")
    assert "qdrank_judge_claims" in printed
    assert "qdrank_write_manifest" in printed

import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
import yaml

from qdrank import __version__
from tests.workflow.project import Project, copy_project

SUMMARY = "results/tiny/tables/data-summary.csv"
MANIFEST = "results/manifest.json"


def using(folder: Path, project: Path, snakefile: str) -> Project:
    """Another workflow, in ``folder``, that uses the one that ``snakefile`` names."""
    folder.mkdir()
    (folder / "Snakefile").write_text(
        textwrap.dedent(f"""
        configfile: "mine.yaml"

        module qdrank:
            snakefile: {snakefile}
            config: config["ranking"]

        use rule * from qdrank as qdrank_*

        rule mine:
            input: "{SUMMARY}"
            output: "mine.txt"
            shell: "wc -l < {{input}} > {{output}}"
        """)
    )
    tiny = yaml.safe_load((project / "tests/configs/tiny.yaml").read_text())
    (folder / "mine.yaml").write_text(yaml.safe_dump({"ranking": tiny}))
    return Project(folder)


def git(folder: Path, *words: str) -> None:
    named = ("-c", "user.name=someone", "-c", "user.email=someone@example.org")
    subprocess.run(["git", *named, *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture(scope="module")
def hosted(project: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache of Snakemake's in which the repository of the project is already, so that nothing is fetched."""
    folder = tmp_path_factory.mktemp("hosted")
    copy_project(project, folder / "repository")
    (folder / "repository/pyproject.toml").write_bytes((project / "pyproject.toml").read_bytes())
    git(folder / "repository", "init", "--quiet")
    git(folder / "repository", "add", "--all")
    git(folder / "repository", "commit", "--quiet", "--message", "All")
    git(folder / "repository", "tag", f"v{__version__}")
    (folder / "repository/pyproject.toml").write_text('[project]\nversion = "0.0.1"\n')
    git(folder / "repository", "commit", "--quiet", "--all", "--message", "Another version")
    git(folder / "repository", "tag", "v0.0.1")
    target = folder / "cache/snakemake/snakemake/source-cache/snakemake-git-cache/github.com/qdrank/qdrank"
    target.parent.mkdir(parents=True)
    git(folder, "clone", "--quiet", "--bare", "repository", str(target))
    return folder / "cache"


def github(tag: str) -> str:
    return f'github("qdrank/qdrank", path="workflow/Snakefile", tag="{tag}")'


@pytest.mark.full
def test_a_module_from_github_runs_with_the_installed_package(project, installed, hosted, tmp_path):
    """As the catalog and snakedeploy write it: rules and scripts from the repository, the library from the wheel."""
    outer = using(tmp_path / "outer", project, github(f"v{__version__}"))
    where = {"XDG_CACHE_HOME": str(hosted), "PYTHONPATH": str(installed)}
    printed = outer.snakemake("mine", "--cores", "1", **where)
    assert "not present in the Snakefile" not in printed  # rules are given other names, and stay local
    assert int((outer.folder / "mine.txt").read_text()) == 5  # head, three parts, all
    assert (outer.folder / "results/tiny/judged.parquet").is_file()
    other = using(tmp_path / "other", project, github("v0.0.1"))
    printed = other.snakemake("mine", "--cores", "1", check=False, **where)
    assert f"is version 0.0.1, the installed library is {__version__}" in printed


def test_the_whole_study_is_a_target_of_another_workflow(project: Path, tmp_path: Path) -> None:
    inner = copy_project(project, tmp_path / "inner")
    outer = using(tmp_path / "outer", project, f'"{inner.folder / "Snakefile"}"')
    printed = outer.snakemake("qdrank_all", "--cores", "1", "--dry-run", "--quiet", "rules")
    assert "qdrank_decide_claims" in printed
    assert "qdrank_write_manifest" in printed


@pytest.mark.full
def test_the_installed_package_runs_in_an_empty_folder(project: Path, installed: Path, tmp_path: Path) -> None:
    """Without a checkout: `qdrank init`, then `snakemake`; and `qdrank run` plans the same."""

    def ran(folder: Path, *words: str) -> str:
        variables = {**os.environ, "PYTHONPATH": str(installed)}
        done = subprocess.run(
            [sys.executable, "-P", "-m", *words], cwd=folder, env=variables, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr[-3000:]
        return done.stdout + done.stderr

    assert "snakemake --cores all" in ran(tmp_path, "qdrank.cli", "init", "mine")
    mine = tmp_path / "mine"
    (mine / "config/config.yaml").write_bytes((project / "tests/configs/tiny.yaml").read_bytes())
    assert "write_manifest" in ran(mine, "snakemake", "--cores", "all", "--dry-run")  # as `init` prints it: no target
    ran(mine, "snakemake", "--cores", "1", SUMMARY)
    assert (mine / SUMMARY).is_file()
    printed = ran(tmp_path, "qdrank.cli", "run", "mine/config/config.yaml", "--all", "--directory", "mine", "--dry-run")
    assert "write_manifest" in printed
    # One data set is there, made by `snakemake` with the same code.
    assert re.search(r"^simulate_features +1$", printed, re.MULTILINE)


RSYNC = """#!{python}
import os, shutil, sys
source, target = sys.argv[-2:]
shutil.copy2(source, os.path.join(target, os.path.basename(source)) if os.path.isdir(target) else target)
"""


ONE_STUDY = """\
learners: {methods: [ranksvm]}
studies: [zha]
"""


def in_storage(bucket: Path) -> list[str]:
    """Options of Snakemake for a run whose files go through a folder that stands for a bucket."""
    where = ["--default-storage-provider", "fs", "--default-storage-prefix", str(bucket)]
    return [*where, "--shared-fs-usage", "persistence", "software-deployment", "sources", "source-cache"]


@pytest.mark.full
def test_data_of_yours_and_published_figures_are_in_no_storage(project: Path, tmp_path: Path, mirror: Path) -> None:
    pytest.importorskip("snakemake_storage_plugin_fs")
    copy = copy_project(project, tmp_path / "copy")
    runs = f"{{kind: runs, runs: '{mirror}/runs/codec', qrels: '{mirror}/runs/codec/document_ndcg.qrels.xz'}}"
    (copy.folder / "c.yaml").write_text(f"mirror: {mirror}\ndatasets: [mq2008, mine]\nown:\n  mine: {runs}\n")
    plan = ["--dry-run", "--quiet", "rules", "--configfile", "c.yaml"]
    plain, stored = (copy.snakemake(*plan, *where) for where in ([], in_storage(tmp_path / "bucket")))
    assert plain.partition("Job stats")[2] == stored.partition("Job stats")[2] != ""


@pytest.mark.full
def test_a_study_in_a_storage_ends_with_the_manifest_of_a_plain_run(project: Path, tmp_path: Path) -> None:
    """Without a shared file system: jobs see what they are given, and all that they make is that of a plain run."""
    pytest.importorskip("snakemake_storage_plugin_fs")
    if shutil.which("rsync") is None:  # which the provider uses
        (tmp_path / "rsync").write_text(RSYNC.format(python=sys.executable))
        (tmp_path / "rsync").chmod(0o755)
    (tmp_path / "bucket").mkdir()
    where = in_storage(tmp_path / "bucket")
    copy = copy_project(project, tmp_path / "copy")
    (copy.folder / "one.yaml").write_text(ONE_STUDY)
    config = ["--cores", "2", "--configfile", "tests/configs/tiny.yaml", "one.yaml"]
    printed = copy.snakemake(*config, *where, PATH=f"{os.environ['PATH']}:{tmp_path}")
    assert f"in the storage, {tmp_path}/bucket/results/;" in printed
    assert not (copy.folder / SUMMARY).exists()
    copy.snakemake(*config)
    stored, plain = (json.loads((folder / MANIFEST).read_text()) for folder in (tmp_path / "bucket", copy.folder))
    assert stored == plain

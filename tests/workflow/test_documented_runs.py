"""Commands of the documentation that run the workflow, on a study that is finished but for one figure; tiny data stand for the reader's."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow.compute as pc
import pytest
import yaml
from snakemake.utils import update_config

from qdrank.datasets.runs.reading import read_qrels, read_run
from qdrank.evaluation.run_files import measure_run
from qdrank.store import read
from qdrank.workflow.config_files import load_yaml
from tests.conftest import PROJECT
from tests.workflow.documented import to_run
from tests.workflow.project import Project, copy_project

MEASURES = ["ap", "ndcg@10/exp", "p@5/letor4"]
LACKING = "results/tiny/figures/geng-fig7.pdf"
#: Configurations that name data which a test does not have, or takes long.
CONFIGURATIONS = ("config/first.yaml", "config/letor.yaml", "mine.yaml")
# Run with own data by test_documented_commands.py, and without results by the test of size below.
FRESH = ("single_features", "--dry-run", "config/scale.yaml")
RUNS = [c for c in to_run(PROJECT, "snakemake") if not any(word in c for word in FRESH)]
# Each is one target of the default study: they are given together.
TARGETS = [c for c in RUNS if re.fullmatch(r"snakemake --cores \w+ [a-z]\w*", c)]


@pytest.fixture
def desk(finished: Project, tmp_path: Path) -> Project:
    """A copy of the project and of the finished study, of which one figure is missing; the default study is the tiny one."""
    folder = tmp_path / "desk"
    shutil.copytree(finished.folder, folder, symlinks=True)
    config: dict[str, Any] = {}
    for name in ("tests/configs/tiny.yaml", "config/config.yaml", "tests/configs/tiny.yaml"):  # in Snakemake's order
        update_config(config, load_yaml(folder / name))
    (folder / "config/config.yaml").write_text(yaml.safe_dump(config, sort_keys=False))
    for name in CONFIGURATIONS:
        (folder / name).write_text("datasets: [tiny]\n")
    (folder / LACKING).unlink()
    (folder / "results/config.yaml").unlink()  # the results belong to the configuration of the command
    return Project(folder)


def directory(command: str) -> str:
    """Folder of the run that a command names."""
    given = re.search(r"(?:--directory |DIRECTORY=)(\S+)", command)
    return given[1] if given else "."


def moved(desk: Project, command: str) -> Path:
    """Move the results to where the command looks for them; give that folder."""
    folder = desk.folder / directory(command)
    if folder != desk.folder:
        folder.mkdir(parents=True)
        for name in ("results", ".snakemake"):
            (desk.folder / name).rename(folder / name)
    return folder


@pytest.mark.parametrize("command", [c for c in RUNS if c not in TARGETS])
def test_commands_of_snakemake_run(finished: Project, desk: Project, command: str) -> None:
    folder = moved(desk, command)
    words = shlex.split(command.replace("results/mq2008/", "results/tiny/"))[1:]
    if "--unlock" in words:
        lock = folder / ".snakemake/locks/0.input.lock"
        lock.parent.mkdir(exist_ok=True)
        lock.write_text("results/tiny/judged.parquet\n")
        desk.snakemake(*words)
        assert not lock.exists()
    elif "--delete-temp-output" in words:
        late = folder / "results/tiny/fold1/zha/trees/plain/cells.parquet"
        late.parent.mkdir(parents=True, exist_ok=True)
        late.write_text("of a job that ended late")
        desk.snakemake(*words)
        assert not late.exists()
        assert (folder / "results/tiny/fold1/zha/cells.parquet").exists()
    elif "--report" in words:
        shutil.copy(finished.folder / LACKING, folder / LACKING)
        shutil.copy(finished.folder / "results/config.yaml", folder / "results")
        desk.snakemake(*words)
        check_report(folder / "results/report.html")
    elif "first_stages" in command:  # of text collections
        assert re.search(r"tabulate_first_stages +1\n", desk.snakemake(*words, "--dry-run", "--quiet", "rules"))
    elif "fig7" not in command:  # a whole study, planned here; `make run` runs one below, tests/cluster the profiles
        assert re.search(r"draw_geng_fig7 +1\n", desk.snakemake(*words, "--dry-run", "--quiet", "rules"))
    else:
        desk.snakemake(*words)
        assert (folder / LACKING).stat().st_size > 0


def check_report(report: Path) -> None:
    """One small file that needs no network."""
    page = report.read_text()
    assert len(page) < 20_000_000
    assert not re.search(r"<(?:script|link|img)[^>]+(?:src|href)=[\"']https?://", page)
    assert "Single features" in page


def test_every_target_is_one(desk: Project) -> None:
    targets = [command.split()[-1] for command in TARGETS]
    assert {"geng_fig7", "geng2008", "learners", "rankers", "runs", "crate", "lin", "zha", "hoi", "beyond"} <= set(
        targets
    )
    deleted = desk.folder / "results/tiny/fold1/served/single.parquet"
    deleted.unlink()
    printed = desk.snakemake("--cores", "4", *targets)
    assert deleted.exists()  # by the target "rankers"
    assert re.search(r"draw_geng_fig7 +1\n", printed)
    assert (desk.folder / LACKING).stat().st_size > 0
    check_runs(desk.folder / "results/tiny")
    assert '"./"' in (desk.folder / "results/ro-crate-metadata.json").read_text()


def check_runs(folder: Path) -> None:
    """Every run, read back, has the measures that the study wrote."""
    table = read(folder / "measures.parquet", "measures")
    served = table.filter(pc.equal(table["fit"], 0)) if "fit" in table.column_names else table
    values = {(row["method"], row["query_id"]): row for row in served.to_pylist()}
    qrels = read_qrels(folder / "fold1/runs/judgments.qrels.gz")
    runs = sorted((folder / "fold1/runs").glob("*.run.gz"))
    assert {path.name.removesuffix(".run.gz") for path in runs} == {method for method, _ in values}
    for path in runs:
        queries, measured = measure_run(MEASURES, read_run(path), qrels)
        for name in MEASURES:
            expected = [values[path.name.removesuffix(".run.gz"), query][name] for query in queries]
            assert measured[name].tolist() == pytest.approx(expected, abs=1e-9), (path.name, name)


def test_profiles_are_run_on_a_cluster() -> None:
    text = (PROJECT / "tests/cluster/test_slurm.py").read_text()
    profiles = [shlex.split(command)[2] for command in RUNS if "--workflow-profile" in command]
    assert len(profiles) == 2
    for profile in profiles:
        (name,) = re.findall(rf'^(\w+) = \("--workflow-profile", "{profile}"', text, re.MULTILINE)
        assert re.search(rf"Run\(copy,.* \*{name}, ", text), profile


def test_the_study_for_size_begins_at_a_small_size(project: Path, tmp_path: Path) -> None:
    (command,) = (command for command in to_run(project, "snakemake") if "config/scale.yaml" in command)
    copy = copy_project(project, tmp_path)
    config = copy.folder / "config/scale.yaml"
    small, changed = re.subn(
        r"settings: \{.*\}", "settings: {train: 30, vali: 10, test: 10, documents: 8, features: 5}", config.read_text()
    )
    assert changed == 1
    config.write_text(small)
    printed = copy.snakemake(*shlex.split(command)[1:], "--until", "describe_queries")
    assert re.search(r"describe_queries +1\n", printed)
    assert (copy.folder / "runs/scale/results/scale/fold1/queries.parquet").is_file()


@pytest.fixture
def made(desk: Project) -> Project:
    """The desk with a Makefile, and with the programs of this test as its .venv."""
    for name in ("Makefile", "requirements", "docs", "bench"):
        source = PROJECT / name
        (shutil.copytree if source.is_dir() else shutil.copy)(source, desk.folder / name)
    (desk.folder / ".venv").mkdir()
    for name in ("bin", "lib", "pyvenv.cfg"):
        if (Path(sys.prefix) / name).exists():
            (desk.folder / ".venv" / name).symlink_to(Path(sys.prefix) / name)
    locked = (desk.folder / "requirements/dev.txt").read_bytes()
    digest = subprocess.run(["cksum"], input=locked, capture_output=True, check=True).stdout.split()[0].decode()
    (desk.folder / f".venv/.made-from-{digest}").touch()
    return desk


def make(project: Project, *words: str) -> str:
    variables = {k: v for k, v in os.environ.items() if k not in ("QDRANK_MIRROR", "MAKEFLAGS", "MAKELEVEL")}
    ran = subprocess.run(
        ["make", "PYTHON=false", *words], cwd=project.folder, env=variables, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0 or "fix:" in ran.stdout, (words, ran.stdout[-3000:], ran.stderr[-3000:])
    assert "setting up .venv" not in ran.stdout
    return ran.stdout


def test_make_run_makes_the_first_page_and_the_report(made: Project) -> None:
    plain, other = (command for command in to_run(PROJECT, "make") if command.startswith("make run"))
    assert plain == "make run"
    printed = make(made, "--dry-run", *shlex.split(other)[1:])
    assert f'qdrank run config/config.yaml --directory "{directory(other)}"' in printed
    assert "Start here: results/index.html" in make(made, "run")
    assert (made.folder / LACKING).stat().st_size > 0
    check_report(made.folder / "results/report.html")


def test_other_commands_of_make(made: Project) -> None:
    """`make bench` goes through its scripts with a program that only names them; test_documented_benchmarks.py loads them."""
    others = {command for command in to_run(PROJECT, "make") if not command.startswith("make run")}
    assert others == {"make setup", "make bench", "make picture", "make findings", "make findings STUDY=lin"}
    assert "qdrank retrieve nfcorpus" in make(made, "--dry-run", "findings")
    printed = make(made, "--dry-run", "findings", "STUDY=lin")
    assert "for name in claims nfcorpus; do" in printed
    assert "qdrank retrieve" not in printed, "runs are for the findings of hybrid alone"
    assert "--configfile config/$name.yaml --config 'studies=[lin]' -- results/claims-overview.html" in printed
    assert "Snakemake" in make(made, "setup")
    make(made, "picture")
    assert (made.folder / "docs/architecture.md").read_bytes() == (PROJECT / "docs/architecture.md").read_bytes()
    (made.folder / ".venv/bin").unlink()
    (made.folder / ".venv/bin").mkdir()
    named = made.folder / ".venv/bin/python"
    named.write_text('#!/bin/sh\necho "$1"\n')
    named.chmod(0o755)
    scripts = [line for line in make(made, "bench").splitlines() if not line.startswith("==")]
    there = {str(path.relative_to(PROJECT)) for path in PROJECT.glob("bench/*.py")}
    assert set(scripts) == there - {"bench/schedule.py"}  # which is about a run that it is given


def test_the_environment_is_activated(made: Project) -> None:
    (command,) = to_run(PROJECT, "source")
    assert command == "source .venv/bin/activate"
    if not (made.folder / ".venv/bin/activate").exists():
        pytest.skip("the programs of this test are not in an environment")
    check = f"{command} && command -v snakemake && command -v qdrank"
    subprocess.run(["bash", "-c", check], cwd=made.folder, check=True, stdout=subprocess.DEVNULL)

"""However the work is divided: the same bytes. (A cluster: tests/cluster; kills: test_kills.py.)"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.workflow.project import Project, copy_project, result_digests

LOCAL = "results/tiny/fold1/models/local.parquet"


@pytest.mark.slow
def test_the_number_of_shards_changes_no_byte(study: Project) -> None:
    """Blocks of 8 models, so that seven shards have work."""
    found = {}
    for shards in (1, 3, 7):
        (study.folder / "mine.yaml").write_text(f"training: {{block: 8, shards: {shards}}}\n")
        (study.folder / LOCAL).unlink(missing_ok=True)
        arguments = ("--cores", "2", "--configfile", "tests/configs/tiny.yaml", "mine.yaml")
        printed = study.snakemake(LOCAL, *arguments)
        assert f"train_local {shards:>{20}}".split() in [line.split() for line in printed.splitlines()]
        found[shards] = result_digests(study.folder / "results")[LOCAL.removeprefix("results/")]
    print(f"\n{LOCAL}: {found}")
    assert len(set(found.values())) == 1


@pytest.mark.slow
def test_another_copy_on_one_core_gives_the_same_bytes(finished: Project, project: Path, tmp_path: Path) -> None:
    """One core against two, in a folder of another name, at another time, with another hash seed and time zone."""
    other = copy_project(project, tmp_path / "another name")
    settings = ("--cores", "1", "--configfile", "tests/configs/tiny.yaml")
    other.snakemake(*settings, PYTHONHASHSEED="7", TZ="Asia/Tokyo", LC_ALL="C", LANG="C")
    first, second = (result_digests(copy.folder / "results") for copy in (finished, other))
    manifest = json.loads((other.folder / "results/manifest.json").read_text())
    print(f"\n{len(second)} files, digest of all: {manifest['all']}")
    assert first == second

"""What the profiles for clusters must have in common with the default one, and what every rule must ask for."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest
import yaml

from tests.workflow.project import copy_project

CLUSTERS = ("slurm", "cluster-generic")


def profile(project: Path, name: str) -> dict[str, object]:
    return yaml.safe_load((project / "workflow/profiles" / name / "profile.yaml").read_text())


@pytest.mark.parametrize("name", CLUSTERS)
def test_a_cluster_profile_repeats_the_default_one(project: Path, name: str) -> None:
    """A run reads one workflow profile: what the default one sets would be lost."""
    assert profile(project, "default").items() <= profile(project, name).items()


@pytest.mark.parametrize("name", CLUSTERS)
def test_a_cluster_profile_tries_again(project: Path, name: str) -> None:
    settings = profile(project, name)
    assert settings["retries"] == 2
    assert settings["latency-wait"] >= 30
    assert {"mem_mb", "runtime"} <= settings["default-resources"].keys()


def test_the_status_script_can_be_run(project: Path) -> None:
    script = profile(project, "cluster-generic")["cluster-generic-status-cmd"]
    assert os.access(project / str(script), os.X_OK)


def test_every_rule_asks_for_more_when_tried_again(project: Path) -> None:
    """A constant would fail every retry as it failed the first try."""
    for file in sorted((project / "workflow/rules").glob("*.smk")):
        asked = re.findall(r"^\s+(?:mem_mb|runtime)=(.*)$", file.read_text(), re.MULTILINE)
        assert all(re.match(r"(?:memory|minutes)\(", value) for value in asked), f"{file.name}: {asked}"


ASKED = """
import json


include: "Snakefile"


asked = {
    f"{name} {attempt}": [ask(100, 2)(None, input=[f"{name}.bin"], attempt=attempt) for ask in (memory, minutes)]
    for name in ("small", "large")
    for attempt in (1, 2)
}
with open("asked.json", "w") as file:
    json.dump(asked, file)
"""


def test_memory_and_time_grow_with_the_input_and_with_every_retry(project: Path, tmp_path: Path) -> None:
    copy = copy_project(project, tmp_path)
    (copy.folder / "asked.smk").write_text(ASKED)
    for name, mb in (("small", 1), ("large", 50)):
        (copy.folder / f"{name}.bin").write_bytes(bytes(mb * 2**20))
    copy.tiny("--snakefile", "asked.smk", "--dry-run", "--quiet", "all")
    asked = json.loads((copy.folder / "asked.json").read_text())
    assert asked == {"small 1": [102, 102], "small 2": [204, 204], "large 1": [200, 200], "large 2": [400, 400]}

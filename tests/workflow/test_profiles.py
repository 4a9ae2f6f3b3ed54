"""What the profiles for clusters must have in common with the default one, and what every rule must ask for."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
import yaml

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

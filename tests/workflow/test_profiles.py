"""What the profiles for clusters must have in common with the default one, and what every rule must ask for."""

import os
import re
from pathlib import Path

import pytest
import yaml

from qdrank import __version__

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


def test_the_scripts_of_a_profile_can_be_run(project: Path) -> None:
    commands = [
        str(profile(project, "cluster-generic")[f"cluster-generic-{what}-cmd"]) for what in ("status", "submit")
    ]
    scripts = re.findall(r"workflow/profiles/\S+\.sh", " ".join(commands))
    assert scripts
    assert all(os.access(project / script, os.X_OK) for script in scripts)


def test_the_container_is_installed_as_make_does(project: Path) -> None:
    """The lines of the Dockerfile that install are those of the Makefile; the recipe for Apptainer is made from its image."""
    made, image = ((project / name).read_text() for name in ("Makefile", "Dockerfile"))
    setup = made.partition("$(READY):")[2]
    lines = [line.partition("pip install ")[2] for line in setup.splitlines() if "/pip install" in line]
    assert lines
    assert lines == [line.partition("pip install ")[2] for line in image.splitlines() if line.startswith("RUN pip")]
    tag = re.search(r"docker build --tag (\S+)", image)
    assert tag
    assert f"From: {tag[1]}\n" in (project / "envs/qdrank.def").read_text()
    assert tag[1].endswith(f":{__version__}")
    assert 'container: "qdrank.sif"\n' in (project / "workflow/Snakefile").read_text()


def test_every_rule_asks_for_more_when_tried_again(project: Path) -> None:
    """A constant would fail every retry as it failed the first try."""
    for file in sorted((project / "workflow/rules").glob("*.smk")):
        asked = re.findall(r"^\s+(?:mem_mb|runtime)=(.*)$", file.read_text(), re.MULTILINE)
        assert all(re.match(r"(?:memory|minutes)\(", value) for value in asked), f"{file.name}: {asked}"

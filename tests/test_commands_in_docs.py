"""Commands in the documentation can be copied: targets first, cores given, options that exist."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from qdrank.cli import COMMANDS

# Runs elsewhere or runs nothing: the number of cores is the profile's, or none.
WITHOUT_CORES = ("--workflow-profile", "--report", "--unlock", "--lint", "-n", "--dry-run", "--version")


def texts(project: Path) -> list[Path]:
    return [
        project / "README.md",
        *project.glob("docs/**/*.md"),
        *project.glob("config/*.md"),
        *project.glob("config/*.yaml"),
    ]


def commands(project: Path, name: str) -> list[str]:
    found = []
    for path in texts(project):
        for line in path.read_text().splitlines():
            inline = re.findall(rf"`({name} [^`]*)`", line)
            block = re.findall(rf"^(?:    |# .*: |\\$ |)({name} [^`]*)$", line)
            found += [command.partition("  #")[0].strip() for command in [*inline, *block]]
    return found


def test_there_are_commands(project: Path) -> None:
    assert len(commands(project, "snakemake")) > 10
    assert len(commands(project, "qdrank")) > 10


def test_targets_come_before_configuration_files(project: Path) -> None:
    for command in commands(project, "snakemake"):
        words = shlex.split(command.replace("...", ""))
        if "--configfile" in words:
            behind = words[words.index("--configfile") + 1 :]
            files = behind[: next((i for i, word in enumerate(behind) if word.startswith("-")), len(behind))]
            assert all(file.endswith((".yaml", ".yml")) for file in files), command


def test_cores_are_given(project: Path) -> None:
    for command in commands(project, "snakemake"):
        assert "--cores" in command or any(option in command for option in WITHOUT_CORES), command


@pytest.mark.parametrize("name", ["qdrank"])
def test_commands_of_qdrank_exist(project: Path, name: str) -> None:
    for command in commands(project, name):
        assert command.split()[1] in COMMANDS or command.split()[1].startswith("-"), command

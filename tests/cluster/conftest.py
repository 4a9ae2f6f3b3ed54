"""A real SLURM on this machine, started for these tests and stopped after them."""

import contextlib
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.workflow.project import ONE_STUDY, VERDICTS, Project, copy_project

HERE = Path(__file__).parent
PACKAGES = ("slurm-wlm", "munge")


@dataclass
class Cluster:
    """The running SLURM; ``state`` holds its logs."""

    state: Path

    def jobs(self, name: str) -> list[dict[str, str]]:
        """Ended jobs of a run, as SLURM recorded them; a requeued one is there once an attempt."""
        lines = (self.state / "jobs.txt").read_text().splitlines()
        rows = [dict(re.findall(r"(\w+)=(\S*)", line)) for line in lines]
        return [row for row in rows if row["Name"] == name]

    def show(self, *names: str) -> None:
        """Print what became of the jobs of some runs."""
        print(f"\n{'job':>5} {'state':<12} {'node':<5} {'minutes':>7}  resources")
        for row in (row for name in names for row in self.jobs(name)):
            asked = row["Tres"].split(",node")[0]
            print(f"{row['JobId']:>5} {row['JobState']:<12} {row['NodeList']:<5} {row['TimeLimit']:>7}  {asked}")


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    _install()
    state = tmp_path_factory.mktemp("slurm")
    started = subprocess.run([HERE / "start.sh", state], capture_output=True, text=True, check=False)
    try:
        if started.returncode == 3:
            pytest.skip(started.stderr)
        assert started.returncode == 0, started.stderr
        print(started.stdout)
        yield Cluster(state)
    finally:
        if started.returncode != 3:
            subprocess.run([HERE / "stop.sh", state], check=False)
            _end_strays(tmp_path_factory.getbasetemp())


def _end_strays(base: Path) -> None:
    """End what still runs below the tests' own folder: on a node that is set down, nobody ends its processes."""
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it has just ended
            if (process / "cwd").readlink().is_relative_to(base) and int(process.name) != os.getpid():
                os.kill(int(process.name), signal.SIGKILL)


def _install() -> None:
    """Debian's SLURM; skips, with the reason, where it cannot be had."""
    if os.geteuid() != 0:
        pytest.skip("a cluster of its own needs root")
    if shutil.which("slurmctld") and shutil.which("munged"):
        return
    if not shutil.which("apt-get"):
        pytest.skip(f"needs {' and '.join(PACKAGES)}, and there is no apt-get to install them")
    install = ["apt-get", "install", "--yes", "--no-install-recommends", *PACKAGES]
    for command in (install, ["apt-get", "update"], install):
        ran = subprocess.run(
            command, capture_output=True, text=True, check=False, env=os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
        )
        if ran.returncode == 0 and command is install:
            return
    pytest.skip(f"{' '.join(install)} failed: {ran.stderr[-300:]}")


@pytest.fixture(scope="session")
def local(project: Path, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The tiny study of one paper, run on this machine without the cluster."""
    copy = copy_project(project, tmp_path_factory.mktemp("local"))
    copy.snakemake("--cores", "2", VERDICTS, *ONE_STUDY)
    return copy

"""The same study through SLURM: the same bytes, whatever happens on the way."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.cluster.conftest import HERE, Cluster
from tests.workflow.project import ONE_STUDY, VERDICTS, Project, copy_project, result_digests

TINY = (VERDICTS, *ONE_STUDY)
# The shipped profile; the pace of asking is that of a test, and the nodes have two cores.
SLURM = (
    "--workflow-profile",
    "workflow/profiles/slurm",
    "--slurm-init-seconds-before-status-checks",
    "1",
    "--max-threads",
    "2",
)
GENERIC = ("--workflow-profile", "workflow/profiles/cluster-generic", "--seconds-between-status-checks", "2")


class Run:
    """Snakemake in the background, in a process group of its own."""

    def __init__(self, project: Project, *arguments: str) -> None:
        self.log = project.folder / f"run-{time.monotonic_ns()}.log"
        variables = {k: v for k, v in os.environ.items() if k not in ("QDRANK_MIRROR", "PYTHONPATH")}
        with self.log.open("w") as file:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "snakemake", *arguments],
                cwd=project.folder,
                env=variables,
                stdout=file,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def printed(self) -> str:
        return self.log.read_text()

    def name(self) -> str:
        """The run's id: the name of all its jobs."""
        return re.search(r"SLURM run ID: (\S+)", self.printed()).group(1)

    def wait_for(self, condition: Callable[[], object], seconds: float = 120) -> None:
        until = time.monotonic() + seconds
        while not condition():
            assert self.process.poll() is None, self.printed()[-3000:]
            assert time.monotonic() < until, self.printed()[-3000:]
            time.sleep(0.2)

    def kill(self) -> None:
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


@pytest.fixture(scope="module")
def trouble(cluster: Cluster, project: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    """Jobs that go wrong, running while the other tests run: most of their time is waiting."""
    copy = copy_project(project, tmp_path_factory.mktemp("trouble"))
    (copy.folder / "trouble.smk").write_bytes((HERE / "trouble.smk").read_bytes())
    run = Run(copy, "--snakefile", "trouble.smk", *SLURM, *ONE_STUDY)
    try:
        nodes = copy.folder / "nodes.txt"
        run.wait_for(lambda: nodes.exists() and nodes.read_text().strip())
        node = nodes.read_text().split()[0]
        scontrol("update", f"nodename={node}", "state=down", "reason=pulled")
        yield run
        scontrol("update", f"nodename={node}", "state=resume")
    finally:
        run.kill()


def scontrol(*arguments: str) -> None:
    subprocess.run(["scontrol", *arguments], check=True)


def queued(name: str) -> list[str]:
    command = ["squeue", "--noheader", "--states=PENDING,RUNNING", "--format=%i", f"--name={name}"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()


@pytest.mark.full
def test_troubled_jobs_begin(trouble: Run) -> None:
    """They run while the next tests run."""
    assert trouble.process.poll() is None


def test_a_killed_run_is_resumed_and_gives_the_bytes_of_a_local_one(cluster, local, project, tmp_path):
    copy = copy_project(project, tmp_path)
    first = Run(copy, *SLURM, *TINY)
    first.wait_for(lambda: "steps (" in first.printed() and queued(first.name()))
    first.kill()
    # Jobs of the killed run go on; the documented way to be rid of them is their common name, which the log has too.
    assert queued(first.name())
    assert any(first.name() in log.read_text() for log in (copy.folder / ".snakemake/log").glob("*.log"))
    subprocess.run(["scancel", f"--name={first.name()}"], check=True)
    while queued(first.name()):
        time.sleep(0.2)

    copy.snakemake("--unlock", *ONE_STUDY)
    second = Run(copy, *SLURM, "--slurm-array-jobs", "train_local", *TINY)
    assert second.process.wait(timeout=2400) == 0, second.printed()[-4000:]
    cluster.show(first.name(), second.name())
    assert result_digests(copy.folder / "results") == result_digests(local.folder / "results")
    assert not [path for path in copy.folder.rglob("*.partial*") if ".snakemake" not in path.parts]
    ended = cluster.jobs(second.name())
    assert {row["JobState"] for row in ended} == {"COMPLETED"}
    assert len({row["NodeList"] for row in ended}) > 1
    assert re.search(r"Submitted array job .* individual task IDs are 1-2", second.printed())  # both shards in one call


def test_any_scheduler_gives_the_same_bytes(cluster: Cluster, local: Project, project: Path, tmp_path: Path) -> None:
    copy = copy_project(project, tmp_path)
    run = Run(copy, "results/tiny/judged.parquet", *GENERIC, *ONE_STUDY)
    assert run.process.wait(timeout=200) == 0, run.printed()[-4000:]
    assert re.search(r"Submitted job \d+ with external jobid", run.printed())
    made = result_digests(copy.folder / "results")
    assert "tiny/judged.parquet" in made
    assert made.items() <= result_digests(local.folder / "results").items()


@pytest.mark.full
def test_troubled_jobs_come_through(cluster: Cluster, trouble: Run) -> None:
    """Waits for the run of ``trouble.smk``; the tests after this one look at single jobs of it."""
    code = trouble.process.wait(timeout=400)
    cluster.show(trouble.name())
    assert code == 0, trouble.printed()[-4000:]


def outcome(trouble: Run, kind: str) -> str:
    return (trouble.log.parent / f"trouble/{kind}.txt").read_text().strip()


@pytest.mark.full
def test_a_job_killed_for_memory_is_tried_again_with_more(cluster: Cluster, trouble: Run) -> None:
    assert outcome(trouble, "greedy") == "1600"
    killed = [row for row in cluster.jobs(trouble.name()) if row["JobState"] in ("FAILED", "OUT_OF_MEMORY")]
    assert [row["Tres"].split(",")[1] for row in killed] == ["mem=800M"]


@pytest.mark.full
def test_a_job_past_its_time_is_tried_again_with_more(cluster: Cluster, trouble: Run) -> None:
    assert outcome(trouble, "slow") == "2"
    stopped = [row for row in cluster.jobs(trouble.name()) if row["JobState"] == "TIMEOUT"]
    assert [row["TimeLimit"] for row in stopped] == ["1"]


@pytest.mark.full
def test_a_job_whose_node_goes_down_ends_on_another(cluster: Cluster, trouble: Run) -> None:
    first, second = (trouble.log.parent / "nodes.txt").read_text().split()
    assert first != second
    assert outcome(trouble, "unlucky") == "done"
    # SLURM's own queue took it back: no retry was spent.
    assert "NODE_FAIL" in {row["JobState"] for row in cluster.jobs(trouble.name())}
    assert not re.search(r"Error in rule unlucky", trouble.printed())

"""However the work is divided, whatever is killed, whenever: one command resumes the run, and it ends with the same bytes.

(A cluster: tests/cluster.)
"""

import contextlib
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.workflow.project import Project, copy_project, result_digests

SEED = 1
# Other shards, another hash seed, time zone and language than the finished study has; the cores are drawn anew for each start.
SHARDS = {"local_large": 6, "lin_large": 3}
TINY = (
    *("--configfile", "tests/configs/tiny.yaml"),
    # "local" is also the number for work that has no number of its own.
    *("--set-scatter", "local=7", *(f"{name}={number}" for name, number in SHARDS.items())),
)
# What is run each day: one study.
DAILY = ("geng",)
OTHER = {"PYTHONHASHSEED": "7", "TZ": "Asia/Tokyo", "LC_ALL": "C", "LANG": "C"}
WRITER = """
import sys
from qdrank.store.atomic import write_text
for turn in range(10**9):
    write_text(sys.argv[1], f"{turn % 10}" * 200_000)
    print(turn, flush=True)
"""


@dataclass
class Kill:
    """One kill: what was killed while which jobs ran."""

    what: str
    where: str


@dataclass
class Victim:
    """A study in a folder of its own, run in the background, killed and resumed."""

    study: Project
    chance: random.Random
    targets: tuple[str, ...]
    kills: list[Kill] = field(default_factory=list)
    process: subprocess.Popen[bytes] | None = None
    log: Path = Path()
    starts: int = 0

    def start(self) -> None:
        self.starts += 1
        assert self.starts < 40, f"it does not get on:\n{self.log.read_text()[-3000:]}"
        self.log = self.study.folder / f"run{self.starts}.log"
        variables = {k: v for k, v in os.environ.items() if k not in ("QDRANK_MIRROR", "PYTHONPATH")} | OTHER
        cores = str(self.chance.choice([1, 2, 3]))
        with self.log.open("wb") as file:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "snakemake", *self.targets, "--cores", cores, *TINY],
                cwd=self.study.folder,
                env=variables,
                stdout=file,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def jobs(self) -> dict[int, str]:
        """Processes of this study's jobs that run now, with their rules; also those whose run was killed."""
        found = {}
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                command = (folder / "cmdline").read_bytes().decode(errors="replace").split("\0")
                here = Path(os.readlink(folder / "cwd")) == self.study.folder
                opened = [os.readlink(link) for link in (folder / "fd").iterdir()]  # a job has its log open
            except OSError:  # it has just ended
                continue
            logs = [rule for link in opened if (rule := re.fullmatch(rf"{self.study.folder}/logs/(\w+)/.*", link))]
            if logs and here and "bash" not in command[0]:
                found[int(folder.name)] = logs[0].group(1)
        return found

    def ended(self) -> int:
        """Jobs that this run has brought to an end so far, well or not."""
        return len(re.findall(r"^(?:Finished jobid|Error in rule)", self.log.read_text(), re.MULTILINE))

    def wait_for_a_job(self, more: int) -> bool:
        """True when ``more`` jobs than now have ended and another one runs; False when the run ended before."""
        assert self.process
        enough = self.ended() + more
        while self.process.poll() is None:
            if self.ended() >= enough and self.jobs():
                return True
            time.sleep(0.1)
        return False

    def resume(self) -> None:
        """What the documentation says, after a main process that was killed: unlock, and the same command again."""
        self.snakemake("--unlock")
        self.start()

    def snakemake(self, *options: str) -> str:
        return self.study.snakemake(*self.targets, *options, "--cores", "1", *TINY, **OTHER)

    def kill(self, what: str) -> None:
        """Kill one job, the main process alone (its jobs go on), or the main process with all its jobs."""
        assert self.process
        jobs = self.jobs()
        if what == "job" and jobs:
            # Rather one of a rule that was spared so far, so that the kills spread over the whole graph.
            spared = Counter(rule for kill in self.kills for rule in kill.where.split(", "))
            process = min(self.chance.sample(sorted(jobs), len(jobs)), key=lambda job: spared[jobs[job]])
            self.kills.append(Kill(what, jobs[process]))
            _kill(process)
        elif what != "job":
            self.kills.append(Kill(what, ", ".join(sorted(jobs.values())) or "between jobs"))
            (os.killpg if what == "everything" else os.kill)(self.process.pid, signal.SIGKILL)
            self.process.wait()
            self.resume()

    def end(self) -> None:
        if self.process and self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        for process in self.jobs():
            _kill(process)


def _kill(process: int) -> None:
    with contextlib.suppress(ProcessLookupError):  # it has just ended
        os.kill(process, signal.SIGKILL)


def show(kills: list[Kill]) -> None:
    print("\n| kill | of | while these ran |\n|--:|---|---|")
    for number, kill in enumerate(kills, 1):
        print(f"| {number} | {kill.what} | {kill.where} |")


@pytest.mark.parametrize(("kills", "targets"), [(1, DAILY), pytest.param(8, (), marks=pytest.mark.full)])
@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="finds the processes of jobs in /proc")
def test_divided_otherwise_and_killed_at_random_a_study_ends_with_the_same_bytes(
    project, tmp_path, request, kills, targets
):
    chance = random.Random(SEED)
    victim = Victim(copy_project(project, tmp_path / "another name"), chance, targets)
    results = victim.study.folder / "results"
    try:
        victim.start()
        while len(victim.kills) < kills:
            # So that the kills spread over the whole study, about a hundred jobs.
            if victim.wait_for_a_job(more=chance.choice([1, 2, 3, 4, 5, 6])):
                time.sleep(chance.uniform(0, 1))
                victim.kill(chance.choice(["job", "job", "main", "everything"]) if kills > 1 else "main")
            elif victim.process and victim.process.returncode == 0:
                shutil.rmtree(results / "tiny" / "figures")
                victim.start()
            else:  # it ended because a job was killed: the same command again, nothing to unlock
                victim.start()
        while victim.process and victim.process.wait(timeout=3600):
            assert "Error in rule" in victim.log.read_text()
            victim.start()
    finally:
        victim.end()
        show(victim.kills)
    # Asked for only now, so that another worker can make it in the meantime.
    finished: Project = request.getfixturevalue("finished")
    # A job that outlives its killed main process can end after the one that took its place: its intermediate files stay.
    victim.snakemake("--delete-temp-output")
    made, expected = (result_digests(folder) for folder in (results, finished.folder / "results"))
    assert made == ({name: expected.get(name) for name in made} if targets else expected)
    for name, number in list(SHARDS.items())[: 1 if targets else None]:
        rule = name.removesuffix("_large")
        assert list(victim.study.folder.glob(f"logs/*{rule}*/tiny/fold1/**/{number}-of-{number}.log")), name
    assert "Nothing to be done" in victim.snakemake()
    assert not [path for path in victim.study.folder.rglob("*.partial*") if ".snakemake" not in path.parts]


def test_a_killed_writer_leaves_the_old_file_or_the_new_one(tmp_path: Path, project: Path) -> None:
    chance = random.Random(SEED)
    target = tmp_path / "artifact.txt"
    for _ in range(15):
        command = [sys.executable, "-c", WRITER, target]
        variables = os.environ | {"PYTHONPATH": str(project / "src")}
        with subprocess.Popen(command, stdout=subprocess.PIPE, env=variables) as writer:
            assert writer.stdout
            assert writer.stdout.readline()
            time.sleep(chance.uniform(0, 0.05))
            writer.kill()
        text = target.read_text()
        assert len(text) == 200_000
        assert len(set(text)) == 1
        assert len(list(tmp_path.iterdir())) <= 2, "the next writer takes away what a killed one left"

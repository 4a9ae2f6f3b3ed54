import os
import signal
import subprocess
import sys
import time
from argparse import Namespace
from pathlib import Path

import pytest
from snakemake.cli import get_argument_parser

from qdrank.cli import main
from qdrank.commands.run import _configuration
from qdrank.project import PROJECT
from qdrank.workflow.recorded import SHORT, recorded_text

MINE, NAMED = Path("mine.yaml"), Path("named.yaml")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    MINE.write_text("datasets: [sim1]\n")
    NAMED.write_text("datasets: [sim1]\nstudies: [lin]\n")
    return tmp_path


@pytest.mark.parametrize(
    ("begun", "words", "expected"),
    [
        (None, [], [SHORT]),
        (None, ["--all"], [PROJECT / "config/config.yaml"]),
        (None, [MINE], [SHORT, MINE]),
        (None, [MINE, "--all"], [MINE]),
        (None, [NAMED], [NAMED]),
        (None, [SHORT], [SHORT]),
        ([SHORT, MINE], [], []),
        ([SHORT, MINE], [MINE], [SHORT, MINE]),
        ([SHORT, MINE], [MINE, "--all"], [MINE]),
        ([SHORT, MINE], ["--all"], [MINE]),
        ([MINE], [MINE], [MINE]),
    ],
)
def test_it_begins_with_the_short_study(folder, begun, words, expected):
    if begun is not None:
        (folder / "results").mkdir()
        (folder / "results/config.yaml").write_text(recorded_text(list(map(str, begun)), "seed: 1\n"))
    given = [word for word in words if isinstance(word, Path)]
    assert _configuration(Namespace(config=given, all="--all" in words, directory=Path())) == expected


def refused(*words: str) -> str:
    command = [sys.executable, "-m", "qdrank.cli", "run", *words, "--cores", "1", "--dry-run"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 1
    return ran.stderr


def test_a_dry_run_in_results_of_another_configuration_is_refused(folder: Path) -> None:
    (folder / "results").mkdir()
    (folder / "results/config.yaml").write_text(recorded_text(["other.yaml"], "seed: 1\n"))
    said = refused("mine.yaml")
    assert "results belongs to another run (--configfile other.yaml)" in said
    assert "qdrank run mine.yaml --directory runs/mine\n" in said


def test_a_target_that_is_near_is_named(folder: Path) -> None:
    assert refused("mine.yaml", "--target", "geng_fig77").endswith("makes geng_fig77; did you mean geng_fig7?\n")


def test_targets_are_targets_on_a_terminal(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the bar is an option of its own, that takes several words."""
    commands: list[list[str]] = []
    monkeypatch.setattr("qdrank.commands.run._called", lambda command: commands.append(command) or 0)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert main(["run", "mine.yaml", "--target", "geng", "--target", "lin"]) == 0
    args = get_argument_parser().parse_args(commands[0][3:])
    assert args.targets == ["geng", "lin"]
    assert args.logger == ["qdrank"]


#: Stands for Snakemake: it starts a job, and ends in order at SIGTERM alone, saying how often it was asked.
ENGINE = """
import signal, subprocess, sys, time
asked = []
signal.signal(signal.SIGTERM, lambda *_: asked.append(1))
job = subprocess.Popen([sys.executable, "-c", "import time; print('job', flush=True); time.sleep(60)"])
code = job.wait()
time.sleep(0.2)
print("ended", len(asked), code, flush=True)
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
@pytest.mark.parametrize("terminal", [False, True])
def test_a_signal_ends_the_engine_and_its_jobs_once(number: signal.Signals, terminal: bool) -> None:
    """From a terminal the signal reaches the whole group of the command; with `kill`, the command alone."""
    call = f"import sys\nfrom qdrank.commands.run import _called\nsys.exit(_called([sys.executable, '-c', {ENGINE!r}]))"
    with subprocess.Popen([sys.executable, "-c", call], stdout=subprocess.PIPE, text=True, process_group=0) as command:
        assert command.stdout
        assert command.stdout.readline() == "job\n"
        (os.killpg if terminal else os.kill)(command.pid, number)
        assert command.stdout.read() == f"ended 1 {-signal.SIGTERM}\n"
    assert command.returncode == 128 + number


def test_a_run_that_is_stopped_says_so_and_leaves_nothing_running(folder: Path) -> None:
    """The whole way, through Snakemake: no traceback, no failed job, no lock, no orphan."""
    words = ["run", "mine.yaml", "--target", "results/sim1/judged.parquet", "--cores", "1"]
    with (folder / "log").open("w") as log:
        command = subprocess.Popen([sys.executable, "-m", "qdrank.cli", *words], stdout=log, stderr=log)
    while "localrule" not in (folder / "log").read_text():
        assert command.poll() is None, (folder / "log").read_text()
        time.sleep(0.1)
    group = _child(command.pid)
    command.terminate()
    assert command.wait(60) == 128 + signal.SIGTERM
    said = (folder / "log").read_text()
    assert said.endswith("\nqdrank: stopped; the same command goes on\n")
    assert "qdrank: the short study; with --all all studies" in said
    assert "jobs with --configfile" in said
    assert "about 1 min on 1 core" in said
    assert not any(word in said for word in ("Traceback", "Error", "failed"))
    assert not list((folder / ".snakemake/locks").glob("*"))
    with pytest.raises(ProcessLookupError):
        os.killpg(group, 0)


def _child(process: int) -> int:
    return int(Path(f"/proc/{process}/task/{process}/children").read_text().split()[0])

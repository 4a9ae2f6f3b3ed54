"""The longest chain of a run, and the time on more cores, from records as Snakemake writes them."""

from __future__ import annotations

import base64
import json
from itertools import pairwise, permutations
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qdrank.cli import main
from qdrank.commands.critical_path import Job, longest_chain, needed_for, parents, read_jobs, wall_seconds

# Rule, seconds, outputs, inputs
RUN = [
    ("fetch", 2.0, ["data"], ["the/net"]),
    ("train", 10.0, ["m1"], ["data"]),
    ("train", 30.0, ["m2"], ["data"]),
    ("train", 20.0, ["m3"], ["data"]),
    ("score", 5.0, ["scores", "choices"], ["m1", "m2", "m3", "data"]),
    ("draw", 1.0, ["figures/a.svg"], ["choices"]),
    ("other", 7.0, ["b"], []),
]


def record(folder: Path, output: str, **content: object) -> None:
    name = base64.b64encode(output.encode()).decode()
    parts = [f"@{name[i : i + 50]}" for i in range(0, len(name) - 50, 50)]
    path = folder.joinpath(".snakemake", "metadata", *parts, name[50 * len(parts) :])
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for i, (rule, seconds, outputs, inputs) in enumerate(RUN):
        times = {"starttime": 1000.0 + i, "endtime": 1000.0 + i + seconds, "incomplete": False}
        for output in outputs:
            record(tmp_path, output, rule=rule, input=inputs, log=[f"logs/{rule}/{i}.log"], **times)
    record(tmp_path, "running", rule="late", input=[], log=["x"], starttime=5.0, endtime=None, incomplete=True)
    record(
        tmp_path, "a/long/" * 30 + "name", rule="other", input=[], log=["logs/other/6.log"], starttime=1.0, endtime=2.0
    )
    (tmp_path / ".snakemake" / "metadata" / "notes.txt").write_text("no record")
    return tmp_path


def test_records_become_jobs(folder: Path) -> None:
    jobs = read_jobs(folder)
    assert len(jobs) == len(RUN)
    score = next(job for job in jobs if job.rule == "score")
    assert (score.seconds, sorted(score.outputs)) == (5.0, ["choices", "scores"])
    assert "a/long/" * 30 + "name" in next(job for job in jobs if job.rule == "other").outputs


def test_the_report(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["critical-path", str(folder), "--cores", "1", "2", "3"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "7 jobs, 75 core seconds of work; the longest chain has 4 jobs and takes 38 s"
    assert [line.split()[2:] for line in lines[3:7]] == [
        ["fetch", "data"],
        ["train", "m2"],
        ["score", "choices"],
        ["draw", "figures/a.svg"],
    ]
    walls = {int(cores): float(wall) for cores, wall, _ in (line.split() for line in lines[9:])}
    assert walls == {1: 75.0, 2: 43.0, 3: 38.0}  # by hand


def test_threads_hold_cores(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        main(["critical-path", str(folder), "--cores", "2", "3", "8", "--threads", "train=2", "--threads", "draw=9"])
        == 0
    )
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("7 jobs, 143 core seconds of work;")
    walls = {int(cores): float(wall) for cores, wall, _ in (line.split() for line in lines[9:])}
    # by hand: on two cores the training waits for other (7), on three only for fetch (2); then 60 one after another, 5, 1
    assert walls == {2: 73.0, 3: 68.0, 8: 38.0}
    assert main(["critical-path", str(folder), "--threads", "trane=2"]) == 2
    assert "did you mean train?" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["critical-path", str(folder), "--threads", "train"])
    assert "train_lambdamart=4" in capsys.readouterr().err


def test_only_what_a_file_needs(folder: Path) -> None:
    jobs = needed_for(read_jobs(folder), ["figures/*"])
    assert sorted(job.rule for job in jobs) == ["draw", "fetch", "score", "train", "train", "train"]


def test_wrong_folders_and_patterns_are_told(
    folder: Path, tmp_path_factory, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["critical-path", str(tmp_path_factory.mktemp("empty"))]) == 2
    assert "no records of finished jobs" in capsys.readouterr().err
    assert main(["critical-path", str(folder), "--to", "nothing/*"]) == 2
    assert "nothing/*" in capsys.readouterr().err


@st.composite
def graphs(draw):
    seconds = draw(st.lists(st.integers(1, 9), min_size=1, max_size=6))
    reads = [draw(st.sets(st.integers(0, i - 1))) if i else set() for i in range(len(seconds))]
    jobs = [
        Job(f"r{i}", float(s), [f"f{i}"], {f"f{j}" for j in own})
        for i, (s, own) in enumerate(zip(seconds, reads, strict=True))
    ]
    return draw(st.permutations(jobs))


def best_wall(jobs: list[Job], before: dict[Job, list[Job]], cores: int) -> float:
    """The shortest time that any order of starting the jobs gives."""
    best = sum(job.seconds for job in jobs)
    for order in permutations(jobs):
        ends, free = {}, [0.0] * cores
        if any(order.index(parent) > order.index(job) for job in jobs for parent in before[job]):
            continue
        for job in order:
            free.sort()
            start = max([free[0], *(ends[parent] for parent in before[job])])
            ends[job] = free[0] = start + job.seconds
        best = min(best, *[max(ends.values())])
    return best


@given(graphs(), st.integers(1, 3))
@settings(max_examples=60, deadline=None)
def test_chain_and_wall_time_against_all_orders(jobs, cores) -> None:
    before = parents(jobs)
    chain, work = longest_chain(before), sum(job.seconds for job in jobs)
    length = sum(job.seconds for job in chain)
    assert all(earlier in before[later] for earlier, later in pairwise(chain))
    assert length == best_wall(jobs, before, len(jobs))  # enough cores for all
    assert wall_seconds(before, len(jobs)) == length
    assert wall_seconds(before, 1) == work
    best, wall = best_wall(jobs, before, cores), wall_seconds(before, cores)
    assert best <= wall <= (2 - 1 / cores) * best  # Graham's bound for lists

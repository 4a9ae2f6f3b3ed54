"""``qdrank critical-path FOLDER``: the longest chain of jobs in a finished run, and what more cores would save.

Snakemake keeps a record of every file that a job made, in ``.snakemake/metadata``: the rule, the inputs, and when the
job began and ended. In the longest chain each job reads what the one before it made; no number of cores can shorten
that.
"""

from __future__ import annotations

import argparse
import base64
import binascii
import heapq
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from qdrank.errors import InputError
from qdrank.registry import did_you_mean

CORES = (1, 2, 4, 16, 64)


@dataclass(eq=False)
class Job:
    """A job of a run: its rule, the files it made and read, the seconds that it took and the cores that it held."""

    rule: str
    seconds: float
    outputs: list[str] = field(default_factory=list)
    inputs: set[str] = field(default_factory=set)
    threads: int = 1

    @property
    def label(self) -> str:
        """The rule, and the alphabetically first of the job's files."""
        return f"{self.rule}  {min(self.outputs)}"


def read_jobs(folder: Path) -> list[Job]:
    """Jobs of the run in a folder, by the name of their rule and output.

    Raises
    ------
    InputError
        If there are no records of finished jobs.
    """
    records = folder / ".snakemake" / "metadata"
    jobs: dict[tuple[str, ...], Job] = {}
    for path in sorted(path for path in records.rglob("*") if path.is_file()):
        output, record = _output(path.relative_to(records)), _record(path)
        if output is None or record is None:
            continue
        rule, began, ended = str(record["rule"]), float(record["starttime"]), float(record["endtime"])
        # Each job has its own log, but may have made several files.
        key = (rule, *(record.get("log") or [output]))
        job = jobs.setdefault(key, Job(rule, 0.0))
        job.seconds = max(job.seconds, ended - began)
        job.outputs.append(output)
        job.inputs |= set(record.get("input") or [])
    if not jobs:
        fix = "give the folder of a run: the one that was given to snakemake with --directory, else the project's"
        raise InputError("no records of finished jobs", file=records, fix=fix)
    return sorted(jobs.values(), key=lambda job: job.label)


def _output(path: Path) -> str | None:
    """The file that a record describes.

    The record's name is the file's path in base64; a long name is split into folders that begin with @.
    """
    try:
        return base64.b64decode("".join(step.removeprefix("@") for step in path.parts), validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return None


def _record(path: Path) -> dict[str, Any] | None:
    """The record of a finished job; None if the job is still running or the record cannot be read."""
    try:
        record = json.loads(path.read_text())
    except (OSError, ValueError):
        return None
    times = isinstance(record, dict) and record.get("starttime") and record.get("endtime")
    return record if times and not record.get("incomplete") else None


def needed_for(jobs: Sequence[Job], patterns: Iterable[str]) -> list[Job]:
    """Jobs that made files matching the given patterns, and all jobs that these depend on."""
    made_by = {output: job for job in jobs for output in job.outputs}
    wanted = list(patterns)
    waiting = [job for job in jobs if any(fnmatch(output, one) for output in job.outputs for one in wanted)]
    if not waiting:
        raise InputError(
            "no file of the run is like that", found=", ".join(wanted), fix="give a pattern such as 'results/mq2008/*'"
        )
    kept: set[Job] = set()
    while waiting:
        job = waiting.pop()
        if job not in kept:
            kept.add(job)
            waiting += [made_by[path] for path in job.inputs if path in made_by]
    return [job for job in jobs if job in kept]


def parents(jobs: Sequence[Job]) -> dict[Job, list[Job]]:
    """Each job's parents, the jobs whose files it reads; a job comes after its parents."""
    made_by = {output: job for job in jobs for output in job.outputs}
    parents_of = {job: {made_by[path] for path in job.inputs if path in made_by} - {job} for job in jobs}
    children = _children(parents_of)
    open_parents = {job: len(before) for job, before in parents_of.items()}
    ready, ordered = [job for job in jobs if not parents_of[job]], []
    while ready:
        job = ready.pop()
        ordered.append(job)
        for child in children[job]:
            open_parents[child] -= 1
            if not open_parents[child]:
                ready.append(child)
    if len(ordered) < len(jobs):
        raise InputError(
            "the records go round in a circle", fix="run the workflow again: they are of different versions"
        )
    return {job: sorted(parents_of[job], key=lambda parent: parent.label) for job in ordered}


def _children(before: Mapping[Job, Iterable[Job]]) -> dict[Job, list[Job]]:
    children: dict[Job, list[Job]] = {job: [] for job in before}
    for job, parents in before.items():
        for parent in parents:
            children[parent].append(job)
    return children


def longest_chain(before: Mapping[Job, Sequence[Job]]) -> list[Job]:
    """The jobs of the longest chain, first to last; ``before`` comes from `parents`."""
    ends: dict[Job, float] = {}
    last: dict[Job, Job | None] = {}
    for job, parents in before.items():
        last[job] = max(parents, key=lambda parent: ends[parent], default=None)
        slowest = last[job]
        ends[job] = job.seconds + (0.0 if slowest is None else ends[slowest])
    chain = [max(ends, key=lambda job: ends[job])]
    while (previous := last[chain[-1]]) is not None:
        chain.append(previous)
    return chain[::-1]


def wall_seconds(before: Mapping[Job, Sequence[Job]], cores: int) -> float:
    """Seconds that the jobs would take on ``cores`` cores.

    Of the jobs that can start, the one that begins the longest remaining chain goes first. A job with several threads
    starts once that many cores are free; until then, jobs behind it that fit may overtake it. No job holds more cores
    than there are.
    """
    children = _children(before)
    to_follow: dict[Job, float] = {}
    for job in reversed(list(before)):
        to_follow[job] = job.seconds + max((to_follow[child] for child in children[job]), default=0.0)
    open_parents = {job: len(parents) for job, parents in before.items()}
    number = {job: i for i, job in enumerate(before)}
    held = {job: min(job.threads, cores) for job in before}
    ready = [job for job, parents in before.items() if not parents]
    running: list[tuple[float, int, Job]] = []
    now, free = 0.0, cores
    while ready or running:
        for job in sorted(ready, key=lambda job: (-to_follow[job], number[job])):
            if held[job] <= free:
                ready.remove(job)
                heapq.heappush(running, (now + job.seconds, number[job], job))
                free -= held[job]
        now, _, done = heapq.heappop(running)
        free += held[done]
        for child in children[done]:
            open_parents[child] -= 1
            if not open_parents[child]:
                ready.append(child)
    return now


def report(jobs: Sequence[Job], cores: Sequence[int] = CORES) -> Iterator[str]:
    """Lines that report the longest chain, the total work, and the time on each number of cores."""
    before = parents(jobs)
    chain, work = longest_chain(before), sum(job.seconds * job.threads for job in jobs)
    length = sum(job.seconds for job in chain)
    yield f"{len(jobs):,} jobs, {work:,.0f} core seconds of work; the longest chain has {len(chain)} jobs and takes {length:,.0f} s"
    yield ""
    yield " seconds   share  job"
    for job in chain:
        yield f"{job.seconds:8.1f}  {job.seconds / max(length, 1e-9):5.0%}  {job.label}"
    yield ""
    yield "   cores   wall, s   cores in use"
    for n in cores:
        wall = wall_seconds(before, n)
        yield f"{n:8}  {wall:8,.0f}  {work / max(wall, 1e-9):13.1f}"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.add_argument(
        "folder", metavar="FOLDER", help="the folder of a run: that of --directory, with .snakemake in it"
    )
    parser.add_argument(
        "--to",
        metavar="PATTERN",
        action="append",
        help="only what files of this pattern need, e.g. 'results/mq2008/*'; may be repeated",
    )
    parser.add_argument(
        "--cores",
        type=_cores,
        nargs="+",
        default=list(CORES),
        metavar="N",
        help="numbers of cores (default: 1 2 4 16 64)",
    )
    parser.add_argument(
        "--threads",
        type=_threads,
        action="append",
        default=[],
        metavar="RULE=N",
        help="the jobs of this rule held N cores each (default: 1; the records do not tell); may be repeated",
    )


def _cores(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of cores")
    return int(text)


def _threads(text: str) -> tuple[str, int]:
    rule, _, number = text.partition("=")
    if not (rule and number.isdigit() and int(number) > 0):
        raise argparse.ArgumentTypeError(f"{text!r} is not a rule and a number of cores, as in train_lambdamart=4")
    return rule, int(number)


def with_threads(jobs: Sequence[Job], threads: Mapping[str, int]) -> list[Job]:
    """The same jobs, with the number of cores that the jobs of each rule held."""
    known = {job.rule for job in jobs}
    for rule in threads:
        if rule not in known:
            raise InputError(f"the run has no job of the rule {rule!r}", fix=did_you_mean(rule, sorted(known)))
    return [replace(job, threads=threads.get(job.rule, 1)) for job in jobs]


def run(args: argparse.Namespace) -> int:
    """Print the report."""
    jobs = with_threads(read_jobs(Path(args.folder)), dict(args.threads))
    for line in report(needed_for(jobs, args.to) if args.to else jobs, args.cores):
        print(line)
    return 0

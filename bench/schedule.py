"""How long a finished run would have taken on more cores, by Snakemake's own scheduler: its jobs again, each asleep as long as it took.

    python bench/schedule.py runs/scale --cores 16 --configfile bench/scale.yaml --target geng

First it prints the work in all, by rule and data set, and the longest jobs; without ``--cores`` that is all. Priorities, threads, waiting and the time to start a job are real, the work is not: jobs that share
memory or disk get no slower here. For jobs that would have other threads than they had, give the time: ``--seconds '*/scores/lambdamart.parquet=145'`` is for
the job that makes such a file. A job that was not run takes the median of its rule on its data set, else of its rule, else a second: so a run of one
fold stands for all.
"""

from __future__ import annotations

import argparse
import base64
import binascii
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path
from statistics import median

PROJECT = Path(__file__).resolve().parents[1]
ASLEEP = """
import json
import time
from pathlib import Path

times = json.loads(Path({times!r}).read_text())
known = (snakemake.output[0], f"{{snakemake.rule}} {{snakemake.output[0].split('/')[1]}}", snakemake.rule)
time.sleep(next((times[name] for name in known if name in times), 1.0))
for path in map(Path, snakemake.output):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("asleep")
"""


LONGEST = 10


@dataclass
class Job:
    """A job of a run: its rule, the seconds that it took, and the files that it made."""

    rule: str
    seconds: float = 0.0
    outputs: list[str] = field(default_factory=list)


def read_jobs(folder: Path) -> list[Job]:
    """Finished jobs of the run in a folder, the longest first, from the records that Snakemake keeps of every file."""
    records = folder / ".snakemake" / "metadata"
    jobs: dict[tuple[str, ...], Job] = {}
    for path in sorted(path for path in records.rglob("*") if path.is_file()):
        try:  # the name is that of the file in base64; a long one is split into folders that begin with @
            name = "".join(part.removeprefix("@") for part in path.relative_to(records).parts)
            output, record = base64.b64decode(name, validate=True).decode(), json.loads(path.read_text())
        except (binascii.Error, ValueError):
            continue
        if record.get("starttime") and record.get("endtime") and not record.get("incomplete"):
            # Each job has its own log, but may have made several files.
            job = jobs.setdefault((record["rule"], *(record.get("log") or [output])), Job(record["rule"]))
            job.seconds = max(job.seconds, record["endtime"] - record["starttime"])
            job.outputs.append(output)
    if not jobs:
        raise SystemExit(f"no records of finished jobs in {records}: give the folder of a run")
    return sorted(jobs.values(), key=lambda job: -job.seconds)


def seconds_of(jobs: list[Job], changed: dict[str, float]) -> dict[str, float]:
    """Seconds of the job that makes each file: as recorded, or as given for a pattern."""
    found: dict[str, float] = {}
    for job in jobs:
        given = [s for pattern, s in changed.items() if any(fnmatch(output, pattern) for output in job.outputs)]
        found |= dict.fromkeys(job.outputs, given[-1] if given else job.seconds)
    return found


def medians(jobs: list[Job]) -> dict[str, float]:
    """Median seconds of a rule, and of a rule on a data set."""
    times: dict[str, list[float]] = {}
    for job in jobs:
        for name in (job.rule, f"{job.rule} {job.outputs[0].split('/')[1]}"):
            times.setdefault(name, []).append(job.seconds)
    return {name: median(seconds) for name, seconds in times.items()}


def profile(jobs: list[Job]) -> str:
    """Jobs, seconds and their share by rule, the most first, as a table in Markdown, with the data set that takes the most."""
    whole = sum(job.seconds for job in jobs)
    lines = ["| rule | jobs | s | share | most of it on |", "| --- | ---: | ---: | ---: | --- |"]
    by_rule: dict[str, list[Job]] = {}
    for job in jobs:
        by_rule.setdefault(re.sub(r"_\d_folds$", "", job.rule), []).append(job)
    for rule, of in sorted(by_rule.items(), key=lambda pair: -sum(job.seconds for job in pair[1])):
        seconds, on = sum(job.seconds for job in of), Counter[str]()
        for job in of:
            on[job.outputs[0].split("/")[1]] += job.seconds
        (name, most), *_ = on.most_common()
        lines.append(f"| {rule} | {len(of)} | {seconds:.0f} | {seconds / whole:.1%} | {name}: {most:.0f} |")
    return "\n".join(lines)


def asleep(folder: Path, times: dict[str, float]) -> Path:
    """A copy of the workflow whose scripts sleep."""
    copy = folder / "project"
    shutil.copytree(
        PROJECT, copy, symlinks=True, ignore=shutil.ignore_patterns(".*", "build", "results", "runs", "resources")
    )
    (folder / "times.json").write_text(json.dumps(times))
    for script in (copy / "scripts").rglob("*.py"):
        script.write_text(ASLEEP.format(times=str(folder / "times.json")))
    return copy


def main() -> int:
    """Run the copy, and print the time."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, help="folder of a finished run")
    parser.add_argument("--cores", type=int, help="run the jobs again on so many")
    parser.add_argument("--configfile", type=Path, help="that of the run")
    parser.add_argument("--target", default="all")
    parser.add_argument("--seconds", action="append", default=[], metavar="PATTERN=S")
    args = parser.parse_args()
    changed = {pattern: float(s) for pattern, _, s in (text.rpartition("=") for text in args.seconds)}
    jobs = read_jobs(args.folder)
    print(profile(jobs))
    print(f"{len(jobs)} jobs, {sum(job.seconds for job in jobs):.0f} s of work; the longest:")
    for job in jobs[:LONGEST]:
        print(f"{job.seconds:8.1f} s  {job.rule}  {min(job.outputs)}")
    if args.cores is None:
        return 0
    if args.configfile is None:
        parser.error("--cores needs --configfile, that of the run")
    times = medians(jobs) | seconds_of(jobs, changed)
    with tempfile.TemporaryDirectory() as scratch:
        copy = asleep(Path(scratch), times)
        command = [
            sys.executable,
            "-m",
            "snakemake",
            "--cores",
            str(args.cores),
            args.target,
            "--directory",
            str(Path(scratch) / "run"),
        ]
        command += ["--configfile", str(args.configfile.resolve())]
        began = time.monotonic()
        done = subprocess.run(
            command, cwd=copy, env={**os.environ, "PYTHONPATH": str(copy / "src")}, stdout=sys.stderr, check=False
        )
        print(f"{time.monotonic() - began:.0f} s on {args.cores} cores, Snakemake's start and end included")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())

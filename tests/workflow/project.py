"""A copy of the project in which tests run the real workflow."""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from qdrank.store.manifest import digests
from qdrank.studies import timed_outputs

COPIED = ("Snakefile", "config", "envs", "profiles", "resources", "scripts", "src", "tests/configs", "workflow")
#: A study's verdicts and what they need: jobs of every kind but figures and tables, which are like any other on a cluster.
VERDICTS = "results/claims-overview.html"
ONE_STUDY = ("--configfile", "tests/configs/tiny.yaml", "tests/configs/one-study.yaml")
SKIPPED = shutil.ignore_patterns("__pycache__", "downloads")


@dataclass
class Project:
    """A copy of the project in a folder of its own."""

    folder: Path

    def snakemake(self, *arguments: str, check: bool = True, **environment: str) -> str:
        """Run snakemake here; give what it printed."""
        command = [sys.executable, "-m", "snakemake", *arguments]
        variables = {k: v for k, v in os.environ.items() if k not in ("QDRANK_MIRROR", "PYTHONPATH")} | environment
        ran = subprocess.run(command, cwd=self.folder, env=variables, capture_output=True, text=True, check=False)
        printed = ran.stdout + ran.stderr
        if check and ran.returncode:
            raise AssertionError(f"snakemake {' '.join(arguments)} failed:\n{printed[-6000:]}")
        if not check:
            assert ran.returncode, printed[-3000:]
        return printed

    def tiny(self, *arguments: str, cores: int = 2, **options: bool) -> str:
        """Run the tiny study."""
        settings = ("--cores", str(cores), "--configfile", "tests/configs/tiny.yaml")
        return self.snakemake(*arguments, *settings, **options)

    def planned(self) -> set[str]:
        """Rules that a run would run now."""
        printed = self.tiny("--dry-run", "--quiet", "rules")
        if "Nothing to be done" in printed:
            return set()
        table = printed.partition("Job stats:")[2].partition("total")[0]
        return set(re.findall(r"^([a-z]\w*) +\d+$", table, re.MULTILINE)) - {"all"}


def copy_project(source: Path, target: Path) -> Project:
    for name in COPIED:
        path = source / name
        if path.is_symlink():
            (target / name).symlink_to(path.readlink())
        elif path.is_dir():
            shutil.copytree(path, target / name, ignore=SKIPPED)
        elif path.exists():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, target / name)
    return Project(target)


def result_digests(folder: Path) -> dict[str, str]:
    """Digest of every file below ``folder`` that is the same in every run: all but those that hold times."""
    return digests(folder, timed_outputs())

"""A large study is planned fast, and nothing heavy is imported for it."""

import json
import math
import re
import resource
from pathlib import Path

import pytest

from tests.workflow.project import Project, copy_project

JOBS = 2000
# Snakemake matches every file with the outputs of every rule, and nothing of ours stands in its way.
CPU_SECONDS = 40
HEAVY = {"pandas", "sklearn", "numba", "scipy", "pyarrow", "matplotlib", "lightgbm"}
PARSE = """
import json, sys
HEAVY = {heavy!r}
# An executor's plugin may have brought some of them: what counts is what this workflow imports.
for name in list(sys.modules):
    if name.partition(".")[0] in HEAVY:
        del sys.modules[name]


include: "Snakefile"


with open("imported.json", "w") as file:
    json.dump(sorted(HEAVY & set(sys.modules)), file)
"""


@pytest.fixture
def fresh(project: Path, tmp_path: Path) -> Project:
    return copy_project(project, tmp_path)


def test_parsing_the_workflow_imports_nothing_heavy(fresh: Project) -> None:
    (fresh.folder / "watched.smk").write_text(PARSE.format(heavy=HEAVY))
    fresh.tiny("--snakefile", "watched.smk", "--dry-run", "--quiet", "all")
    assert json.loads((fresh.folder / "imported.json").read_text()) == []


def _jobs(printed: str) -> int:
    found = re.search(r"^total +(\d+)", printed, re.MULTILINE)
    assert found, printed[-2000:]
    return int(found.group(1))


def _cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _config(variants: int) -> str:
    """A study of many small simulated sets."""
    rows = "".join(
        f"  v{i}: {{kind: simulated, like: sim1, settings: {{seed: {i}, train: 30, vali: 10, test: 10}}}}\n"
        for i in range(variants)
    )
    return f"datasets: [{', '.join(f'v{i}' for i in range(variants))}]\nown:\n{rows}"


@pytest.mark.full
def test_two_thousand_jobs_are_planned_in_seconds(fresh: Project) -> None:
    config = fresh.folder / "many.yaml"
    dry = ("--dry-run", "--cores", "2", "--configfile", "many.yaml", "--quiet", "rules")
    build = ("--rulegraph", "--configfile", "many.yaml")  # builds the whole graph of jobs, prints one of rules
    config.write_text(_config(2))
    two = _jobs(fresh.snakemake(*dry))
    config.write_text(_config(3))
    each = _jobs(fresh.snakemake(*dry)) - two
    variants = math.ceil((JOBS - two) / each) + 2
    config.write_text(_config(variants))

    used = []
    for _ in range(2):  # a busy machine makes everything slower: the better of two counts
        before = _cpu_seconds()
        fresh.snakemake(*build)
        used.append(_cpu_seconds() - before)
        if used[-1] <= CPU_SECONDS:
            break
    print(
        f"\n{two + each * (variants - 2)} jobs planned in {', '.join(f'{seconds:.1f}' for seconds in used)} CPU seconds"
    )
    assert min(used) <= CPU_SECONDS

"""What every rule has, what the one script passes on from it, and how fast a large study is planned."""

import inspect
import json
import math
import re
import resource
from pathlib import Path
from typing import Any

import pytest

from qdrank.registry import loaded
from tests.workflow.project import Project, copy_project

ASKED = """
import json


include: "Snakefile"


rules_made = {
    made.name: {
        "says": made.docstring,
        "script": made.script,
        "log": made.log and str(made.log[0]),
        "benchmark": str(made.benchmark),
        "environment": str(made.conda_env),
        "params": {name: value if isinstance(value, str) else None for name, value in made.params.items()},
        "wildcards": list(made.wildcard_names),
    }
    for made in workflow.rules
}
with open("rules.json", "w") as file:
    json.dump(rules_made, file)
"""
#: What `qdrank.workflow.script` gives every function that takes it.
GIVEN = ("files", "inputs", "out", "path", "shard", "config", "log", "fold")


@pytest.fixture(scope="module")
def rules(project: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    copy = copy_project(project, tmp_path_factory.mktemp("rules"))
    (copy.folder / "asked.smk").write_text(ASKED)
    copy.tiny("--snakefile", "asked.smk", "--dry-run", "--quiet", "all")
    return json.loads((copy.folder / "rules.json").read_text())


def refuse_other_params(call: str, params: set[str], wildcards: list[str]) -> None:
    """A function takes all params of its rule, and no argument that it needs is missing."""
    takes = inspect.signature(loaded(call))
    given = {name for name in (*GIVEN, *wildcards) if name in takes.parameters}
    # `arguments` depend on the data set.
    bind = takes.bind_partial if "arguments" in params else takes.bind
    bind(**dict.fromkeys(given | params - {"call", "code", "arguments", "looked_up"}))


def test_every_rule_with_a_script_has_a_log_a_benchmark_an_environment_and_a_digest(rules: dict[str, Any]) -> None:
    made = {name: rule for name, rule in rules.items() if rule["script"]}
    assert len(made) > 60
    for name, rule in made.items():
        assert rule["script"].endswith("scripts/run_step.py"), name
        assert rule["log"].startswith(f"logs/{name}"), name
        assert rule["benchmark"].startswith(f"benchmarks/{name}"), name
        assert rule["environment"].endswith("envs/qdrank.yaml"), name
        assert "code" in rule["params"], name
    assert rules["decide_claims"]["log"] == "logs/decide_claims.log"
    assert "{dataset" in rules["train_local"]["log"]
    assert "{scatteritem" in rules["train_local"]["log"]


def test_every_function_takes_the_params_of_its_rule(rules: dict[str, Any]) -> None:
    for name, rule in rules.items():
        if rule["script"]:
            try:
                refuse_other_params(rule["params"]["call"], {*rule["params"]}, rule["wildcards"])
            except TypeError as error:
                raise AssertionError(f"rule {name}: {error}") from None
    call, params = rules["learn_method"]["params"]["call"], {*rules["learn_method"]["params"]}
    for wrong in (params | {"sed"}, params - {"seed"}):
        with pytest.raises(TypeError, match="se"):
            refuse_other_params(call, wrong, ["dataset", "fold", "method"])


def test_every_rule_says_what_it_does_in_a_sentence(rules: dict[str, Any]) -> None:
    """For `snakemake --list-rules`."""
    silent = [name for name, rule in rules.items() if not (rule["says"] or "").strip().endswith(".")]
    assert not silent


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

"""What every rule gets without saying it."""

from __future__ import annotations

import ast
import inspect
import json
from importlib import import_module
from pathlib import Path

from tests.workflow.project import copy_project

ASKED = """
import json


include: "Snakefile"


rules_made = {
    made.name: [
        str(made.log[0]), str(made.benchmark), str(made.conda_env), [name for name, _ in made.params.items()], made.script
    ]
    for made in workflow.rules
    if made.script
}
with open("rules.json", "w") as file:
    json.dump(rules_made, file)
"""


def refuse_other_params(rule: str, params: set[str], script: Path) -> None:
    """A script passes all params of its rule by name: those that the function takes, and none that it needs is missing."""
    tree = ast.parse(script.read_text())
    work = next(node.body[0] for node in tree.body if isinstance(node, ast.With))
    call = (work.body[0] if isinstance(work, ast.For) else work).value
    place = next(node for node in tree.body if isinstance(node, ast.ImportFrom))
    if not any(word.arg is None and ast.unparse(word.value) in ("this.params", "one.params") for word in call.keywords):
        return
    function = getattr(import_module(place.module), call.func.id)
    given = {word.arg: None for word in call.keywords if word.arg} | dict.fromkeys(params)
    try:
        inspect.signature(function).bind(*call.args, **given)
    except TypeError as error:
        raise AssertionError(f"rule {rule}: {error}") from None


def test_every_rule_has_a_log_a_benchmark_an_environment_and_a_digest(project: Path, tmp_path: Path) -> None:
    copy = copy_project(project, tmp_path)
    (copy.folder / "asked.smk").write_text(ASKED)
    copy.tiny("--snakefile", "asked.smk", "--dry-run", "--quiet", "all")
    rules = json.loads((copy.folder / "rules.json").read_text())
    assert len(rules) > 60
    for name, (log, benchmark, environment, params, script) in rules.items():
        assert log.startswith(f"logs/{name}"), name
        assert benchmark.startswith(f"benchmarks/{name}"), name
        assert environment.endswith("envs/qdrank.yaml"), name
        assert "code" in params, name
        refuse_other_params(name, set(params) - {"code"}, project / "scripts" / script.rpartition("scripts/")[2])
    assert rules["decide_claims"][0] == "logs/decide_claims.log"
    assert "{dataset" in rules["train_local"][0]
    assert "{scatteritem" in rules["train_local"][0]

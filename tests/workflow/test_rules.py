"""What every rule gets without saying it."""

from __future__ import annotations

import json
from pathlib import Path

from tests.workflow.project import copy_project

ASKED = """
import json


include: "Snakefile"


rules_made = {
    made.name: [str(made.log[0]), str(made.benchmark), str(made.conda_env), "code" in made.params.keys()]
    for made in workflow.rules
    if made.script
}
with open("rules.json", "w") as file:
    json.dump(rules_made, file)
"""


def test_every_rule_has_a_log_a_benchmark_an_environment_and_a_digest(project: Path, tmp_path: Path) -> None:
    copy = copy_project(project, tmp_path)
    (copy.folder / "asked.smk").write_text(ASKED)
    copy.tiny("--snakefile", "asked.smk", "--dry-run", "--quiet", "all")
    rules = json.loads((copy.folder / "rules.json").read_text())
    assert len(rules) > 60
    for name, (log, benchmark, environment, digested) in rules.items():
        assert log.startswith(f"logs/{name}"), name
        assert benchmark.startswith(f"benchmarks/{name}"), name
        assert environment.endswith("envs/qdrank.yaml"), name
        assert digested, name
    assert rules["decide_claims"][0] == "logs/decide_claims.log"
    assert "{dataset" in rules["train_local"][0]
    assert "{scatteritem" in rules["train_local"][0]

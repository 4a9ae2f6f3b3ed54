import re

import pytest

from qdrank.rankers.methods import CLASSIC
from qdrank.workflow.provenance import code_modules
from tests.workflow.project import Project


@pytest.mark.parametrize("name", CLASSIC)
def test_the_code_of_a_method_is_its_own(name: str) -> None:
    """Else a change to one learner would rerun all."""
    module, job = CLASSIC[name].module, {"call": "qdrank.rankers.learning:learn_method"}
    used, common = code_modules({**job, "learner": CLASSIC[name].learner}), code_modules(job)
    others = {method.module for method in CLASSIC.values()} - {module}
    built_on = {"qdrank.learners.aggregation.cps": {"qdrank.learners.aggregation.fusion"}}
    assert module in used
    assert (used - common) & others <= built_on.get(module, set())


def test_a_changed_learner_reruns_alone(study: Project) -> None:
    path = study.folder / "src/qdrank/learners/classic/linear.py"
    path.write_text(f"{path.read_text()}\nEDITED = True\n")
    printed = study.tiny("--dry-run", "--quiet", "rules")
    assert re.search(r"^learn_method +1$", printed, re.MULTILINE), printed
    assert not re.search(r"train_global|train_local|train_lambdamart|describe_queries", printed)


@pytest.mark.full
def test_a_changed_grid_reruns_its_method_alone(study: Project) -> None:
    path = study.folder / "tests/configs/tiny.yaml"
    path.write_text(path.read_text().replace("ranksvm: {lam: [0.1, 0.01]}", "ranksvm: {lam: [0.1]}"))
    assert re.search(r"^learn_method +1$", study.tiny("--dry-run", "--quiet", "rules"), re.MULTILINE)

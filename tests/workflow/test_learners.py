"""The learners in the workflow: artifacts, and what a change to one of them reruns."""

import re

import pytest

from qdrank.rankers.methods import CLASSIC
from qdrank.serving.ranking import load_ranker
from qdrank.store import read
from qdrank.workflow.provenance import code_modules
from tests.workflow.project import Project

METHODS_OF_TINY = ["ranksvm", "regression", "lambdamart-queries"]


@pytest.mark.parametrize("name", CLASSIC)
def test_the_code_of_a_method_is_its_own(name: str) -> None:
    """Else a change to one learner would rerun all."""
    module, job = CLASSIC[name].module, {"call": "qdrank.rankers.learning:learn_method"}
    used, common = code_modules({**job, "learner": CLASSIC[name].learner}), code_modules(job)
    others = {method.module for method in CLASSIC.values()} - {module}
    built_on = {"qdrank.learners.aggregation.cps": {"qdrank.learners.aggregation.fusion"}}
    assert module in used
    assert (used - common) & others <= built_on.get(module, set())


def test_every_method_leaves_its_artifacts(finished: Project) -> None:
    fold = finished.folder / "results/tiny/fold1"
    for name in METHODS_OF_TINY:
        assert read(fold / f"models/{name}.parquet", "models").num_rows == 1
        ranker = load_ranker(fold, name).ranker
        assert CLASSIC[name].learner == getattr(ranker, "base", ranker).learner.NAME
        assert any(read(fold / f"choices/{name}.parquet", "choices").column("chosen").to_pylist())
    measured = set(read(finished.folder / "results/tiny/measures.parquet", "measures").column("method").to_pylist())
    assert {"reference", *METHODS_OF_TINY} <= measured
    table = read(finished.folder / "results/tiny/tables/learners.parquet", "table")
    assert table.num_rows == 1 + len(METHODS_OF_TINY)


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

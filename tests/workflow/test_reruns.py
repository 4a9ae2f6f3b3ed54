import re
from pathlib import Path

import pytest

from qdrank.rankers.methods import CLASSIC
from qdrank.workflow.provenance import code_modules
from tests.workflow.project import Project


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def append(path: Path, line: str) -> None:
    path.write_text(f"{path.read_text()}\n{line}\n")


def test_a_finished_study_reruns_nothing(finished: Project) -> None:
    assert "Nothing to be done" in finished.tiny()


def test_touched_files_and_cosmetic_edits_rerun_nothing(study: Project) -> None:
    """As after a fresh checkout: every source, and every artifact, has a new time."""
    append(study.folder / "src/qdrank/figures/features.py", "# a comment")
    edit(study.folder / "scripts/run_step.py", '"""', '"""In words: ')
    edit(study.folder / "src/qdrank/studies/geng2008/__init__.py", "Queries of the first fold", "Queries of one fold")
    for path in sorted(study.folder.rglob("*")):
        if path.is_file() and ".snakemake" not in path.parts:
            path.touch()
    assert study.planned() == set()


def test_a_changed_figure_reruns_that_figure_alone(study: Project) -> None:
    edit(study.folder / "src/qdrank/figures/features.py", "SHOWN = 25", "SHOWN = 5")
    assert study.planned() == {"draw_features", "tabulate_features", "write_manifest"}


def test_a_changed_measure_reruns_what_depends_on_it(study: Project) -> None:
    append(study.folder / "src/qdrank/measures/definitions.py", "EDITED = True")
    planned = study.planned()
    assert {"measure_features", "measure_methods", "tabulate_features"} <= planned
    assert (
        not {"simulate_features", "describe_queries", "find_neighbours", "score_reference", "choose_offline"} & planned
    )


def test_a_changed_setting_reruns_its_stage_alone(study: Project) -> None:
    edit(study.folder / "tests/configs/tiny.yaml", "evaluation:", "neighbours: {metric: cosine}\nevaluation:")
    planned = study.planned()
    assert "find_neighbours" in planned
    assert not {"simulate_features", "describe_queries", "measure_features"} & planned


@pytest.mark.full
def test_a_new_title_is_shown_and_takes_no_time_again(study: Project) -> None:
    edit(study.folder / "tests/configs/tiny.yaml", "title: A tiny simulated set", "title: Quite another title")
    planned = study.planned()
    assert {"draw_features", "draw_geng_fig7", "tabulate_geng_table1"} <= planned
    assert "time_testing" not in planned
    figures = [f"results/tiny/figures/{name}.svg" for name in ("single-features", "geng-fig7", "geng-fig8")]
    study.tiny(*figures)
    for figure in figures:
        assert "Quite another title" in (study.folder / figure).read_text(), figure


@pytest.mark.parametrize("name", CLASSIC)
def test_the_code_of_a_method_is_its_own(name: str) -> None:
    """Else a change to one learner would rerun all."""
    module, job = CLASSIC[name].module, {"call": "qdrank.rankers.learning:learn_method"}
    used, common = code_modules({**job, "learner": CLASSIC[name].learner}), code_modules(job)
    others = {method.module for method in CLASSIC.values()} - {module}
    built_on = {"qdrank.learners.cps": {"qdrank.learners.fusion"}}
    assert module in used
    assert (used - common) & others <= built_on.get(module, set())


def test_a_changed_learner_reruns_alone(study: Project) -> None:
    path = study.folder / "src/qdrank/learners/linear.py"
    path.write_text(f"{path.read_text()}\nEDITED = True\n")
    printed = study.tiny("--dry-run", "--quiet", "rules")
    assert re.search(r"^learn_method +1$", printed, re.MULTILINE), printed
    assert not re.search(r"train_global|train_local|train_lambdamart|describe_queries", printed)


@pytest.mark.full
def test_a_changed_grid_reruns_its_method_alone(study: Project) -> None:
    path = study.folder / "tests/configs/tiny.yaml"
    path.write_text(path.read_text().replace("ranksvm: {lam: [0.1, 0.01]}", "ranksvm: {lam: [0.1]}"))
    assert re.search(r"^learn_method +1$", study.tiny("--dry-run", "--quiet", "rules"), re.MULTILINE)

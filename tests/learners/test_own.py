"""A learner of one's own: what it must have, what is stored of it, and that it stands in the tables beside ours."""

import re
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from tests.learners.stored import stored
from tests.workflow.project import copy_project

from qdrank.errors import InputError
from qdrank.learners.own import OwnLearner, own_class
from qdrank.registry import own_source, own_target
from qdrank.workflow.provenance import described_file

MEANS = """import numpy as np

class Means:
    def __init__(self, power=1.0):
        self.power = power
    def fit(self, X, y, query):
        self.weights = (X[y > 0].mean(axis=0) - X[y == 0].mean(axis=0)) ** self.power
        self.queries = len(set(query))
    def predict(self, X):
        return X @ self.weights
"""
X = np.random.default_rng(0).random((40, 3))
Y, QUERY = (X[:, 0] > 0.5).astype(int), np.repeat(["a", "b", "c", "d"], 10)


def written(tmp_path: Path, text: str = MEANS, name: str = "Means") -> str:
    (tmp_path / "mine.py").write_text(text)
    return f"{tmp_path / 'mine.py'}:{name}"


def test_it_ranks_and_so_does_what_is_stored_of_it(tmp_path: Path) -> None:
    learner = OwnLearner(target=written(tmp_path), settings={"power": 1.0}).fit(X, Y, QUERY)
    weights = X[Y > 0].mean(axis=0) - X[Y == 0].mean(axis=0)
    np.testing.assert_array_equal(learner.predict(X, QUERY), X @ weights)
    again = stored(learner)
    np.testing.assert_array_equal(again.predict(X, QUERY), X @ weights)
    assert again.kept_["queries"] == 4


def test_validation_and_queries_are_given_to_who_asks_for_them(tmp_path: Path) -> None:
    asks = """class Asks:
    def fit(self, X, y, validation): self.rows = len(validation[0])
    def predict(self, X, query): return [self.rows + (one == "b") for one in query]
"""
    learner = OwnLearner(target=written(tmp_path, asks, "Asks")).fit(X, Y, QUERY, (X[:7], Y[:7], QUERY[:7]))
    assert learner.predict(X, QUERY).tolist() == [7.0] * 10 + [8.0] * 10 + [7.0] * 20


@pytest.mark.parametrize("scores", ["X", "X[1:, 0]", "X[:, 0] * float('nan')"])
def test_a_score_that_is_none_is_refused(tmp_path: Path, scores: str) -> None:
    text = f"class Bad:\n    def fit(self, X, y): pass\n    def predict(self, X): return {scores}\n"
    with pytest.raises(InputError, match="a finite score for each row"):
        OwnLearner(target=written(tmp_path, text, "Bad")).fit(X, Y).predict(X)


def test_what_cannot_be_stored_is_said_when_it_is_read(tmp_path: Path) -> None:
    text = MEANS.replace("self.queries = len(set(query))", "self.queries = set(query)")
    learner = OwnLearner(target=written(tmp_path, text)).fit(X, Y, QUERY)
    assert len(learner.predict(X)) == len(X)
    with pytest.raises(InputError, match="was not stored: queries is no plain value"):
        stored(learner).predict(X)


@pytest.mark.parametrize(
    ("target", "says"),
    [
        ("none.py:Means", r"there is no file none\.py"),
        ("no_package.mine:Means", r"no module no_package\.mine is installed"),
        ("{}/mine.py:Mean", "did you mean Means"),
        ("{}/mine.py:Half", "Half has no predict"),
        ("means", "no installed package brings the learner 'means'"),
    ],
)
def test_what_is_missing_is_said(tmp_path: Path, target: str, says: str) -> None:
    written(tmp_path, f"{MEANS}\nclass Half:\n    def fit(self, X, y): pass\n")
    with pytest.raises(InputError, match=says):
        own_class(own_target(target.format(tmp_path)))


def test_an_entry_point_of_an_installed_package_is_a_learner(monkeypatch: pytest.MonkeyPatch) -> None:
    point = EntryPoint("means", "qdrank.learners.linear:Regression", "qdrank.learners")
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: [point] * (group == "qdrank.learners"))
    target = own_target("means")
    assert own_source(target)[0].name == "linear.py"
    learner: Any = OwnLearner(target=target).fit(X, Y, QUERY)
    np.testing.assert_array_equal(stored(learner).predict(X), own_class(target)().fit(X, Y, QUERY).predict(X))


def test_the_digest_of_a_file_is_that_of_its_code_and_names_what_it_uses_of_ours(tmp_path: Path) -> None:
    file = own_source(written(tmp_path))[0]
    first = described_file(file)
    file.write_text(f"# a remark\n{MEANS}")
    assert described_file(file) == first
    file.write_text(f"from qdrank.learners.newton import newton_minimise\n{MEANS}")
    assert described_file(file)[0] != first[0]
    assert "qdrank.learners.newton" in described_file(file)


def test_ten_lines_stand_in_the_table_and_a_change_to_them_reruns_them_alone(project: Path, tmp_path: Path) -> None:
    run = copy_project(project, tmp_path)
    written(tmp_path)
    tiny = yaml.safe_load((tmp_path / "tests/configs/tiny.yaml").read_text())
    tiny |= {"studies": [], "datasets": ["tiny"], "folds": ["fold1"]}
    tiny["learners"] = {"methods": ["ranksvm"], "own": {"mine": "mine.py:Means"}, "grids": {"mine": {"power": [1, 3]}}}
    (tmp_path / "own.yaml").write_text(yaml.safe_dump(tiny))
    given = ("--cores", "2", "--configfile", "own.yaml")
    run.snakemake("learners", *given)
    table = (tmp_path / "results/tiny/tables/learners.md").read_text()
    assert re.search(r"\| mine .*power=[13]", table), table
    (tmp_path / "mine.py").write_text(MEANS.replace("X @ self.weights", "-X @ self.weights"))
    planned = run.snakemake("learners", *given, "--dry-run", "--quiet", "rules")
    assert re.search(r"^learn_method +1$", planned, re.MULTILINE), planned
    assert not re.search(r"^learn_folds|^simulate", planned, re.MULTILINE), planned

"""A study, a figure and a ranker are added by their own files, and one line of a registry."""

import json
from pathlib import Path

import pytest

from qdrank.store import read
from tests.workflow.project import Project

STUDY = {
    "__init__": """"One model, with the query beside each document."

from qdrank.studies.study import Output, Study
from qdrank.studies.toy2026.methods import METHODS, STORED
from qdrank.studies.toy2026.steps import STEPS

ROOM = "qdrank.studies.toy2026"
MEASURES, VALUES = {"measures": "toy/measures.parquet"}, {"values": "{fold}/toy/values.parquet"}
STUDY = Study(
    name="toy2026",
    short="toy",
    paper="Toy 2026",
    idea="Show the query to the learner.",
    section=f"{ROOM}.settings:Toy",
    methods=METHODS,
    run=lambda section: STORED,
    measures=("ap",),
    steps=STEPS,
    figures=(
        Output(
            f"{ROOM}.shows:draw",
            {"toy-fig1": "Figure 1: a curve"},
            VALUES,
            caption="MAP for each number of leaves.",
        ),
    ),
    tables=(
        Output(
            f"{ROOM}.shows:tabulate",
            {"toy-table1": "Table 1: documents"},
            {"counts": "{fold}/toy/counts.parquet"},
            caption="Documents of the test queries.",
        ),
    ),
    observations=Output(
        f"{ROOM}.claims:gather", {"toy-claims": "claims"}, MEASURES | VALUES, caption="Claims."
    ),
    claims=f"{ROOM}.claims:declare",
    budget=("toy.leaves",),
)
""",
    "settings": """"Section toy."

from pydantic import Field

from qdrank.sections import StudySection


class Toy(StudySection):
    "The study of Toy 2026."

    leaves: list[int] = Field(default=[2, 4], min_length=1, description="Leaves of a tree to choose from.")
""",
    "methods": """"The methods, each with the rankers to try."

from qdrank.figures.palette import BLUE, GREY, ORANGE
from qdrank.learners.trees import LambdaMART
from qdrank.rankers.learned import LearnerRanker, WithQueryVectors
from qdrank.rankers.base import OfOthers
from qdrank.studies.study import Method


def tries(run):
    return [seen(LambdaMART(leaves=leaves, rounds=3, min_leaf=2)) for leaves in run.options.leaves]


def along(run, _):
    "Every number of leaves, fitted."
    view = run.views[""]
    fitted = [one.fit(*view.parts["train"], view.watched) for one in tries(run)]
    return dict(zip(map(float, run.options.leaves), fitted))


def seen(learner):
    return WithQueryVectors(base=LearnerRanker(learner=learner))


METHODS = (
    Method("toy-alone", "without the query", ORANGE, "s", tries=lambda run: [one.base for one in tries(run)]),
    Method(
        "toy-seen", "with the query", BLUE, "o", tries=tries,
        shown=along,
    ),
    Method(
        "toy-other", "with another query", GREY, "x", control_of="toy-seen",
        tries=lambda run: [OfOthers(base=one, seed=run.seed) for one in tries(run)],
    ),
)
STORED = [method.name for method in METHODS if not method.control_of]
""",
    "fold": """"The jobs of a fold."

import numpy as np
import pyarrow as pa

from qdrank.rankers.documents import load_fold
from qdrank.store import read, write
from qdrank.studies.study import Keys
from qdrank.studies.running import FoldRun, View
from qdrank.studies.toy2026.methods import METHODS


def lengths(part):
    "The number of documents of each query, as a vector."
    return np.diff(part.offsets)[:, None].astype(float)


def write_fold(files, out, fold, *, leaves, seed, measure):
    documents = load_fold(files["judged"], fold, columns=["doc_id", "features"])
    views = {"": View.of(documents, lengths)}
    FoldRun(fold, views, Keys(leaves=leaves), measure=measure, seed=seed, measures=["ap"]).run(METHODS).write(out)


def count(files, path, fold, shard):
    "Documents of the test queries of a shard."
    test = load_fold(files["judged"], fold).parts["test"]
    write(path, "figure", pa.table({"query": test.query_id, "documents": np.diff(test.offsets)}).slice(*part(test, shard)))


def part(test, shard):
    number, shards = shard
    size = -(-test.n_queries // shards)
    return number * size, size


def gather(files, path):
    write(path, "figure", pa.concat_tables([read(one, "figure") for one in files["shards"]]))
""",
    "steps": """"What the study computes."

from qdrank.studies.study import Step, scores_and_rankers
from qdrank.studies.toy2026.methods import STORED

ROOM, JUDGED, SHARDS = "qdrank.studies.toy2026.fold", {"judged": "judged.parquet"}, "{fold}/toy/{scatteritem}.parquet"
STEPS = (
    Step(
        name="fit_toy", says="Everything is fitted.", call=f"{ROOM}:write_fold", reads=JUDGED,
        makes={
            **scores_and_rankers(STORED), "values": "{fold}/toy/values.parquet", "choices": "{fold}/choices/toy.parquet",
        },
        params=lambda run: {
            "leaves": run.settings.toy.leaves, "seed": run.settings.seed, "measure": run.settings.learners.measure,
        },
        threads=lambda run: run.tree_threads,
    ),
    Step(name="count_toy", says="A shard.", call=f"{ROOM}:count", reads=JUDGED, makes={"counts": SHARDS}, shards="toy"),
    Step(
        name="gather_toy", says="All shards.", call=f"{ROOM}:gather", reads={"shards": SHARDS},
        makes={"counts": "{fold}/toy/counts.parquet"},
    ),
)
""",
    "claims": """"The claims."

from functools import partial

import pandas as pd

from qdrank.evaluation.declared import CONTROL, Claim, Declaration

gain = partial(Claim, expected="above 0", kind="superiority", margin=0.01, unit="AP", measure="ap")


def declare(options):
    "Two claims."
    budget = f"both choose among {len(options['leaves'])} numbers of leaves"
    claims = (
        gain("gain", "the query helps", ("toy-seen", "toy-alone"), budget=budget),
        gain("own", "it is the query's own", ("toy-seen", "toy-other"), purpose=CONTROL, budget=budget),
    )
    return Declaration("toy2026", "Toy 2026", claims)


def gather(inputs, shown):
    "Measures of the methods, and of the control."
    values = inputs.frame("values", "values")
    return pd.concat([inputs.frame("measures", "measures"), values[values["x"].isna()]]), {}
""",
    "shows": """"The figure and the table."

from qdrank.figures.numbers import numbers
from qdrank.figures.palette import Look
from qdrank.figures.pictures import lines
from qdrank.figures.style import new_figure
from qdrank.studies.toy2026.methods import METHODS


def draw(inputs, shown):
    "MAP along the number of leaves."
    values = inputs.frame("values", "values").dropna(subset="x")
    rows = numbers(values, ["method", "x"], "ap", shown.interval)
    figure, axes = new_figure()
    lines(axes, rows, "x", {method.name: method for method in METHODS}, ends="")
    return figure, rows


def tabulate(inputs, shown):
    "A row for each test query."
    return {"toy-table1": inputs.frame("counts", "figure")}
""",
}
EDITED = {
    "src/qdrank/studies/__init__.py": (
        '    {\n        "geng2008"',
        '    {\n        "toy2026": "qdrank.studies.toy2026:STUDY",\n        "geng2008"',
    )
}


#: A figure of a study that stands.
FIGURE = {
    "src/qdrank/studies/geng2008/toy_figure.py": """"A bar."

import pandas as pd

from qdrank.figures.style import new_figure


def draw(inputs, shown):
    "Mean average precision of Single."
    measures = inputs.frame("measures", "measures")
    rows = measures[measures["method"] == "single"].groupby("method", as_index=False)["ap"].mean()
    figure, axes = new_figure()
    axes.bar(rows["method"], rows["ap"])
    return figure, rows
"""
}


def add(folder: Path, files: dict[str, str], edits: dict[str, tuple[str, str]]) -> None:
    for name, text in files.items():
        assert not (folder / name).exists()
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    for name, (old, new) in edits.items():
        text = (folder / name).read_text()
        assert text.count(old) == 1, name
        (folder / name).write_text(text.replace(old, new))


@pytest.mark.full
def test_a_study(study: Project) -> None:
    """A learned method, its control, two claims, a curve, and work divided among shards."""
    add(study.folder, {f"src/qdrank/studies/toy2026/{name}.py": text for name, text in STUDY.items()}, EDITED)
    study.tiny("toy2026", "--set-scatter", "toy=3")
    results = study.folder / "results"
    assert (results / "tiny/figures/toy-fig1.pdf").stat().st_size
    claims = (results / "tiny/tables/toy-claims.md").read_text()
    assert "the query helps" in claims
    assert "it is the query's own" in claims
    assert "both choose among 2 numbers of leaves" in claims
    counted = read(results / "tiny/tables/toy-table1.parquet", "table")
    judged = read(results / "tiny/toy/measures.parquet", "measures").column("query_id").to_pylist()
    assert set(counted.column("query").to_pylist()) == set(judged)
    assert len(list(study.folder.glob("logs/count_toy/tiny/fold1/**/*.log"))) == 3
    curve = read(results / "tiny/figures/toy-fig1.parquet", "figure").to_pylist()
    assert [(row["method"], row["x"]) for row in curve] == [("toy-seen", 2), ("toy-seen", 4)]
    study.tiny()
    assert "the query helps" in (results / "claims-overview.md").read_text()
    page = (results / "index.html").read_text()
    assert "Show the query to the learner. 1 claim on 2 data sets" in page
    assert 'id="figure-tiny-toy-fig1"' in page
    known = read(results / "tiny/measures.parquet", "measures").column("method").to_pylist()
    assert {"toy-alone", "toy-seen"} <= set(known)
    assert "toy-other" not in known, "a control is a row of the values, and no ranker of the tables"
    listed = json.loads((results / "manifest.json").read_text())["files"]
    assert {"tiny/tables/toy-table1.csv", "tiny/figures/toy-fig1.svg", "tiny/toy/observations.parquet"} <= set(listed)
    study.snakemake("--configfile", "tests/configs/tiny.yaml", "--report", "results/report.html")
    page = (results / "report.html").read_text()
    assert "Toy 2026" in page
    assert "Figure 1: a curve" in page
    assert "MAP for each number of leaves." in page
    printed = study.tiny("toy_fig1", "--config", 'toy={"leaves": []}', check=False)
    assert "--config: toy.leaves" in printed


@pytest.mark.full
def test_a_figure(study: Project) -> None:
    output = 'Output(f"{_ROOM}.toy_figure:draw", {"geng-toy": "a toy"}, _MEASURES, caption="A toy.")'
    edit = {"src/qdrank/studies/geng2008/__init__.py": ("    figures=(\n", f"    figures=(\n        {output},\n")}
    add(study.folder, FIGURE, edit)
    study.tiny("geng_toy")
    assert (study.folder / "results/tiny/figures/geng-toy.pdf").stat().st_size


def test_a_ranker(study: Project) -> None:
    learner = '''"""Documents by their first feature."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from qdrank.learners.base import LinearLearner


@dataclass(kw_only=True, eq=False)
class First(LinearLearner):
    """One weight, on the first feature."""

    NAME: ClassVar[str] = "toy-first"
    sign: float = 1.0

    def fit(self, X, y, query):
        """Set the weight."""
        self.coef_ = self.sign * np.eye(np.shape(X)[1])[0]
        return self
'''
    edits = {
        "src/qdrank/learners/__init__.py": (
            '        "ranksvm": "qdrank.learners.ranksvm.estimator:RankSVM",\n        "rankboost"',
            '        "toy-first": "qdrank.learners.first:First",\n'
            '        "ranksvm": "qdrank.learners.ranksvm.estimator:RankSVM",\n        "rankboost"',
        ),
        "src/qdrank/rankers/methods.py": (
            '    "ranksvm": ClassicMethod(',
            '    "toy-first": ClassicMethod("toy-first", "First feature"),\n    "ranksvm": ClassicMethod(',
        ),
        "tests/configs/tiny.yaml": (
            "methods: [ranksvm, regression, lambdamart",
            "methods: [toy-first, ranksvm, regression, lambdamart",
        ),
    }
    add(study.folder, {"src/qdrank/learners/first.py": learner}, edits)
    grid = ('    "ranksvm": {', '    "toy-first": {"sign": [1.0, -1.0]},\n    "ranksvm": {')
    add(study.folder, {}, {"src/qdrank/rankers/methods.py": grid})
    planned = study.planned()
    assert {"learn_method", "measure_methods", "tabulate_learners"} <= planned
    assert not {name for name in planned if name.startswith(("train_", "score_", "fit_", "solve_", "measure_features"))}
    study.tiny("learners", "results/tiny/measures.parquet")
    assert "First feature" in (study.folder / "results/tiny/tables/learners.md").read_text()
    assert "toy-first" in read(study.folder / "results/tiny/measures.parquet", "measures").column("method").to_pylist()

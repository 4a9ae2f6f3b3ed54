"""A study, a figure and a ranker are added by their own files, one registry line and, for a study, one include line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from qdrank.store import read
from tests.workflow.project import Project

STUDY = {
    "src/qdrank/studies/toy2026/__init__.py": '''"""Toy 2026: documents by their first feature."""

from qdrank.figures.palette import BLUE
from qdrank.studies.study import Method, Output, Study

MEASURES = {"measures": "toy/measures.parquet"}
STUDY = Study(
    name="toy2026",
    short="toy",
    paper="Toy 2026",
    idea="Rank by the first feature.",
    section="qdrank.studies.toy2026.settings:Toy",
    methods=(Method("toy-first", "first feature", BLUE, "o"),),
    run=lambda section: ["toy-first"],
    measures=("ap",),
    figures=(
        Output(
            "qdrank.studies.toy2026.shows:draw", {"toy-fig1": "Figure 1: a bar"}, MEASURES, ("toy.width",),
            captions={"toy-fig1": "A bar for each method."},
        ),
    ),
    tables=(
        Output(
            "qdrank.studies.toy2026.shows:tabulate", {"toy-table1": "Table 1: means"}, MEASURES,
            captions={"toy-table1": "Means."},
        ),
    ),
    observations=Output(
        "qdrank.studies.toy2026.claims:gather", {"toy-claims": "claims"}, MEASURES, captions={"toy-claims": "Claims."}
    ),
    claims="qdrank.studies.toy2026.claims:declare",
)
''',
    "src/qdrank/studies/toy2026/settings.py": '''"""Section toy."""

from pydantic import Field

from qdrank.sections import PositiveFloat, StudySection


class Toy(StudySection):
    """The study of Toy 2026."""

    width: PositiveFloat = Field(default=0.5, description="Width of the bar.")
''',
    "src/qdrank/studies/toy2026/shows.py": '''"""The figure and the table."""

import pyarrow as pa

from qdrank.figures.style import new_figure


def means(inputs):
    """Mean average precision by method."""
    of = inputs.frame("measures", "measures").groupby("method")["ap"].mean()
    return {name: float(of[name]) for name in ("toy-first", "reference")}


def draw(inputs, shown):
    """Draw a bar for each method."""
    figure, axes = new_figure()
    axes.bar(list(means(inputs)), list(means(inputs).values()), width=shown.options["width"])
    return figure, tabulate(inputs, shown)["toy-table1"]


def tabulate(inputs, shown):
    """One row per method."""
    rows = [{"method": name, "MAP": value} for name, value in means(inputs).items()]
    return {"toy-table1": pa.Table.from_pylist(rows)}
''',
    "src/qdrank/studies/toy2026/claims.py": '''"""The claim."""

from qdrank.evaluation.declared import Claim, Declaration


def declare(options):
    """One claim."""
    text, compares = "the first feature beats the reference", ("toy-first", "reference")
    claim = Claim("first", text, compares, expected="above 0", kind="superiority", margin=0.01, unit="AP", measure="ap")
    return Declaration("toy2026", "Toy 2026", (claim,))


def gather(inputs, shown):
    """Measures of the methods; the study has no values of its own."""
    return inputs.table("measures", "measures"), {}
''',
    "src/qdrank/studies/toy2026/scoring.py": '''"""The scores."""

from qdrank.rankers.documents import load_fold
from qdrank.rankers.reference import OneFeature
from qdrank.rankers.served import ServedRanker, write_method


def write_scores(files, out, fold, *, column):
    """Score the test documents of a fold by a feature."""
    documents = load_fold(files["judged"], fold, columns=["doc_id", "features"])
    view, ranker = documents.view(scaled=False), OneFeature(column=column)
    served = ServedRanker(method="toy-first", fold=fold, documents=view, ranker=ranker)
    write_method(out["toy-first"], out["served_toy-first"], served, documents.parts["test"])
''',
    "scripts/toy2026/score_toy.py": '''"""Scores of the first feature."""

from qdrank.studies.toy2026.scoring import write_scores
from qdrank.workflow.script import job

with job() as this:
    write_scores(this.files, this.out, this.fold, **this.params)
''',
    "workflow/rules/toy2026.smk": '''# Toy 2026.


rule score_toy:
    """Scores of the first feature."""
    input:
        judged="results/{dataset}/judged.parquet",
    output:
        **scores_and_rankers(["toy-first"]),
    resources:
        mem_mb=memory(500, 6),
        runtime=minutes(15),
    params:
        column=0,
    script:
        "../../scripts/toy2026/score_toy.py"
''',
}
EDITED = {
    "src/qdrank/studies/__init__.py": (
        '    {\n        "geng2008"',
        '    {\n        "toy2026": "qdrank.studies.toy2026:STUDY",\n        "geng2008"',
    ),
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
    add(study.folder, STUDY, EDITED)
    study.tiny("toy2026")
    results = study.folder / "results"
    assert (results / "tiny/figures/toy-fig1.pdf").stat().st_size
    assert "first feature beats the reference" in (results / "tiny/tables/toy-claims.md").read_text()
    study.tiny()
    assert "first feature beats the reference" in (results / "claims-overview.md").read_text()
    page = (results / "index.html").read_text()
    assert "Rank by the first feature. 1 claim on 2 data sets" in page
    assert 'id="figure-tiny-toy-fig1"' in page
    assert "toy-first" in read(results / "tiny/measures.parquet", "measures").column("method").to_pylist()
    listed = json.loads((results / "manifest.json").read_text())["files"]
    assert {"tiny/tables/toy-table1.csv", "tiny/figures/toy-fig1.svg", "tiny/toy/observations.parquet"} <= set(listed)
    study.snakemake("--configfile", "tests/configs/tiny.yaml", "--report", "results/report.html")
    page = (results / "report.html").read_text()
    assert "Toy 2026" in page
    assert "Figure 1: a bar" in page
    assert "A bar for each method." in page
    printed = study.tiny("toy_fig1", "--config", 'toy={"width": -1}', check=False)
    assert "--config: toy.width" in printed


@pytest.mark.full
def test_a_figure(study: Project) -> None:
    module = {"src/qdrank/studies/geng2008/toy_figure.py": STUDY["src/qdrank/studies/toy2026/shows.py"]}
    text = module["src/qdrank/studies/geng2008/toy_figure.py"]
    module["src/qdrank/studies/geng2008/toy_figure.py"] = text.replace("toy-first", "single").replace(
        'width=shown.options["width"]', "width=0.5"
    )
    output = 'Output(f"{_ROOM}.toy_figure:draw", {"geng-toy": "a toy"}, _MEASURES, captions={"geng-toy": "A toy."})'
    edit = {"src/qdrank/studies/geng2008/__init__.py": ("    figures=(\n", f"    figures=(\n        {output},\n")}
    add(study.folder, module, edit)
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
        "src/qdrank/learners/grids.py": (
            '    "ranksvm": {',
            '    "toy-first": {"sign": [1.0, -1.0]},\n    "ranksvm": {',
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
    planned = study.planned()
    assert {"learn_method", "measure_methods", "tabulate_learners"} <= planned
    assert not {name for name in planned if name.startswith(("train_", "score_", "fit_", "solve_", "measure_features"))}
    study.tiny("learners", "results/tiny/measures.parquet")
    assert "First feature" in (study.folder / "results/tiny/tables/learners.md").read_text()
    assert "toy-first" in read(study.folder / "results/tiny/measures.parquet", "measures").column("method").to_pylist()

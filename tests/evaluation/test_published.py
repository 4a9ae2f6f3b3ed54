"""Published against ours: the files can be read, rows say what they should, samples are refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from qdrank.aggregators import AGGREGATORS
from qdrank.errors import InputError
from qdrank.evaluation.published import agreement, compare_published, load_expected
from qdrank.learners import LEARNERS
from qdrank.measures import FoldMeans

TOY = """
dataset: toy
queries: 10
documents: 100
convention: letor4
tolerance: {ap: 0.01, other: 0.02}
sources: {book: {text: a book, certainty: verified}}
figures:
  - {method: listnet, source: book, values: {ap: 0.5, p@1/letor4: 0.4}, folds: {ap: [0.45, 0.55]}}
  - {method: ranksvm, source: book, values: {ap: 0.5}, note: not converged}
"""


@pytest.fixture
def toy(tmp_path: Path) -> Path:
    path = tmp_path / "toy.yaml"
    path.write_text(TOY)
    return path


def test_rows(toy):
    means = FoldMeans(folds={"fold1": 0.44, "fold2": 0.58}, published=0.51, pooled=0.51)
    rows = compare_published(load_expected(toy), {"listnet": {"ap": means}}, queries=10, documents=100)
    assert [(r["method"], r["measure"], r["fold"], r["ours"], r["verdict"]) for r in rows] == [
        ("listnet", "ap", "mean", 0.51, "agrees"),
        ("listnet", "p@1/letor4", "mean", None, "not measured"),
        ("listnet", "ap", "fold1", 0.44, "agrees"),
        ("listnet", "ap", "fold2", 0.58, "differs"),
        ("ranksvm", "ap", "mean", None, "not measured"),
    ]
    assert rows[0]["difference"] == pytest.approx(0.01)
    assert rows[-1]["note"] == "not converged"
    assert rows[0]["certainty"] == "verified"


def test_a_sample_is_never_compared(toy):
    with pytest.raises(InputError, match="of 10 queries and 100 documents, these data have 8 and 85"):
        compare_published(load_expected(toy), {}, queries=8, documents=85)


@pytest.mark.parametrize(
    ("difference", "expected"), [(0.01, "agrees"), (-0.01004, "agrees"), (0.0102, "differs"), (None, "not measured")]
)
def test_verdict(difference, expected):
    assert agreement(difference, 0.01) == expected


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("source: book, values", "source: bok, values"),
        ("ap: 0.5, p@1", "ap: 0.5, q@1"),
        ("dataset", "datset"),
        ("ap: 0.01", "ap: ["),
    ],
)
def test_mistakes_are_named(toy, old, new):
    toy.write_text(TOY.replace(old, new))
    with pytest.raises(InputError, match="cannot be read"):
        load_expected(toy)


def test_the_shipped_figures_are_sound(project):
    files = sorted((project / "resources" / "expected").glob("*.yaml"))
    assert {file.stem for file in files} >= {"mq2007", "mq2008", "ohsumed", "mq2007-agg"}
    for file in files:
        expected = load_expected(file)
        assert expected.dataset == file.stem
        for figures in expected.figures:
            assert figures.method.removesuffix("-high") in {*LEARNERS, *AGGREGATORS}
            assert all(0 < value < 1 for value in figures.values.values())
            for name, folds in figures.folds.items():
                assert sum(folds) / len(folds) == pytest.approx(figures.values[name], abs=1.1e-4)

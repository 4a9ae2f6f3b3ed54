"""The learners come within the bands of published five-fold MAP; of sources that were seen only.

The bands are those of resources/expected: as wide as the spread between independent runs of one method.
"""

import numpy as np
import pytest

from qdrank.datasets.letor import load_letor
from qdrank.evaluation.published import load_expected
from qdrank.layout import query_index, query_offsets
from qdrank.learners import tune
from qdrank.measures.compute import average_precision

# Small grids, for speed.
RERUNS_ON_MQ2008 = {"ranksvm": {"lam": [1e-1]}, "rankboost": {"rounds": [60], "thresholds": [10]}}
SHEET_OF_LETOR2 = {
    "listnet": {"l2": [1e-3]},
    "adarank-map": {"rounds": [100]},
    "adarank-ndcg": {"objective": ["ndcg@10/letor4"]},
    "mhr-bc": {"lam": [0.1]},
}


def load(folder):
    loaded = [load_letor(folder / f"S{i}.txt.xz") for i in range(1, 6)]
    return [(part.X, part.y, part.query) for part in loaded]


def scaled(part):
    """Features in [0, 1] within each query."""
    X, y, query = part
    offsets = query_offsets(query)
    low = np.minimum.reduceat(X, offsets[:-1])[query_index(offsets)]
    width = np.maximum.reduceat(X, offsets[:-1])[query_index(offsets)] - low
    return np.divide(X - low, width, out=np.zeros_like(X), where=width > 0), y, query


def fold_maps(parts, name, grid):
    folds = []
    for i in range(5):
        a, b, c, vali, test = (parts[(i + j) % 5] for j in range(5))
        train = tuple(np.concatenate(columns) for columns in zip(a, b, c, strict=True))
        scores = tune(name, grid, train, vali).chosen.predict(test[0], test[2])
        folds.append(average_precision(test[1], scores, query_offsets(test[2])).mean())
    return np.array(folds)


def check(project, parts, name, grid, *, file, source):
    """The mean is within its band, and every fold but one, for one in twenty may be outside, within its own."""
    expected = load_expected(project / "resources" / "expected" / f"{file}.yaml")
    figures = next(f for f in expected.figures if (f.method, f.source) == (name, source))
    ours = fold_maps(parts, name, grid)
    assert ours.mean() == pytest.approx(figures.values["ap"], abs=expected.bands["ap"])
    outside = [round(float(x), 4) for x in ours - figures.folds["ap"] if abs(x) > expected.fold_bands["ap"]]
    assert len(outside) <= 1, outside


@pytest.fixture(scope="module")
def mq2008(mirror):
    return load(mirror / "letor4" / "MQ2008")


@pytest.fixture(scope="module")
def letor2(mirror):
    return [scaled(part) for part in load(mirror / "ohsumed-letor" / "letor2")]


@pytest.mark.full
@pytest.mark.mirror
@pytest.mark.parametrize("name", list(RERUNS_ON_MQ2008))
def test_mq2008_against_the_public_reruns(project, mq2008, name):
    check(project, mq2008, name, RERUNS_ON_MQ2008[name], file="mq2008", source="letor40-rerun")


@pytest.mark.full
@pytest.mark.mirror
@pytest.mark.parametrize("name", list(SHEET_OF_LETOR2))
def test_ohsumed_against_the_sheet_of_letor2(project, letor2, name):
    check(project, letor2, name, SHEET_OF_LETOR2[name], file="ohsumed-letor2", source="letor2-sheet")

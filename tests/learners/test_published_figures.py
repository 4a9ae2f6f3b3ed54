"""The learners come within .01 MAP of published five-fold figures; of those only whose source was seen."""

from __future__ import annotations

import numpy as np
import pytest

from qdrank.datasets.letor.reader import load_letor
from qdrank.groups import query_index, query_offsets
from qdrank.learners import tune
from qdrank.measures import average_precision

# Small grids, for speed; tests/benchmarks/bench_learners.py has the whole ones.
RERUNS_ON_MQ2008 = {
    "ranksvm": ({"lam": [1e-1]}, 0.4716),
    "rankboost": ({"rounds": [60], "thresholds": [10]}, 0.4752),
    "adarank-map": ({"rounds": [100]}, 0.4766),
}
SHEET_OF_LETOR2 = {
    "listnet": ({"l2": [1e-3]}, 0.4496),
    "adarank-ndcg": ({"objective": ["ndcg@10/letor4"]}, 0.4424),
    "mhr-bc": ({"lam": [0.1]}, 0.4402),
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


def five_fold_map(parts, name, grid):
    folds = []
    for i in range(5):
        a, b, c, vali, test = (parts[(i + j) % 5] for j in range(5))
        train = tuple(np.concatenate(columns) for columns in zip(a, b, c, strict=True))
        scores = tune(name, grid, train, vali).learner.predict(test[0], test[2])
        folds.append(average_precision(test[1], scores, query_offsets(test[2])).mean())
    return np.mean(folds)


@pytest.fixture(scope="module")
def mq2008(mirror):
    return load(mirror / "letor4" / "MQ2008")


@pytest.fixture(scope="module")
def letor2(mirror):
    return [scaled(part) for part in load(mirror / "ohsumed-letor" / "letor2")]


@pytest.mark.mirror
@pytest.mark.slow
@pytest.mark.parametrize("name", list(RERUNS_ON_MQ2008))
def test_mq2008_against_the_public_reruns(mq2008, name):
    grid, figure = RERUNS_ON_MQ2008[name]
    assert five_fold_map(mq2008, name, grid) == pytest.approx(figure, abs=0.01)


@pytest.mark.mirror
@pytest.mark.slow
@pytest.mark.parametrize("name", list(SHEET_OF_LETOR2))
def test_ohsumed_against_the_sheet_of_letor2(letor2, name):
    grid, figure = SHEET_OF_LETOR2[name]
    assert five_fold_map(letor2, name, grid) == pytest.approx(figure, abs=0.01)

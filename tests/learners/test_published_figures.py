"""The learners come within .01 MAP of the published five-fold figures on MQ2008."""

from __future__ import annotations

import numpy as np
import pytest

from qdrank.datasets.letor import load_letor
from qdrank.groups import query_offsets
from qdrank.learners import tune
from qdrank.measures import average_precision

# Small grids that find what the whole ones find; tests/benchmarks/bench_learners.py has the whole ones.
PUBLISHED = {
    "ranksvm": ({"lam": [1e-1]}, 0.4716),
    "rankboost": ({"rounds": [60], "thresholds": [10]}, 0.4752),
    "listnet": ({"mapping": ["grade", "relevant"], "scale": [3.0]}, 0.4775),
    "adarank-map": ({"rounds": [100]}, 0.4766),
    "adarank-ndcg": ({"rounds": [200], "objective": ["ndcg@5/letor4", "ndcg@10/letor4"]}, 0.4824),
}


@pytest.fixture(scope="module")
def parts(mirror):
    loaded = [load_letor(mirror / "letor4" / "MQ2008" / f"S{i}.txt.xz") for i in range(1, 6)]
    return [(part.X, part.y, part.query) for part in loaded]


@pytest.mark.mirror
@pytest.mark.slow
@pytest.mark.parametrize("name", list(PUBLISHED))
def test_mean_average_precision_is_the_published_one(parts, name):
    grid, figure = PUBLISHED[name]
    folds = []
    for i in range(5):
        a, b, c, vali, test = (parts[(i + j) % 5] for j in range(5))
        train = tuple(np.concatenate(columns) for columns in zip(a, b, c, strict=True))
        scores = tune(name, grid, train, vali).learner.predict(test[0], test[2])
        folds.append(average_precision(test[1], scores, query_offsets(test[2])).mean())
    assert np.mean(folds) == pytest.approx(figure, abs=0.01)

"""The number of rounds of a booster is chosen as any setting is, missed documents counted: against the numbers tried, one by one."""

from typing import Any

import numpy as np
import pytest

from qdrank.layout import query_offsets
from qdrank.learners import LEARNERS
from qdrank.learners.choose import ValidationQueries

ROUNDS, STEP = 11, 2
FEW = {
    "rankboost": {"rounds": ROUNDS, "thresholds": 10},
    "lambdamart": {"rounds": ROUNDS, "leaves": 4, "min_leaf": 3, "learning_rate": 0.3},
    "boosted-regression": {"rounds": ROUNDS, "leaves": 4, "min_leaf": 3, "learning_rate": 0.3},
}


def drawn(seed: int, n_queries: int = 12) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Documents whose features say little, and with few values, so that scores tie."""
    rng = np.random.default_rng(seed)
    query = np.repeat(np.arange(n_queries), 8)
    X = rng.integers(0, 4, (len(query), 4)).astype(float)
    return X, np.clip(X[:, 0] + rng.normal(0, 2, len(X)), 0, 2).astype(int), query


def unranked(n_queries: int = 12) -> tuple[np.ndarray, np.ndarray]:
    """Half of the queries miss twenty relevant documents, so that they hardly count."""
    sizes = np.where(np.arange(n_queries) < n_queries // 2, 20, 0)
    return np.ones(sizes.sum(), dtype=int), np.concatenate([[0], np.cumsum(sizes)])


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("name", FEW)
def test_the_round_is_the_first_of_the_best(name: str, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("qdrank.learners.trees.STEP", STEP)
    train, (X, y, query) = drawn(2 * seed), drawn(2 * seed + 1)
    grown = "trees" in LEARNERS.module(name)
    patient: dict[str, Any] = {"patience": ROUNDS} if grown else {}
    tried = [*range(STEP, ROUNDS, STEP), ROUNDS] if grown else [*range(1, ROUNDS + 1)]
    kinds = {}
    for missed in (None, unranked()):
        queries = ValidationQueries(y, query_offsets(query), missed, measure="ap", seed=3)
        shorter = [LEARNERS[name](**(FEW[name] | {"rounds": n}), seed=3).fit(*train) for n in tried]
        means = [queries.mean(learner.predict(X)) for learner in shorter]
        fitted = LEARNERS[name](**FEW[name], **patient, seed=3).fit(*train, validation=(X, y, query, missed))
        np.testing.assert_allclose(fitted.predict(X), shorter[means.index(max(means))].predict(X), rtol=1e-12)
        kinds[missed is None] = means
    assert kinds[True] != kinds[False]

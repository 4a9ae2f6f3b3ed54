"""AdaRank and RankBoost against rounds computed by hand and a twin that stores every pair; the round that validation chooses."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qdrank.layout import query_offsets
from qdrank.learners import LEARNERS
from qdrank.learners.boosting import (
    AdaRank,
    AdaRankMAP,
    AdaRankNDCG,
    PairWeights,
    RankBoost,
    adarank_weight,
    round_weight,
    threshold_values,
)
from qdrank.learners.choose import ValidationQueries

# Two queries of two documents, one relevant in each. Feature 0 ranks query 1 right and query 2 wrong; feature 1 the
# other way round; feature 2 is wrong on both. Average precision is 1 where right and 1/2 where wrong.
X = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 1.0]])
Y = np.array([1, 0, 1, 0])
QUERY = np.array(["a", "a", "b", "b"])


def alpha(mean: float) -> float:
    return 0.5 * np.log((1 + mean) / (1 - mean))


def test_a_round_of_the_paper():
    # E = (1, 1/2) for feature 0, weights 1/2 each.
    model = AdaRank(rounds=1).fit(X, Y, QUERY)
    np.testing.assert_allclose(model.coef_, [alpha(0.75), 0, 0])


def test_the_second_round_of_the_paper_serves_the_query_that_is_ranked_badly():
    # P ∝ (e^-1, e^-1/2): feature 1, right on query b, is chosen.
    p = np.exp(-0.5) / (np.exp(-1) + np.exp(-0.5))
    model = AdaRank(rounds=2).fit(X, Y, QUERY)
    np.testing.assert_allclose(model.coef_, [alpha(0.75), alpha(p + (1 - p) / 2), 0])


def test_a_perfect_feature_has_a_bounded_weight():
    assert np.isfinite(adarank_weight(np.array([1.0]), np.array([1.0])))


@pytest.mark.filterwarnings("ignore:no query has documents of different grades")
def test_nothing_to_learn_stops_at_once():
    np.testing.assert_array_equal(AdaRank(rounds=5).fit(X, np.zeros(4, int), QUERY).coef_, 0)


def test_rows_sorted_by_grade_do_not_make_a_constant_feature_look_perfect():
    rng = np.random.default_rng(0)
    y = np.tile([1] * 3 + [0] * 7, 20)
    X = np.column_stack([np.ones(200), y + rng.normal(0, 0.5, 200)])
    model = AdaRank(rounds=3).fit(X, y, np.repeat(np.arange(20), 10))
    assert model.coef_[0] == 0
    assert model.coef_[1] > 0


@pytest.mark.parametrize("learner", [AdaRankMAP(rounds=20), AdaRankNDCG(rounds=20)])
def test_validation_chooses_a_round(learner):
    rng = np.random.default_rng(5)
    X = rng.random((200, 5))
    y = (X @ [3, 1, 0, 0, 0] + rng.normal(0, 1, 200) > 2.5).astype(int)
    query = np.repeat(np.arange(20), 10)
    learner.fit(X[:100], y[:100], query[:100], validation=(X[100:], y[100:], query[100:]))
    assert learner.coef_[0] > 0


def judged(seed: int, n_queries: int = 4, n_features: int = 3):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 7, n_queries)
    query = np.repeat(np.arange(n_queries), sizes)
    return np.round(rng.random((len(query), n_features)), 1), rng.integers(0, 3, len(query)), query


def pairs_of(y, query):
    return [(a, b) for a in range(len(y)) for b in range(len(y)) if query[a] == query[b] and y[a] > y[b]]


class StoredPairs:
    """The textbook form: D over all pairs, updated round by round."""

    def __init__(self, X, y, query, thresholds):
        self.X, self.pairs = X, pairs_of(y, query)
        self.D = np.full(len(self.pairs), 1 / max(len(self.pairs), 1))
        self.thetas = [threshold_values(column, thresholds) for column in X.T]

    def round(self):
        best = (0, 0.0, 0.0)
        for f, thetas in enumerate(self.thetas):
            for theta in thetas[::-1]:
                h = (self.X[:, f] > theta).astype(float)
                r = sum(d * (h[a] - h[b]) for d, (a, b) in zip(self.D, self.pairs, strict=True))
                if abs(r) > abs(best[2]) + 1e-12:
                    best = (f, theta, r)
        f, theta, r = best
        alpha = round_weight(r)
        h = (self.X[:, f] > theta).astype(float)
        self.D = self.D * np.exp([-alpha * (h[a] - h[b]) for a, b in self.pairs])
        self.D /= self.D.sum()
        return f, theta, alpha


def test_two_rounds_by_hand():
    # One query; grades 1, 1, 0. Pairs (0, 2) and (1, 2), weight 1/2 each.
    X = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    model = RankBoost(rounds=2, thresholds=None).fit(X, [1, 1, 0], [7, 7, 7])
    # Round 1: both features win one pair, r = 1/2, alpha = 1/2 ln 3; the first is taken.
    # Round 2: D = (e^-a, 1) / (1 + e^-a) with e^-a = 1/sqrt 3, so feature 1 has r = 1 / (1 + 1/sqrt 3).
    r = 1 / (1 + 1 / np.sqrt(3))
    assert model.features_.tolist() == [0, 1]
    np.testing.assert_allclose(model.alphas_, [0.5 * np.log(3), 0.5 * np.log((1 + r) / (1 - r))])
    np.testing.assert_allclose(model.predict(X), [*model.alphas_, 0.0])


@pytest.mark.parametrize("thresholds", [None, 5])
def test_rounds_equal_those_with_stored_pairs(thresholds):
    for seed in range(6):
        X, y, query = judged(seed)
        model = RankBoost(rounds=8, thresholds=thresholds).fit(X, y, query)
        twin = StoredPairs(X, y, query, thresholds)
        for alpha in model.alphas_:
            np.testing.assert_allclose(alpha, twin.round()[2], atol=1e-9)


@settings(max_examples=30)
@given(st.integers(0, 10_000))
def test_potential_is_the_sum_over_pairs(seed):
    _, y, query = judged(seed)
    scores = np.random.default_rng(seed).normal(0, 3, len(y))
    pairs = pairs_of(y, query)
    weight = np.array([np.exp(scores[b] - scores[a]) for a, b in pairs])
    expected = np.zeros(len(y))
    for (a, b), d in zip(pairs, weight / max(weight.sum(), 1e-300), strict=True):
        expected[a] += d
        expected[b] -= d
    np.testing.assert_allclose(PairWeights(y, query_offsets(query)).potential(scores), expected, atol=1e-12)


def test_large_scores_do_not_overflow():
    scores = np.array([900.0, -900.0, 2000.0, 2001.0])
    potential = PairWeights(np.array([1, 0, 1, 0]), np.array([0, 2, 4])).potential(scores)
    np.testing.assert_allclose(potential, [0, 0, 1, -1], atol=1e-12)


def test_thresholds_are_evenly_spaced_or_all():
    np.testing.assert_allclose(threshold_values(np.array([1.0, 3.0, 2.0]), 4), [1, 1.5, 2, 2.5])
    np.testing.assert_allclose(threshold_values(np.array([1.0, 3.0, 2.0, 1.0]), None), [1, 2])
    assert len(threshold_values(np.array([2.0, 2.0]), 10)) == 0


@pytest.mark.filterwarnings("ignore:no query has documents of different grades")
def test_nothing_to_learn_gives_equal_scores():
    X = np.random.default_rng(0).random((5, 2))
    assert np.ptp(RankBoost(rounds=3).fit(X, np.zeros(5, int), np.zeros(5)).predict(X)) == 0
    assert np.ptp(RankBoost(rounds=3).fit(np.ones((5, 2)), [2, 1, 0, 0, 0], np.zeros(5)).predict(X)) == 0


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

"""AdaRank against rounds computed by hand."""

import numpy as np
import pytest

from qdrank.learners.boosting import AdaRank, AdaRankMAP, AdaRankNDCG, adarank_weight

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

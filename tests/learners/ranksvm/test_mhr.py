import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from qdrank.learners.ranksvm.estimator import MultipleHyperplaneRanker, RankSVM
from qdrank.measures.ranking import borda_points


@given(st.lists(st.lists(st.sampled_from([0.0, 1.0, 2.0, np.nan]), min_size=1, max_size=6), min_size=1, max_size=4))
def test_points_are_the_documents_below_and_half_the_tied(lists):
    scores = np.concatenate([np.array(one) for one in lists])
    offsets = np.concatenate([[0], np.cumsum([len(one) for one in lists])])
    expected = []
    for one in lists:
        s = [-1.0 if np.isnan(v) else v for v in one]
        expected += [sum(v > w for w in s) + (sum(v == w for w in s) - 1) / 2 for v in s]
    np.testing.assert_allclose(borda_points(scores, offsets), expected)


def judged(grades: int):
    rng = np.random.default_rng(2)
    X = rng.random((120, 4))
    y = np.clip((X @ [2, 1, 0, 0] + rng.normal(0, 0.3, 120)).astype(int), 0, grades - 1)
    return X, y, np.repeat(np.arange(12), 10)


def test_one_hyperplane_per_pair_of_grades():
    X, y, query = judged(3)
    model = MultipleHyperplaneRanker(lam=0.1).fit(X, y, query)
    assert sorted(map(tuple, model.grades_.tolist())) == [(1, 0), (2, 0), (2, 1)]
    rows = y != 1
    at = model.grades_.tolist().index([2, 0])
    np.testing.assert_allclose(model.coef_[at], RankSVM(lam=0.1).fit(X[rows], y[rows], query[rows]).coef_)


def test_two_grades_give_the_order_of_the_ranking_svm():
    X, y, query = judged(2)
    scores = MultipleHyperplaneRanker(lam=0.1).fit(X, y, query).predict(X, query)
    plain = RankSVM(lam=0.1).fit(X, y, query).predict(X)
    for q in range(12):
        np.testing.assert_array_equal(np.argsort(scores[query == q]), np.argsort(plain[query == q]))


def test_prediction_is_per_query():
    X, y, query = judged(3)
    model = MultipleHyperplaneRanker().fit(X, y, query)
    np.testing.assert_array_equal(model.predict(X, query)[:10], model.predict(X[:10]))
    assert model.predict(X, query).max() <= 9 * len(model.coef_)

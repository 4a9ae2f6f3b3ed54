import warnings

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.utils.estimator_checks import parametrize_with_checks

from qdrank.datasets.judged import Judged
from qdrank.errors import InputError
from qdrank.queries.vectors import Standardiser, query_vectors
from qdrank.rankers.bilinear import Bilinear
from qdrank.rankers.local_ranker import LocalRanker, QueryDependent
from qdrank.rankers.one_model import LinearRanker, TreeRanker

# Rankers of any features; those of runs refuse data that are no runs, so scikit-learn's checks cannot be run on them.
DAILY, OTHERS = [LocalRanker(k=2)], [LinearRanker(), Bilinear(), TreeRanker(rounds=5, min_leaf=1)]
# The checks of scikit-learn that cannot hold, and why. Each is tried all the same: one that came to hold would fail.
EXPECTED = {
    "check_dtype_object": "what is no number is refused with our sentence, a ValueError, not with a TypeError",
    "check_parameters_default_constructible": "its default is a ranker, so that ranker__k can be set at once",
}
with warnings.catch_warnings():
    warnings.filterwarnings("ignore", message=".*does not inherit from `sklearn.base.BaseEstimator`")
    daily, others = (
        parametrize_with_checks(
            [QueryDependent(ranker=ranker) for ranker in rankers], expected_failed_checks=lambda _: EXPECTED
        )
        for rankers in (DAILY, OTHERS)
    )


@daily
@pytest.mark.filterwarnings("ignore:no query has documents of different grades")
def test_the_checks_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.full
@others
@pytest.mark.filterwarnings("ignore:no query has documents of different grades")
def test_the_checks_of_scikit_learn_on_other_rankers(estimator, check):
    check(estimator)


def judged(seed: int = 0, n: int = 20):
    rng = np.random.default_rng(seed)
    X = rng.random((n * 10, 4)).astype(np.float32)
    y = np.digitize(X[:, 0] + 0.5 * X[:, 1] + rng.normal(0, 0.2, n * 10), [0.7, 1.1])
    return X, y, np.repeat(np.arange(n), 10)


def test_it_ranks_as_the_ranker_does_with_the_vectors_of_the_queries():
    train, test = Judged.from_arrays(*judged(0)), Judged.from_arrays(*judged(1))
    vectors = [query_vectors(one.X, one.offsets, 2, top=5) for one in (train, test)]
    scaler = Standardiser().fit(vectors[0])
    expected = LocalRanker(k=5).fit(train, scaler.transform(vectors[0])).predict(test, scaler.transform(vectors[1]))
    ours = QueryDependent(ranker=LocalRanker(k=5), reference=2, top=5).fit(*judged(0))
    X, _, query = judged(1)
    np.testing.assert_array_equal(ours.predict(X, query), expected)


def test_parameters_reach_the_ranker_and_the_ranker_given_stays_unfitted():
    given = LocalRanker(k=5)
    estimator = QueryDependent(ranker=given).set_params(ranker__k=7, top=9)
    assert (given.k, estimator.top) == (7, 9)
    assert clone(estimator).get_params()["ranker__k"] == 7
    estimator.fit(*judged())
    assert not hasattr(given, "single_")
    with pytest.raises(InputError, match="has no parameter 'kk'"):
        estimator.set_params(ranker__kk=3)


def test_a_grid_search_chooses_the_number_of_neighbours():
    X, y, query = judged(n=30)
    tried = [2, 10, 20]
    with sklearn.config_context(enable_metadata_routing=True):
        search = GridSearchCV(QueryDependent(), {"ranker__k": tried}, cv=GroupKFold(3)).fit(
            X, y, query=query, groups=query
        )
    values = []
    for k in tried:
        folds = GroupKFold(3).split(X, y, query)
        fitted = [(QueryDependent(ranker=LocalRanker(k=k)).fit(X[a], y[a], query[a]), b) for a, b in folds]
        values.append(np.mean([one.score(X[b], y[b], query[b]) for one, b in fitted]))
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], values, rtol=1e-12)
    assert search.best_params_["ranker__k"] == tried[int(np.argmax(values))]


def test_one_model_for_all_queries_needs_no_query():
    X, y, query = judged()
    fitted = QueryDependent(ranker=LinearRanker()).fit(X, y, query)
    np.testing.assert_array_equal(fitted.predict(X), fitted.predict(X, query))


def test_what_cannot_be_ranked_is_told_in_a_sentence():
    X, y, query = judged()
    with pytest.raises(InputError, match="has not been fitted"):
        QueryDependent().predict(X, query)
    with pytest.raises(InputError, match="X has 3 features"):
        QueryDependent().fit(X, y, query).predict(X[:, :3], query)

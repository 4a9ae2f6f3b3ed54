"""Boosted trees: same trees every time, rows sorted by grade do no harm, text in place of pickle."""

import lightgbm
import numpy as np
import pytest

from qdrank.errors import InputError
from qdrank.layout import JoinedFeatures, query_offsets, shuffled_within
from qdrank.learners.trees import BoostedRegression, LambdaMART
from qdrank.measures.compute import average_precision


def judged(seed: int, n_queries: int = 40):
    rng = np.random.default_rng(seed)
    X = rng.random((n_queries * 10, 5))
    y = np.digitize(X[:, 0] * 2 + X[:, 1] + rng.normal(0, 0.3, len(X)), [1.5, 2.2])
    return X, y, np.repeat(np.arange(n_queries), 10)


@pytest.mark.parametrize("learner", [LambdaMART, BoostedRegression])
def test_fits_alike_every_time(learner):
    X, y, query = judged(0)
    first = learner(rounds=10).fit(X, y, query)
    assert first.text_ == learner(rounds=10).fit(X, y, query).text_


@pytest.mark.parametrize("learner", [LambdaMART, BoostedRegression])
def test_learns_and_stops_on_validation(learner):
    vali, test = judged(1), judged(2)
    model = learner(rounds=100, patience=10, leaves=7).fit(*judged(0), validation=vali)
    offsets = query_offsets(test[2])
    learned = average_precision(test[1], model.predict(test[0]), offsets).mean()
    assert learned > average_precision(test[1], test[0][:, 2], offsets).mean() + 0.1
    assert model._booster.num_trees() < 100


def test_rows_sorted_by_grade_do_not_stop_the_growing():
    X, y, query = judged(3)
    order = np.lexsort((-y, query))
    ordered = X[order], y[order], query[order]
    model = LambdaMART(rounds=60, patience=20, leaves=7).fit(*ordered, validation=ordered)
    assert model._booster.num_trees() > 5


def test_grades_without_a_gain_are_refused_by_name():
    """LightGBM has gains for grades up to 30; regression takes any."""
    X, y, query = judged(4, n_queries=4)
    assert LambdaMART(rounds=2, min_leaf=1).fit(X, np.where(y == 2, 30, y), query).predict(X).shape == (40,)
    with pytest.raises(InputError, match="grades up to 30"):
        LambdaMART(rounds=2).fit(X, np.where(y == 2, 31, y), query)
    with pytest.raises(InputError, match="grades up to 30"):
        LambdaMART(rounds=2).fit(X, y, query, validation=(X, np.where(y == 2, 31, y), query))
    assert BoostedRegression(rounds=2, min_leaf=1).fit(X, np.where(y == 2, 31, y), query).predict(X).max() > 2


def test_another_seed_draws_other_features():
    X, y, query = judged(5)
    other = LambdaMART(rounds=5, feature_fraction=0.5, seed=2).fit(X, y, query)
    assert LambdaMART(rounds=5, feature_fraction=0.5, seed=1).fit(X, y, query).text_ != other.text_


@pytest.mark.parametrize("learner", [LambdaMART, BoostedRegression])
def test_the_number_of_threads_changes_no_byte(learner, monkeypatch):
    rng = np.random.default_rng(5)
    X, query = rng.standard_normal((6000, 5)), np.repeat(np.arange(200), 30)
    y = np.clip((X[:, 0] + X[:, 1] * X[:, 2] + rng.standard_normal(6000)).round() + 1, 0, 4).astype(int)
    texts, scores = set(), set()
    for threads in ("1", "2", "3", "8", "16"):
        monkeypatch.setenv("QDRANK_THREADS", threads)
        fitted = learner(rounds=8).fit(X, y, query)
        texts.add(fitted.text_)
        scores.add(fitted.predict(X).tobytes())
    assert (len(texts), len(scores)) == (1, 1)


@pytest.fixture
def joined():
    X, y, query = judged(0)
    vectors = np.random.default_rng(8).standard_normal((len(np.unique(query)), 2)).astype(np.float32)
    number = np.unique(query, return_inverse=True)[1]
    return JoinedFeatures(X.astype(np.float32), vectors, number), y, query


def trees_of(learner):
    """The stored text without the parameters, which name one seed more where rows come in batches."""
    return learner.text_.partition("parameters:")[0]


def test_features_joined_on_demand_grow_the_trees_of_the_whole_table(joined, monkeypatch):
    X, y, query = joined
    whole = np.hstack([X.X, X.vectors[X.query]])
    np.testing.assert_array_equal(np.asarray(X), whole)
    from_table = LambdaMART(rounds=8, min_leaf=5).fit(whole, y, query, validation=(whole, y, query))
    monkeypatch.delattr(JoinedFeatures, "__array__")  # the whole table is never made
    monkeypatch.setattr("qdrank.learners.trees._BATCH", 7)
    in_batches = LambdaMART(rounds=8, min_leaf=5).fit(X, y, query, validation=(X, y, query))
    assert trees_of(in_batches) == trees_of(from_table)
    np.testing.assert_array_equal(in_batches.predict(X), from_table.predict(whole))


def test_rows_of_more_than_a_sample_are_binned_as_a_table_is(joined, monkeypatch):
    """LightGBM makes bins from a sample of the rows: the same one whether it is given a table or batches."""
    X, y, query = joined
    monkeypatch.setattr(LambdaMART, "OBJECTIVE", {**LambdaMART.OBJECTIVE, "bin_construct_sample_cnt": 20})
    learner = LambdaMART(rounds=5, min_leaf=5, seed=3)
    offsets = query_offsets(query)
    order = shuffled_within(offsets, 3)
    params = learner._params(joined=True)
    table = lightgbm.Dataset(np.asarray(X)[order], y[order], group=np.diff(offsets), params=params)
    expected = lightgbm.train(params, table, num_boost_round=5).model_to_string()
    assert trees_of(learner.fit(X, y, query)) == expected.partition("parameters:")[0]


def test_vectors_that_are_not_finite_are_refused(joined):
    X, y, query = joined
    X.vectors[0, 0] = np.nan
    with pytest.raises(InputError, match="missing"):
        LambdaMART(rounds=2).fit(X, y, query)

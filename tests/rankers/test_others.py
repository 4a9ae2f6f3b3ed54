"""Rankers that know another query, against the rankers themselves on data in which queries were exchanged."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.rankers.query_world import world

from qdrank.errors import InputError
from qdrank.rankers.base import OfOthers, OwnModels
from qdrank.rankers.one_model import LinearRanker
from qdrank.rankers.served import kind_of
from qdrank.rankers.stored import from_state_table, state_table


class VectorWeights(OwnModels):
    """Each query's weights are its vector, times ``power``, as far as there are features, plus the mean vector of training."""

    NAME = "vector-weights"

    def __init__(self, power=1.0):
        self.power, self.fits = power, 0

    def fit(self, train, vectors, validation=None):
        self.mean_, self.fits = np.average(vectors, axis=0, weights=np.diff(train.offsets)), self.fits + 1
        return self

    @property
    def is_fitted(self):
        return hasattr(self, "mean_")

    @property
    def draws(self):
        return False

    def models(self, documents, vectors):
        return (vectors + self.mean_) ** self.power

    def scores_by(self, documents, models):
        n = min(models.shape[1], documents.X.shape[1])
        return np.einsum("nf,nf->n", documents.X[:, :n], models[documents.query_index, :n])

    def again(self, seed, train, validation=None):
        return VectorWeights(self.power).fit(*train)


@given(st.integers(0, 50), st.integers(1, 30))
@settings(max_examples=20, deadline=None)
def test_every_query_has_what_one_other_query_has(seed, n):
    documents, _ = world(n_queries=n)
    other = OfOthers(base=LinearRanker(), seed=seed).others(documents)
    assert sorted(other.tolist()) == list(range(n))
    assert n == 1 or (other != np.arange(n)).all()


def test_vectors_of_others_are_those_that_training_sees_too():
    (train, of_train), (test, of_test) = world(1), world(2)
    control = OfOthers(base=VectorWeights(), seed=3).fit(train, of_train)
    plain = VectorWeights().fit(train, of_train[control.others(train)])
    exchanged = plain.predict(test, of_test[control.others(test)])
    np.testing.assert_array_equal(control.predict(test, of_test), exchanged)


def test_models_of_others_are_of_a_ranker_fitted_as_ever():
    (train, of_train), (test, of_test) = world(1), world(2)
    control = OfOthers(base=VectorWeights(), seed=3, given="models").fit(train, of_train)
    plain = VectorWeights().fit(train, of_train)
    models = plain.models(test, of_test)[control.others(test)]
    np.testing.assert_array_equal(control.predict(test, of_test), plain.scores_by(test, models))
    again = control.again(4, (train, of_train))
    assert again.base is control.base  # nothing drawn in it
    assert (again.others(test) != control.others(test)).any()


@pytest.mark.parametrize("given", ["vectors", "models"])
def test_several_at_once_are_as_one_by_one(given):
    (train, of_train), (test, of_test) = world(1), world(2)
    tried = [OfOthers(base=VectorWeights(power), seed=3, given=given) for power in (1.0, 2.0)]
    for one, scores in tried[0].predict_each(tried[0].fit_each(tried, train, of_train), test, of_test):
        alone = OfOthers(base=VectorWeights(one.base.power), seed=3, given=given).fit(train, of_train)
        np.testing.assert_array_equal(scores, alone.predict(test, of_test))
        assert one.base.fits == 1


def test_drawn_again_the_ranker_inside_sees_other_vectors():
    train, of_train = world(1)
    control = OfOthers(base=VectorWeights(), seed=3).fit(train, of_train)
    again = control.again(4, (train, of_train))
    np.testing.assert_allclose(again.base.mean_, VectorWeights().fit(train, of_train[again.others(train)]).mean_)


def test_it_is_stored_and_refuses_models_that_are_not_there():
    train, vectors = world(1)
    control = OfOthers(base=LinearRanker(), seed=3).fit(train, vectors)
    stored = from_state_table(state_table(control), kind_of)
    np.testing.assert_array_equal(stored.predict(train, vectors), control.predict(train, vectors))
    with pytest.raises(InputError, match="no models"):
        OfOthers(base=LinearRanker(), given="models")

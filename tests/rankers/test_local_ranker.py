"""Local models against a numeric optimiser of the objective that the module states."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from tests.rankers.query_world import mean_loss, pairs, world

from qdrank.errors import InputError
from qdrank.learners.ranksvm.estimator import RankSVM
from qdrank.rankers.local_ranker import LocalRanker, kernel_weights


def optimum(judged, queries, weights, lam, proximity, single):
    """Weights of one model by L-BFGS on the pairs themselves."""
    D = [pairs(judged, q) for q in queries]
    u = np.concatenate([np.full(len(own), w) for own, w in zip(D, weights, strict=True)])
    D = np.concatenate(D)

    def objective(w):
        loss, gradient = mean_loss(w, D, u)
        value = lam / 2 * ((1 - proximity) * w @ w + proximity * (w - single) @ (w - single)) + loss
        return value, lam * ((1 - proximity) * w + proximity * (w - single)) + gradient

    found = minimize(
        objective, np.zeros(D.shape[1]), jac=True, method="L-BFGS-B", options={"ftol": 1e-15, "gtol": 1e-12}
    )
    return found.x


@settings(max_examples=12)
@given(
    st.integers(0, 10**6),
    st.sampled_from(["hard", "kernel"]),
    st.sampled_from([0.0, 0.5, 0.9]),
    st.sampled_from([1.0, 0.3]),
)
def test_each_model_is_the_optimum_of_its_neighbourhood(seed, weights, proximity, mix):
    train, vectors = world(seed)
    asked, new = world(seed + 1, n_queries=3)
    options = {"lam": 0.05, "proximity": proximity, "mix": mix, "tol": 1e-9}
    ranker = LocalRanker(k=5, weights=weights, **options).fit(train, vectors)
    W = ranker.models(asked, new)
    for q, vector in enumerate(new):
        distance = np.sqrt(((vectors - vector) ** 2).sum(axis=1))
        nearest = np.argsort(distance)[: 15 if weights == "kernel" else 5]
        h = np.sort(distance)[4]
        u = np.exp(-(distance[nearest] ** 2) / (2 * h**2)) if weights == "kernel" else np.ones(5)
        single = optimum(train, range(train.n_queries), np.ones(train.n_queries), 0.05, 0, 0)
        local = optimum(train, nearest, u, 0.05, proximity, single)
        np.testing.assert_allclose(W[q], mix * local + (1 - mix) * single, atol=2e-4)


def test_all_neighbours_are_single():
    train, vectors = world(1)
    ranker = LocalRanker(k=1.0, lam=0.1).fit(train, vectors)
    single = RankSVM(lam=0.1).fit(train.X, train.y, train.query).coef_
    np.testing.assert_array_equal(ranker.models(train, vectors), np.tile(single, (len(vectors), 1)))
    unmixed = LocalRanker(k=3, mix=0.0, lam=0.1).fit(train, vectors)
    np.testing.assert_array_equal(unmixed.models(train, vectors)[0], single)


def test_scores_are_those_of_the_query_s_own_model():
    train, vectors = world(2)
    test, new = world(3, n_queries=4, first=100)
    ranker = LocalRanker(k=6).fit(train, vectors)
    W, scores = ranker.models(test, new), ranker.predict(test, new)
    for q in range(4):
        rows = slice(test.offsets[q], test.offsets[q + 1])
        np.testing.assert_allclose(scores[rows], test.X[rows].astype(float) @ W[q])


def test_random_neighbours_depend_on_the_query_alone():
    train, vectors = world(4)
    test, new = world(5, n_queries=6, first=100)
    ranker = LocalRanker(k=5, random=7).fit(train, vectors)
    W, turned = ranker.models(test, new), test.take(np.arange(6)[::-1])
    np.testing.assert_allclose(ranker.models(turned, new[::-1])[::-1], W, atol=1e-4)
    assert np.abs(W - LocalRanker(k=5).fit(train, vectors).models(test, new)).max() > 1e-3


def test_kernel_weights_without_spread():
    distance = np.array([[0.0, 0.0, 0.0, 1.0], [1.0, 2.0, 2.0, 4.0]])
    found = kernel_weights(distance, 2)
    np.testing.assert_allclose(found, [[1, 1, 1, 0], np.exp([-1 / 8, -1 / 2, -1 / 2, -2])])


def test_bad_settings_are_refused():
    for wrong in ({"weights": "soft"}, {"proximity": 1.0}, {"mix": 1.5}):
        with pytest.raises(InputError):
            LocalRanker(**wrong)
    train, vectors = world()
    with pytest.raises(InputError, match="do not fit"):
        LocalRanker().fit(train, vectors[:-1])
    with pytest.raises(InputError, match="not been fitted"):
        LocalRanker().models(train, vectors)

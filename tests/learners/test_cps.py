"""CPS against enumeration: coset distances over all completions, likelihood, derivatives, stagewise inference."""

from itertools import combinations, permutations

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from tests.learners.stored import stored

from qdrank.learners import AGGREGATORS, LEARNERS
from qdrank.learners.choose import tune
from qdrank.learners.cps import (
    CPS,
    KINDS,
    CosetLoss,
    fill_distances,
    judged_order,
    list_ranks,
    log_likelihood,
    stagewise,
)

N = 6
DISTANCES = ["kendall", "footrule", "spearman"]


def distance(name: str, places: np.ndarray, sigma: np.ndarray) -> float:
    """The permutation distance itself, of two vectors of ranks."""
    if name == "kendall":
        return sum((places[a] - places[b]) * (sigma[a] - sigma[b]) < 0 for a, b in combinations(range(len(sigma)), 2))
    gap = np.abs(places - sigma)
    return float(gap.sum() if name == "footrule" else (gap**2).sum())


def coset_distance(name: str, top: list[int], sigma: np.ndarray) -> float:
    """Mean distance over all ways to finish a list that begins with ``top``."""
    rest = [o for o in range(len(sigma)) if o not in top]
    values = []
    for end in permutations(rest):
        places = np.empty(len(sigma))
        places[[*top, *end]] = np.arange(1, len(sigma) + 1)
        values.append(distance(name, places, sigma))
    return float(np.mean(values))


@pytest.mark.parametrize("name", DISTANCES)
def test_distances_of_the_candidates_equal_enumeration(name):
    rng = np.random.default_rng(4)
    order = rng.permutation(N)
    sigma = rng.permutation(N) + 1.0
    ranks = sigma[order][:, None]
    Z = np.empty_like(ranks)
    for k in range(1, N + 1):
        fill_distances(KINDS[name], ranks, k, Z)
        exact = [coset_distance(name, [*order[: k - 1], o], sigma) for o in order[k - 1 :]]
        # What a stage's candidates share does not matter, so compare with the first candidate.
        np.testing.assert_allclose(Z[k - 1 :, 0] - Z[k - 1, 0], np.subtract(exact, exact[0]), atol=1e-10)


def small(seed: int, n_queries: int = 5, n_lists: int = 3):
    rng = np.random.default_rng(seed)
    query = np.repeat(np.arange(n_queries), rng.integers(1, 6, n_queries))
    ranks = rng.integers(1, 9, (len(query), n_lists)).astype(float)
    ranks[rng.random(ranks.shape) < 0.2] = np.nan
    return ranks, rng.integers(0, 3, len(query)), query


@pytest.mark.parametrize("name", DISTANCES)
def test_likelihood_is_the_product_over_stages_by_enumeration(name):
    rng = np.random.default_rng(8)
    theta = np.array([0.3, -0.1])
    ranks = np.stack([rng.permutation(5) + 1.0, rng.permutation(5) + 1.0], axis=1)
    expected = 0.0
    for k in range(5):
        scores = [
            -sum(t * coset_distance(name, [*range(k), o], s) for t, s in zip(theta, ranks.T, strict=True))
            for o in range(k, 5)
        ]
        expected += scores[0] - np.log(np.exp(scores).sum())
    value, _, _ = log_likelihood(KINDS[name], ranks, np.array([5]), np.array([0, 5]), theta, False)
    assert value == pytest.approx(expected)


@pytest.mark.parametrize("name", DISTANCES)
@pytest.mark.parametrize("depth", ["relevant", "all"])
def test_derivatives(name, depth):
    ranks, y, query = small(3)
    offsets = np.concatenate([[0], np.flatnonzero(np.diff(query)) + 1, [len(query)]])
    loss = CosetLoss(list_ranks(ranks, offsets, "low"), y, offsets, CPS(distance=name, depth=depth, samples=2, l2=0.1))
    w = np.array([0.4, -0.2, 0.1])
    np.testing.assert_allclose(loss(w)[1], approx_fprime(w, lambda v: loss(v)[0]), atol=1e-6)
    differences = np.stack([approx_fprime(w, lambda v, i=i: loss(v)[1][i]) for i in range(3)])
    np.testing.assert_allclose(loss.hessian(w), differences, atol=1e-6)


@pytest.mark.parametrize("name", DISTANCES)
def test_inference_takes_the_nearest_candidate_at_every_stage(name):
    rng = np.random.default_rng(6)
    theta = np.array([0.7, 0.2, -0.1])
    ranks = np.stack([rng.permutation(N) + 1.0 for _ in range(3)], axis=1)
    top: list[int] = []
    while len(top) < N:
        left = [o for o in range(N) if o not in top]
        cost = [sum(t * coset_distance(name, [*top, o], s) for t, s in zip(theta, ranks.T, strict=True)) for o in left]
        top.append(left[int(np.argmin(np.round(cost, 9)))])
    places = stagewise(KINDS[name], ranks, np.array([0, N]), theta)
    np.testing.assert_array_equal(np.argsort(places), top)


@pytest.mark.parametrize("name", DISTANCES)
def test_a_list_that_agrees_with_the_judges_outweighs_noise(name):
    rng = np.random.default_rng(1)
    query = np.repeat(np.arange(40), 8)
    y = rng.integers(0, 3, 320)
    good = -y + rng.normal(0, 0.5, 320)
    ranks = np.stack([rng.random(320), good, rng.random(320)], axis=1)
    model = LEARNERS[f"cps-{name}"]().fit(ranks, y, query)
    assert np.argmax(model.theta_) == 1
    assert np.corrcoef(model.predict(ranks, query), y)[0, 1] > 0.5
    assert model.score(ranks, y, query) > 0.85
    np.testing.assert_array_equal(stored(model).predict(ranks, query), model.predict(ranks, query))


def test_missing_documents_come_last_and_share_their_places():
    ranks = np.array([[3.0], [np.nan], [1.0], [np.nan]])
    np.testing.assert_allclose(list_ranks(ranks, np.array([0, 4]), "low")[:, 0], [2, 3.5, 1, 3.5])
    np.testing.assert_allclose(list_ranks(ranks, np.array([0, 4]), "high")[:, 0], [1, 3.5, 2, 3.5])


def test_the_judged_order_falls_in_grade_within_each_query():
    _, y, query = small(9, n_queries=20)
    offsets = np.concatenate([[0], np.flatnonzero(np.diff(query)) + 1, [len(query)]])
    order = judged_order(y, offsets, np.random.default_rng(0))
    assert sorted(order) == list(range(len(y)))
    np.testing.assert_array_equal(query[order], query)
    assert (np.diff(y[order])[np.diff(query) == 0] <= 0).all()


@pytest.mark.parametrize("name", AGGREGATORS)
def test_aggregators_are_tuned_like_learners(name):
    choice = tune(name, {"best": ["low", "high"]}, small(1, 20), small(2, 20))
    assert choice.chosen.predict(*small(3)[::2]).shape == small(3)[1].shape

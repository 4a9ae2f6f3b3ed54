"""Neighbours against a full sort, bit for bit, whatever the block size or the search."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from qdrank.errors import InputError
from qdrank.queries import METRICS
from qdrank.queries.metrics import preference_directions
from qdrank.queries.neighbours import neighbours, within_radius


def full_sort(vectors, train, own=None, metric="euclidean"):
    """Distances of all pairs, one pair at a time, sorted by distance, then row; own row first."""
    rows = []
    for i, v in enumerate(vectors):
        difference = v - train
        distance = np.abs(difference).sum(axis=1) if metric == "manhattan" else np.sqrt((difference**2).sum(axis=1))
        key = [(j != (-1 if own is None else own[i]), distance[j], j) for j in range(len(train))]
        rows.append(sorted(key))
    return np.array([[j for *_, j in r] for r in rows]), np.array([[d for _, d, _ in r] for r in rows])


def fitted(name, train, rng):
    return METRICS[name]().fit(train, rng.standard_normal((len(train), 4)))


@given(
    n=st.integers(1, 25),
    m=st.integers(1, 25),
    d=st.integers(1, 5),
    values=st.integers(1, 4),
    metric=st.sampled_from(["euclidean", "manhattan"]),
    search=st.sampled_from(["brute", "kdtree"]),
    block=st.integers(1, 30),
    seed=st.integers(0, 999),
)
def test_equals_a_full_sort_among_many_ties(n, m, d, values, metric, search, block, seed):
    rng = np.random.default_rng(seed)
    train = rng.integers(0, values, size=(m, d)) / 3.0 + 1e6  # far from the origin: differences lose digits
    own = rng.integers(-1, m, size=n)
    vectors = np.where(own[:, None] >= 0, train[own], rng.integers(0, values, size=(n, d)) / 3.0 + 1e6)
    k = int(rng.integers(1, m + 1))
    found = neighbours(vectors, train, k, train_index=own, metric=METRICS[metric](), search=search, block=block)
    rows, distance = full_sort(vectors, train, own, metric)
    np.testing.assert_array_equal(found.rows, rows[:, :k])
    np.testing.assert_array_equal(found.distance, distance[:, :k])


@pytest.mark.parametrize("name", list(METRICS))
@pytest.mark.parametrize("search", ["brute", "kdtree"])
def test_block_size_and_search_change_no_bit(name, search):
    rng = np.random.default_rng(3)
    train = rng.standard_normal((200, 6)).round(1)
    train[50:100] = train[:50]  # duplicates
    vectors = np.vstack([train, rng.standard_normal((37, 6)), train[:9]])
    metric = fitted(name, train, rng)
    reference = neighbours(vectors, train, 60, metric=metric)
    for block in (1, 3, 64, 1000):
        other = neighbours(vectors, train, 60, metric=metric, search=search, block=block)
        np.testing.assert_array_equal(other.rows, reference.rows)
        np.testing.assert_array_equal(other.distance, reference.distance)


@pytest.mark.parametrize("name", list(METRICS))
def test_equal_queries_have_equal_neighbours(name):
    rng = np.random.default_rng(4)
    train = rng.standard_normal((90, 7))
    vectors = np.tile(rng.standard_normal((1, 7)), (23, 1))
    found = neighbours(vectors, train, 20, metric=fitted(name, train, rng), block=5)
    assert (found.rows == found.rows[0]).all()
    assert (found.distance == found.distance[0]).all()


def test_ties_are_broken_by_id_whatever_the_row_order():
    train = np.array([[1.0], [-1.0], [1.0], [0.0]])
    ids = np.array(["d", "c", "a", "b"])
    found = neighbours(np.zeros((1, 1)), train, 4, ids=ids, train_index=np.array([3]))
    np.testing.assert_array_equal(ids[found.rows[0]], ["b", "a", "c", "d"])
    shuffled = np.array([2, 0, 3, 1])
    again = neighbours(np.zeros((1, 1)), train[shuffled], 4, ids=ids[shuffled])
    np.testing.assert_array_equal(ids[shuffled][again.rows[0]], ["b", "a", "c", "d"])


@pytest.mark.parametrize(
    ("name", "scipy_name"),
    [("euclidean", "euclidean"), ("manhattan", "cityblock"), ("cosine", "cosine"), ("mahalanobis", "mahalanobis")],
)
def test_metrics_agree_with_scipy(name, scipy_name):
    rng = np.random.default_rng(5)
    train = rng.standard_normal((60, 4)) @ rng.standard_normal((4, 4))
    vectors = rng.standard_normal((11, 4))
    options = {"VI": np.linalg.inv(np.cov(train.T))} if name == "mahalanobis" else {}
    expected = np.sort(cdist(vectors, train, scipy_name, **options), axis=1)
    found = neighbours(vectors, train, 60, metric=METRICS[name]().fit(train))
    np.testing.assert_allclose(found.distance, expected, atol=1e-12)


def test_cosine_puts_a_zero_vector_at_distance_one():
    train = np.array([[0.0, 0.0], [1e-200, 0.0], [-1e200, 0.0]])
    found = neighbours(np.array([[3.0, 0.0]]), train, 3, metric=METRICS["cosine"]())
    np.testing.assert_array_equal(found.rows[0], [1, 0, 2])
    np.testing.assert_allclose(found.distance[0], [0, 1, 2])


def test_mahalanobis_ignores_directions_without_variance_and_can_be_shrunk():
    rng = np.random.default_rng(6)
    flat = np.column_stack([rng.standard_normal(30), np.ones(30)])
    assert METRICS["mahalanobis"]().fit(flat).map_.shape == (2, 1)
    shrunk = METRICS["mahalanobis"](shrinkage=1.0).fit(flat).map_
    np.testing.assert_allclose(shrunk @ shrunk.T, np.eye(2) * 2 / flat[:, 0].var(ddof=1))


def test_learned_metric_sees_only_what_predicts_the_targets():
    rng = np.random.default_rng(7)
    train = rng.standard_normal((300, 5))
    targets = train[:, :1] @ rng.standard_normal((1, 3)) + 0.1 * rng.standard_normal((300, 3))
    metric = METRICS["learned"](rank=1).fit(train, targets)
    weights = np.abs(metric.map_[:, 0])
    assert weights[0] > 10 * weights[1:].max()
    with pytest.raises(InputError, match="needs a target"):
        METRICS["learned"]().fit(train)


@settings(max_examples=30)
@given(sizes=st.lists(st.integers(1, 6), min_size=1, max_size=5), seed=st.integers(0, 99))
def test_preference_directions_equal_a_loop_over_pairs(sizes, seed):
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((sum(sizes), 3)), rng.integers(0, 3, size=sum(sizes))
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    for found, a, b in zip(preference_directions(X, y, offsets), offsets[:-1], offsets[1:], strict=True):
        pairs = [X[i] - X[j] for i in range(a, b) for j in range(a, b) if y[i] > y[j]]
        np.testing.assert_allclose(found, np.mean(pairs, axis=0) if pairs else np.zeros(3), atol=1e-12)


@given(m=st.integers(1, 20), n=st.integers(0, 12), least=st.integers(0, 5), seed=st.integers(0, 99))
def test_within_radius_equals_a_filter(m, n, least, seed):
    rng = np.random.default_rng(seed)
    train, vectors = rng.integers(0, 4, size=(m, 2)) * 1.0, rng.integers(0, 4, size=(n, 2)) * 1.0
    radius = float(rng.choice([0.0, 1.0, 2**0.5, 5**0.5]))
    found = within_radius(vectors, train, radius, least=least, block=3)
    assert len(found.bounds) == n + 1
    for i in range(n):
        rows, distance = full_sort(vectors[i : i + 1], train)
        count = max(int((distance <= radius).sum()), min(least, m))
        mine = slice(found.bounds[i], found.bounds[i + 1])
        np.testing.assert_array_equal(found.rows[mine], rows[0, :count])
        np.testing.assert_array_equal(found.distance[mine], distance[0, :count])


@pytest.mark.parametrize("name", list(METRICS))
def test_a_radius_equal_to_a_distance_includes_it(name):
    rng = np.random.default_rng(8)
    train = rng.standard_normal((80, 5))
    metric = fitted(name, train, rng)
    nearest = neighbours(train[:1] + 0.1, train, 30, metric=metric)
    radius = float(nearest.distance[0, -1])
    found = within_radius(train[:1] + 0.1, train, radius, metric=metric)
    np.testing.assert_array_equal(found.rows, nearest.rows[0])


def test_wrong_use_is_refused():
    with pytest.raises(InputError, match="3 neighbours were asked for"):
        neighbours(np.zeros((1, 1)), np.zeros((2, 1)), 3)
    with pytest.raises(InputError, match="not finite"):
        neighbours(np.full((1, 1), np.nan), np.zeros((2, 1)), 1)
    with pytest.raises(InputError, match="above 1e"):
        neighbours(np.zeros((1, 1)), np.full((2, 1), 1e200), 1)
    with pytest.raises(InputError, match="ask for 1 to 2"):
        neighbours(np.zeros((1, 1)), np.zeros((2, 1)), 0)
    with pytest.raises(InputError, match="of 3 and of 2 columns"):
        neighbours(np.zeros((1, 3)), np.zeros((2, 2)), 1)


def test_no_queries_have_no_neighbours():
    assert neighbours(np.zeros((0, 2)), np.zeros((3, 2)), 2).rows.shape == (0, 2)
    assert within_radius(np.zeros((0, 2)), np.zeros((3, 2)), 1.0).bounds.tolist() == [0]

"""The choice of offline models and the change ratio against sets of document pairs counted one by one."""

from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qdrank.errors import InputError
from qdrank.layout import pair_counts
from qdrank.queries.neighbours import neighbours
from qdrank.queries.sizes import FEWEST_STORED, largest_used, neighbour_count, stored_neighbours
from qdrank.rankers import knn
from qdrank.rankers.knn import ALIKE, change_ratios, offline1, random_neighbours


def instances(rows, pairs):
    """The training set as the paper sees it: a set of document pairs."""
    return {(int(q), pair) for q in rows for pair in range(pairs[q])}


def gamma_by_hand(a, b):
    change, smaller = len(a ^ b), min(len(a), len(b))
    if change == 0:
        return 0.0
    return change / smaller if smaller else np.inf


def choose_by_hand(test, train, pairs, k, choice):
    chosen = []
    for row in test:
        own = instances(row[:k], pairs)
        keys = []
        for i, other in enumerate(train):
            shared = {
                "shared_pairs": len(own & instances(other[:k], pairs)),
                "shared_queries": len(set(row[:k]) & set(other[:k])),
                "smallest_gamma": -gamma_by_hand(own, instances(other[:k], pairs)),
            }[choice]
            nearness = list(row).index(i) if i in row else len(row)
            keys.append((-shared, nearness, i))
        chosen.append(min(keys)[2])
    return chosen


@st.composite
def worlds(draw):
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    m, n = draw(st.integers(1, 14)), draw(st.integers(1, 6))
    k_max = draw(st.integers(1, m))
    train, test = rng.integers(0, 4, size=(m, 2)) * 1.0, rng.integers(0, 4, size=(n, 2)) * 1.0
    pairs = rng.integers(draw(st.sampled_from([0, 1])), 6, size=m)
    return (neighbours(test, train, k_max).rows, neighbours(train, train, k_max, train_index=np.arange(m)).rows, pairs)


@given(world=worlds(), choice=st.sampled_from(ALIKE), dense=st.booleans(), block=st.sampled_from([1, 20, 2**23]))
def test_offline1_and_gamma_equal_sets_of_pairs(world, choice, dense, block):
    test, train, pairs = world
    ks = range(1, test.shape[1] + 1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(knn, "_DENSE_SHARE", 0.0 if dense else 2.0)
        patch.setattr(knn, "_BLOCK", block)
        chosen = offline1(test, train, pairs, ks, alike=choice)
    gammas = change_ratios(test, train, pairs, chosen)
    for k in ks:
        np.testing.assert_array_equal(chosen[k], choose_by_hand(test, train, pairs, k, choice))
        by_hand = [
            gamma_by_hand(instances(a[:k], pairs), instances(train[i, :k], pairs))
            for a, i in zip(test, chosen[k], strict=True)
        ]
        np.testing.assert_allclose(gammas[k], by_hand)


@settings(max_examples=30)
@given(sizes=st.lists(st.integers(1, 7), min_size=1, max_size=5), seed=st.integers(0, 99))
def test_pair_counts_equal_a_loop(sizes, seed):
    y = np.random.default_rng(seed).integers(0, 3, size=sum(sizes))
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    by_hand = [sum(a != b for a, b in combinations(y[i:j], 2)) for i, j in pairwise(offsets)]
    np.testing.assert_array_equal(pair_counts(y, offsets), by_hand)


def line_world(m=60, n=15, seed=0):
    rng = np.random.default_rng(seed)
    train, test = rng.standard_normal((m, 2)), rng.standard_normal((n, 2))
    return (
        neighbours(test, train, m).rows,
        neighbours(train, train, m, train_index=np.arange(m)).rows,
        rng.integers(1, 50, size=m),
    )


def test_pairs_too_many_for_single_precision_are_still_counted_exactly():
    test, train, pairs = line_world()
    large = pairs + 2**24
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(knn, "_DENSE_SHARE", 2.0)
        sparse = offline1(test, train, large, [20])[20]
    np.testing.assert_array_equal(offline1(test, train, large, [20])[20], sparse)


def test_random_neighbours_depend_on_query_and_seed_alone():
    draw = random_neighbours(["a", "b", "c"], 50, 10, seed=1)
    np.testing.assert_array_equal(random_neighbours(["c"], 50, 4, seed=1), draw[2:, :4])
    assert (random_neighbours(["a"], 50, 10, seed=2) != draw[:1]).any()
    assert all(len(set(row)) == 10 for row in draw)
    assert random_neighbours([], 50, 10, seed=1).shape == (0, 10)


def test_wrong_use_is_refused():
    test, train, pairs = line_world()
    with pytest.raises(InputError, match="unknown similarity"):
        offline1(test, train, pairs, [2], alike="largest")
    with pytest.raises(InputError, match="61 neighbours were asked for, but only 60 are stored"):
        offline1(test, train, pairs, [61])
    with pytest.raises(InputError, match="61 neighbours were asked for, but there are only 50 training"):
        random_neighbours(["a"], 50, 61, seed=0)


KS = st.lists(st.one_of(st.floats(0.001, 1), st.integers(2, 5000).map(float)), max_size=6)


@given(KS, st.integers(1, 3000))
def test_no_neighbour_that_is_used_is_missing_and_few_others_are_stored(ks: list[float], m: int) -> None:
    stored = stored_neighbours(largest_used(ks), m)
    wanted = [neighbour_count(k, m) for k in ks]
    assert stored == max([*wanted, min(m, FEWEST_STORED)])


def test_numbers_keep_the_graph_of_a_large_set_short() -> None:
    assert stored_neighbours(largest_used([100, 800, 0.01]), 18_000) == 800
    assert stored_neighbours(largest_used([0.27, 1]), 18_000) == 18_000

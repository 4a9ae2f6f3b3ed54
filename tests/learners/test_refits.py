import numpy as np
import pytest

from qdrank.learners.fitting import fit_seed, jittered


def test_targets_are_moved_by_one_percent_of_their_deviation():
    y = np.repeat([0.0, 1.0, 2.0], 2000)
    np.testing.assert_array_equal(jittered(y, fit=0, seed=1), y)
    moved = jittered(y, fit=1, seed=1) - y
    assert moved.std() == pytest.approx(0.01 * y.std(), rel=0.05)
    assert not np.array_equal(jittered(y, fit=2, seed=1) - y, moved)
    np.testing.assert_array_equal(jittered(y, fit=1, seed=1) - y, moved)


def test_seeds_of_fits():
    seeds = [fit_seed(seed, fit) for seed in (1, 2) for fit in range(5)]
    assert len(set(seeds)) == 10
    assert (seeds[0], seeds[5]) == (1, 2)
    assert all(0 <= seed < 2**31 for seed in seeds)
    assert seeds[1] == fit_seed(1, 1)

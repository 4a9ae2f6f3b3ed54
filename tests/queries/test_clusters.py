"""K-means: the same bits on any number of threads, on data of any scale, and with vectors that coincide."""

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from qdrank.errors import InputError
from qdrank.queries.vectors import k_means, nearest_centre


def blobs(seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.concatenate([rng.normal(centre, 0.6, (25, 3)) for centre in (0.0, 2.0, 4.0)])


def spread(vectors: np.ndarray, k: int, seed: int, starts: int) -> float:
    centres, nearest = k_means(vectors, k, seed=seed, starts=starts)
    return float(((vectors - centres[nearest]) ** 2).sum())


@pytest.mark.parametrize("k", [3, 20])
@pytest.mark.parametrize("seed", range(3))
def test_centres_are_means_of_what_is_nearest_to_them(seed: int, k: int) -> None:
    vectors = blobs(seed)
    centres, own = k_means(vectors, k, seed=seed)
    apart = ((vectors[:, None] - centres) ** 2).sum(axis=2)
    np.testing.assert_array_equal(own, apart.argmin(axis=1))
    np.testing.assert_allclose(centres, [vectors[own == c].mean(axis=0) for c in range(k)], atol=1e-12)


def test_of_several_starts_the_best_is_kept() -> None:
    """More clusters than groups, so that starts end in different places."""
    one, ten = ([spread(blobs(seed), 8, seed, starts) for seed in range(4)] for starts in (1, 10))
    assert all(np.less_equal(ten, one))
    assert sum(ten) < sum(one)


def test_threads_change_no_bit() -> None:
    vectors = np.random.default_rng(0).normal(size=(5000, 20))
    with threadpool_limits(2):
        two, own = k_means(vectors, 7, seed=1)
    with threadpool_limits(1):
        one, alone = k_means(vectors, 7, seed=1)
    np.testing.assert_array_equal(one, two)
    np.testing.assert_array_equal(own, alone)


@pytest.mark.parametrize(("scale", "shift"), [(1e-6, 0.0), (1e-3, 0.0), (1e5, 0.0), (1.0, 1e5)])
def test_neither_scale_nor_place_changes_the_clusters(scale: float, shift: float) -> None:
    """Distances are rounded to see ties; a fixed number of digits would make all short vectors equal."""
    vectors = blobs()
    np.testing.assert_array_equal(k_means(scale * vectors + shift, 3, seed=1)[1], k_means(vectors, 3, seed=1)[1])


@pytest.mark.parametrize("different", [1, 2, 5])
@pytest.mark.filterwarnings("error")
def test_fewer_different_vectors_than_centres_are_centres_themselves(different: int) -> None:
    vectors = np.repeat(np.arange(different) ** 2.0, 8)[:, None]
    centres, own = k_means(vectors, 6, seed=1, starts=3)
    assert centres.shape == (6, 1)
    assert len(set(own)) == different
    np.testing.assert_array_equal(centres[own], vectors)


def test_as_many_clusters_as_queries_are_the_queries() -> None:
    vectors = np.arange(6.0).reshape(6, 1) ** 2
    centres, own = k_means(vectors, 6, seed=1)
    np.testing.assert_allclose(centres[own], vectors, atol=1e-12)


def test_ties_go_to_the_first_centre() -> None:
    assert nearest_centre(np.array([[0.0], [3.0]]), np.array([[1.0], [-1.0], [5.0]])).tolist() == [0, 0]


@pytest.mark.parametrize(
    ("vectors", "k", "told"), [([[0.0], [np.nan], [1.0]], 2, "not finite"), ([[0.0]], 2, "1 queries cannot be divided")]
)
def test_vectors_that_cannot_be_divided_are_refused(vectors: list[list[float]], k: int, told: str) -> None:
    with pytest.raises(InputError, match=told):
        k_means(np.array(vectors), k, seed=1)

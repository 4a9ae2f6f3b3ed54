"""K-means against scikit-learn's, and on data of any scale."""

from __future__ import annotations

import numpy as np
import pytest

from qdrank.errors import InputError
from qdrank.queries.clusters import k_means, nearest_centre


def blobs(seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.concatenate([rng.normal(centre, 0.6, (25, 3)) for centre in (0.0, 2.0, 4.0)])


@pytest.mark.parametrize("seed", range(4))
def test_from_the_same_start_the_result_is_scikit_learns(seed: int) -> None:
    from sklearn.cluster import KMeans

    vectors = blobs(seed)
    start, _ = k_means(vectors, 4, seed=seed, limit=0)
    centres, own = k_means(vectors, 4, seed=seed)
    theirs = KMeans(4, init=start, n_init=1, tol=0, algorithm="lloyd").fit(vectors)
    np.testing.assert_array_equal(own, theirs.labels_)
    np.testing.assert_allclose(centres, theirs.cluster_centers_, atol=1e-12)


@pytest.mark.parametrize("scale", [1e-4, 1.0, 1e3])
@pytest.mark.parametrize("k", [1, 2, 7, 30])
@pytest.mark.parametrize("seed", range(5))
def test_rows_that_are_not_looked_at_again_would_not_have_moved(seed: int, k: int, scale: float) -> None:
    """Points on a small grid: equal distances everywhere, points that coincide, and centres that lose all queries."""
    rng = np.random.default_rng([seed, k])
    vectors = scale * np.concatenate([rng.integers(0, 5, (150, 2)), rng.normal(2, 1, (100, 2)).round(1)])
    centres, _ = k_means(vectors, k, seed=seed, limit=0)
    nearest = _plain_nearest(vectors, centres, scale)
    for rounds in range(1, 60):
        sizes = np.bincount(nearest, minlength=k)
        means = np.array([vectors[nearest == c].sum(axis=0) / max(sizes[c], 1) for c in range(k)])
        apart = (((vectors - centres[nearest]) / scale) ** 2).sum(axis=1).round(8)
        means[sizes == 0] = vectors[np.argsort(-apart, kind="stable")[: (sizes == 0).sum()]]
        centres, nearest = means, _plain_nearest(vectors, means, scale)
        their_centres, theirs = k_means(vectors, k, seed=seed, limit=rounds)
        np.testing.assert_array_equal(theirs, nearest)
        np.testing.assert_allclose(their_centres, centres, atol=1e-12 * scale)


def _plain_nearest(vectors: np.ndarray, centres: np.ndarray, scale: float) -> np.ndarray:
    apart = (((vectors[:, None] - centres[None]) / scale) ** 2).sum(axis=2)
    return apart.round(8).argmin(axis=1)


@pytest.mark.parametrize("seed", range(4))
def test_the_best_of_several_starts_is_near_that_of_scikit_learn(seed: int) -> None:
    """More clusters than groups, so that starts end in different places; more starts are never worse."""
    from sklearn.cluster import KMeans

    vectors = blobs(seed)

    def inertia(starts: int) -> float:
        centres, nearest = k_means(vectors, 6, seed=seed, starts=starts)
        return float(((vectors - centres[nearest]) ** 2).sum())

    theirs = KMeans(6, n_init=10, random_state=seed, tol=0, algorithm="lloyd").fit(vectors).inertia_
    one, ten = inertia(1), inertia(10)
    assert ten < 1.02 * theirs
    assert ten < one
    assert ten == inertia(10)


def test_of_equal_starts_the_first_is_kept() -> None:
    """Corners of a square in two clusters: two divisions are equally good, and the first start decides."""
    square = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    for seed in range(6):
        one = k_means(square, 2, seed=seed)
        if ((square - one[0][one[1]]) ** 2).sum() == 1:
            np.testing.assert_array_equal(one[1], k_means(square, 2, seed=seed, starts=20)[1])


@pytest.mark.parametrize(("scale", "shift"), [(1e-6, 0.0), (1e-3, 0.0), (1e5, 0.0), (1.0, 1e5)])
def test_neither_scale_nor_place_changes_the_clusters(scale: float, shift: float) -> None:
    """Distances are rounded to see ties; a fixed number of digits would make all short vectors equal."""
    vectors = blobs()
    np.testing.assert_array_equal(k_means(scale * vectors + shift, 3, seed=1)[1], k_means(vectors, 3, seed=1)[1])


def test_each_query_has_the_nearest_centre_and_each_centre_a_query() -> None:
    vectors = blobs(5)
    centres, own = k_means(vectors, 20, seed=5)
    distance = ((vectors[:, None] - centres) ** 2).sum(axis=2)
    np.testing.assert_allclose(distance[np.arange(len(own)), own], distance.min(axis=1), atol=1e-9)
    assert set(own) == set(range(20))


def test_as_many_clusters_as_queries_are_the_queries() -> None:
    vectors = np.arange(6.0).reshape(6, 1) ** 2
    centres, own = k_means(vectors, 6, seed=1)
    np.testing.assert_array_equal(centres[own], vectors)


def test_ties_go_to_the_first_centre() -> None:
    assert nearest_centre(np.array([[0.0], [3.0]]), np.array([[1.0], [-1.0], [5.0]])).tolist() == [0, 0]


def test_values_that_are_not_finite_are_refused() -> None:
    with pytest.raises(InputError, match="not finite"):
        k_means(np.array([[0.0], [np.nan], [1.0]]), 2, seed=1)

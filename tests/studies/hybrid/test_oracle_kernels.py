"""First documents, distances of rankings and matched sizes, against sorting, sets and bisection written out."""

import numpy as np
import pytest

from qdrank.studies.hybrid.oracle_kernels import BY_RANK, SHARE, distances, first_places, matched_sizes

DEPTH = 4
WEIGHT = np.array([0.4, 0.3, 0.2, 0.1])


def scores(seed, n=20, places=9):
    """Rankings with ties and with documents that do not exist, at least as many existing ones as are looked at."""
    rng = np.random.default_rng(seed)
    made = rng.integers(0, 5, size=(n, places)).astype(np.float64)
    made[:, DEPTH:][rng.random((n, places - DEPTH)) < 0.3] = -np.inf
    return made


def by_sets(a, b, kind):
    """Distance of two lists: one minus their overlap, at every depth or at the last."""
    shares = [len(set(a[:d]) & set(b[:d])) / d for d in range(1, len(a) + 1)]
    return 1 - (shares[-1] if kind == SHARE else float(WEIGHT @ shares))


def first_of(row):
    return sorted(range(len(row)), key=lambda i: (-row[i], i))[:DEPTH]


def test_first_places_are_those_of_a_stable_sort():
    made = scores(0)
    np.testing.assert_array_equal(first_places(made, DEPTH), [first_of(row) for row in made])


@pytest.mark.parametrize("kind", [BY_RANK, SHARE])
def test_distances_are_those_of_sets(kind):
    a, b = first_places(scores(1), DEPTH), first_places(scores(2), DEPTH)
    expected = [by_sets(x.tolist(), y.tolist(), kind) for x, y in zip(a, b, strict=True)]
    np.testing.assert_allclose(distances(a, b, kind, WEIGHT), expected, atol=1e-15)
    np.testing.assert_allclose(distances(a, a, kind, WEIGHT), 0, atol=1e-15)


@pytest.mark.parametrize("kind", [BY_RANK, SHARE])
def test_a_matched_size_is_where_the_distance_passes_what_is_wanted(kind):
    rng = np.random.default_rng(3)
    base, change = rng.normal(size=(12, 9)), rng.normal(size=(12, 9))
    wanted, widest, steps = rng.uniform(0.1, 0.6, size=12), 8.0, 12
    sizes = matched_sizes(base, change, first_places(base, DEPTH), wanted, kind, WEIGHT, widest, steps)
    half = widest / 2**steps
    for q, size in enumerate(sizes.tolist()):
        start = first_of(base[q])
        below, above = (
            by_sets(start, first_of(base[q] + 2.0**at * change[q]), kind) for at in (size - half, size + half)
        )
        assert below <= wanted[q] or size == pytest.approx(-widest + half)
        assert above > wanted[q] or size == pytest.approx(widest - half)
    assert len(set(sizes.tolist())) > 6

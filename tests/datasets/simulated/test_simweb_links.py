"""Links of the simulated web: drawn by weight within a kind, between sites only, and words that lead to their page."""

import numpy as np
import pytest

from qdrank.datasets.simulated.simweb.world import Links, _draw


def test_sites_are_drawn_by_their_weight_within_the_kind():
    rng = np.random.default_rng(0)
    weight, kind_of = np.array([1.0, 3.0, 5.0, 2.0, 2.0]), np.array([0, 1, 0, 1, 1])
    kind = np.repeat([0, 1], 20_000)
    drawn = _draw(weight, kind, kind_of, rng)
    assert (kind_of[drawn] == kind).all()
    for one in (0, 1):
        share = np.bincount(drawn[kind == one], minlength=5) / 20_000
        expected = np.where(kind_of == one, weight, 0.0)
        np.testing.assert_allclose(share, expected / expected.sum(), atol=0.02)


@pytest.mark.parametrize("at", [0.0, np.nextafter(1.0, 0.0)])
def test_the_ends_of_the_draw_stay_within_the_kind(at):
    class Edge:
        def random(self, n: int) -> np.ndarray:
            return np.full(n, at)

    weight, kind_of = np.array([0.1, 0.2, 0.3]), np.array([1, 0, 1])
    assert kind_of[_draw(weight, np.array([0, 1]), kind_of, Edge())].tolist() == [0, 1]


def test_a_link_that_stands_twice_counts_once():
    links = Links(np.array([2, 0, 2, 2]), np.array([1, 3, 1, 0]))
    assert links.distinct.tolist() == [[0, 3], [2, 0], [2, 1]]

"""How many neighbours are stored: as many as the studies use, whatever the number of training queries."""

from hypothesis import given
from hypothesis import strategies as st

from qdrank.queries.sizes import FEWEST_STORED, largest_used, neighbour_count, stored_neighbours

KS = st.lists(st.one_of(st.floats(0.001, 1), st.integers(2, 5000).map(float)), max_size=6)


@given(KS, st.integers(1, 3000))
def test_no_neighbour_that_is_used_is_missing_and_few_others_are_stored(ks: list[float], m: int) -> None:
    stored = stored_neighbours(largest_used(ks), m)
    wanted = [neighbour_count(k, m) for k in ks]
    assert stored == max([*wanted, min(m, FEWEST_STORED)])


def test_numbers_keep_the_graph_of_a_large_set_short() -> None:
    assert stored_neighbours(largest_used([100, 800, 0.01]), 18_000) == 800
    assert stored_neighbours(largest_used([0.27, 1]), 18_000) == 18_000

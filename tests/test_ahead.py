"""Work done ahead by threads gives what a plain loop gives, errors included."""

import threading
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qdrank.ahead import in_order

#: What an item does: a number of results, and whether an error follows them; the second flag is an error of the source before the item.
ITEMS = st.lists(
    st.tuples(st.integers(0, 3), st.sampled_from([False] * 5 + [True]), st.sampled_from([False] * 8 + [True]))
)


def source(items: list[tuple[int, bool, bool]]) -> Iterator[tuple[int, int, bool]]:
    for i, (n, fails, missing) in enumerate(items):
        if missing:
            raise LookupError(i)
        yield i, n, fails


def work(item: tuple[int, int, bool]) -> Iterator[tuple[int, int]]:
    i, n, fails = item
    yield from ((i, j) for j in range(n))
    if fails:
        raise ValueError(i)


def outcome(items: list[tuple[int, bool, bool]], helpers: int, ahead: int = 0) -> tuple[list[tuple[int, int]], str]:
    found = []
    try:
        found.extend(in_order(work, source(items), helpers, ahead))
    except (LookupError, ValueError) as error:
        return found, repr(error)
    return found, ""


@given(ITEMS, st.integers(1, 4), st.integers(0, 3))
def test_results_and_errors_as_in_a_plain_loop(items, helpers, ahead) -> None:
    plain: list[tuple[int, int]] = []
    told = ""
    try:
        for item in source(items):
            plain.extend(work(item))
    except (LookupError, ValueError) as error:
        told = repr(error)
    assert outcome(items, 0) == outcome(items, helpers, ahead) == (plain, told)


@pytest.mark.parametrize(("helpers", "ahead"), [(1, 0), (3, 0), (2, 4)])
def test_no_more_items_are_taken_than_allowed(helpers: int, ahead: int) -> None:
    taken = 0

    def items() -> Iterator[int]:
        nonlocal taken
        while True:
            taken += 1
            yield taken

    results = in_order(lambda item: [item], items(), helpers, ahead)
    assert next(results) == 1
    assert taken == helpers + ahead + 1


def test_threads_end_with_the_reader() -> None:
    before = threading.active_count()
    results = in_order(lambda item: [item], range(100), 2)
    next(results)
    results.close()
    assert threading.active_count() == before

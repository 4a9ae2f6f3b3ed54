"""Work done ahead by helper threads, with the results in the order of the items: threads change nothing but the time."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def in_order(
    work: Callable[[Item], Iterable[Result]], items: Iterable[Item], helpers: int, ahead: int = 0
) -> Iterator[Result]:
    """All that ``work`` gives for the items, item after item.

    Without ``helpers`` an item is taken when its results are asked for. With them, so many items are worked on at a time, ``ahead`` more may have been
    taken, and what ``work`` gives for an item is held whole. Either way an error comes after all results before it, be it an error of ``work`` or of ``items``.
    """
    if helpers == 0:
        for item in items:
            yield from work(item)
        return
    source, fault = iter(items), None
    waiting: deque[Future[tuple[list[Result], Exception | None]]] = deque()
    pool = ThreadPoolExecutor(helpers)
    try:
        while fault is None:
            try:
                waiting.append(pool.submit(_tried, work, next(source)))
            except StopIteration:
                break
            except Exception as error:
                fault = error
            if len(waiting) > helpers + ahead:
                yield from _given(*waiting.popleft().result())
        while waiting:
            yield from _given(*waiting.popleft().result())
        if fault is not None:
            raise fault
    finally:
        pool.shutdown(cancel_futures=True)


def _tried(work: Callable[[Item], Iterable[Result]], item: Item) -> tuple[list[Result], Exception | None]:
    """What ``work`` gave, and the error with which it ended."""
    results: list[Result] = []
    try:
        results.extend(work(item))
    except Exception as error:
        return results, error
    return results, None


def _given(results: list[Result], error: Exception | None) -> Iterator[Result]:
    yield from results
    if error is not None:
        raise error

"""Helper threads work ahead; results keep the order of the items, so threads change nothing but the time."""

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
    """The results of ``work`` for all items, in the order of the items.

    Without ``helpers``, an item is taken when its results are needed. With them, up to ``helpers`` items are processed
    at a time and up to ``ahead`` more may have been taken; all results of an item are then held in memory. Either way
    an error, whether from ``work`` or from ``items``, is raised after all results before it.
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
    """The results of ``work``, and the error that ended it, if any."""
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

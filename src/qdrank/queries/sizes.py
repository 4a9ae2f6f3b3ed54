"""Numbers of neighbours and lambdas that a study tries."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


def neighbour_count(k: float, m: int) -> int:
    """Number of neighbours, 1 to m: values up to 1 are shares of the ``m`` training queries, larger ones are numbers."""
    return max(1, min(m, round(k * m) if k <= 1 else round(k)))


def neighbour_counts(ks: Iterable[float], m: int) -> list[int]:
    """Distinct numbers of neighbours, ascending."""
    return sorted({neighbour_count(k, m) for k in ks})


#: Neighbours of every query that are always stored: pages and checks of locality use the first few.
FEWEST_STORED = 50


def largest_used(ks: Iterable[float]) -> list[float]:
    """The largest share and the largest number among ``ks``: for any m, one of them needs the most neighbours."""
    tried = list(ks)
    return [max((k for k in tried if k <= 1), default=0.0), max((k for k in tried if k > 1), default=0.0)]


def stored_neighbours(used: Iterable[float], m: int) -> int:
    """Length of neighbour lists that are long enough for every k in ``used``, with m training queries."""
    return max(min(m, FEWEST_STORED), *(neighbour_count(k, m) for k in used))


class Setting(NamedTuple):
    """Number of neighbours and lambda of a local model."""

    k: int
    lam: float

    @property
    def text(self) -> str:
        """The text for tables, with all digits of lambda, because models are looked up by it."""
        return f"k={self.k} lambda={self.lam!r}"


def by_lambda(settings: Iterable[Setting]) -> dict[float, list[int]]:
    """Numbers of neighbours to train for each lambda, the largest lambda first."""
    ks: dict[float, set[int]] = {}
    for k, lam in settings:
        ks.setdefault(lam, set()).add(k)
    return {lam: sorted(ks[lam]) for lam in sorted(ks, reverse=True)}

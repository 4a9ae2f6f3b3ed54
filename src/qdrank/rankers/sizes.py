"""Numbers of neighbours and lambdas that a study tries."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


def neighbour_count(k: float, m: int) -> int:
    """Number of neighbours, 1 to m: values up to 1 are shares of the ``m`` training queries, larger ones are numbers."""
    return max(1, min(m, round(k * m) if k <= 1 else round(k)))


def neighbour_counts(ks: Iterable[float], m: int) -> list[int]:
    """Different numbers of neighbours, ascending."""
    return sorted({neighbour_count(k, m) for k in ks})


class Setting(NamedTuple):
    """Number of neighbours and lambda of a local model."""

    k: int
    lam: float

    @property
    def text(self) -> str:
        """The text for tables, with all digits of lambda: models are found by it."""
        return f"k={self.k} lambda={self.lam!r}"


def by_lambda(settings: Iterable[Setting]) -> dict[float, list[int]]:
    """Numbers of neighbours to train for each lambda, the largest lambda first."""
    found: dict[float, set[int]] = {}
    for k, lam in settings:
        found.setdefault(lam, set()).add(k)
    return {lam: sorted(found[lam]) for lam in sorted(found, reverse=True)}

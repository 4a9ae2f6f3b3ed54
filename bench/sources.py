"""How often intervals by source cover the truth: ``python bench/sources.py [--runs 400] [--level .05]``.

Queries of one source share an effect. Each row is a world, the sizes of its sources and their number; each column an interval
of the mean over queries. The last two are what verdicts use: both of its intervals must agree, so it misses where both do,
and with the guard (60 sources at .05, ten that differ) it may say nothing. ``told``: how often the guard lets it speak.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from qdrank.evaluation.declared import Rules
from qdrank.evaluation.estimates import over_queries, over_sources

Draw = Callable[[np.random.Generator, int], NDArray[np.float64]]
NUMBERS = (11, 20, 48, 60, 100, 200)
SIZES: dict[str, Draw] = {
    "equal": lambda _, n: np.full(n, 10.0),
    "unequal": lambda rng, n: np.maximum(1, np.round(10 * rng.lognormal(0, 0.55, n))),
    "heavy": lambda rng, n: np.maximum(1, np.round(2 * rng.lognormal(0, 1.3, n))),
}
#: Effect of a source, its mean over all sources, and the deviation of the queries within.
WORLDS: dict[str, tuple[Draw, float, float]] = {
    "none": (lambda _, n: np.zeros(n), 0.0, 0.1),
    "normal": (lambda rng, n: rng.normal(0, 0.05, n), 0.0, 0.1),
    "exponential": (lambda rng, n: rng.exponential(0.05, n), 0.05, 0.1),
    "lognormal": (lambda rng, n: 0.03 * rng.lognormal(0, 1, n), 0.03 * np.exp(0.5), 0.05),
    "8 % large, and noise": (lambda rng, n: (rng.random(n) < 0.08) * rng.uniform(0, 0.2, n), 0.008, 0.05),
}


def drawn(rng: np.random.Generator, world: str, sizes: str, n: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Values, their true mean taken off, and sources of queries."""
    effect, mean, noise = WORLDS[world]
    owner = np.repeat(np.arange(n), SIZES[sizes](rng, n).astype(np.int64))
    return effect(rng, n)[owner] - mean + rng.normal(0, noise, len(owner)), owner


def source_means(values: NDArray[np.float64], owner: NDArray[np.int64]) -> NDArray[np.float64]:
    """Mean of each source."""
    return np.bincount(owner, values) / np.bincount(owner)


def percentile(
    rng: np.random.Generator, values: NDArray[np.float64], owner: NDArray[np.int64], level: float
) -> tuple[float, float]:
    """Percentile bootstrap of the sources."""
    sums, sizes = np.bincount(owner, values), np.bincount(owner)
    rows = rng.integers(0, len(sums), (999, len(sums)))
    low, high = np.quantile(sums[rows].sum(axis=1) / sizes[rows].sum(axis=1), [level / 2, 1 - level / 2])
    return low, high


def intervals(
    rng: np.random.Generator, world: str, sizes: str, n: int, level: float
) -> Iterator[tuple[str, tuple[float, float]]]:
    """Intervals around a true mean of 0, by name."""
    values, owner = drawn(rng, world, sizes, n)
    yield "queries", over_queries(values).interval(level)
    yield "percentile", percentile(rng, values, owner, level)
    yield "t on means", over_queries(source_means(values, owner)).interval(level)
    whole = over_sources(values, owner)
    half = stdtrit(n - 1, 1 - level / 2) * whole.error
    yield "CR2, G - 1", (whole.mean - half, whole.mean + half)
    one = whole.interval(level)
    other = whole.bootstrap(level)
    yield "CR2, ours", one
    yield "bootstrap t", other
    both = min(one[0], other[0]), max(one[1], other[1])
    yield "both", both
    if not whole.sample.lacks(level, Rules()):
        yield "told", both


def coverage(world: str, sizes: str, n: int, *, level: float, runs: int) -> dict[str, tuple[float, float]]:
    """Share of intervals that cover the truth, and that were given, by name."""
    rng, hits, given = np.random.default_rng([n, list(WORLDS).index(world)]), dict[str, int](), dict[str, int]()
    for _ in range(runs):
        for name, (low, high) in intervals(rng, world, sizes, n, level):
            hits[name] = hits.get(name, 0) + (low <= 0 <= high)
            given[name] = given.get(name, 0) + 1
    return {name: (hits[name] / given[name], given[name] / runs) for name in hits}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--level", type=float, default=0.05)
    args = parser.parse_args()
    names = ("queries", "percentile", "t on means", "CR2, G - 1", "CR2, ours", "bootstrap t", "both", "told")
    print(" | ".join(["world", "sizes", "sources", *names]))
    for world in WORLDS:
        for sizes in SIZES:
            for n in NUMBERS:
                found = coverage(world, sizes, n, level=args.level, runs=args.runs)
                cells = [f"{found[name][0]:.3f}" if name in found else "-" for name in names]
                told = f" ({found['told'][1]:.0%})" if "told" in found else ""
                print(" | ".join([world, sizes, str(n), *cells]) + told, flush=True)


if __name__ == "__main__":
    main()

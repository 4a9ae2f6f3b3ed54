"""How often the interval of an average over sets covers its mean: ``python bench/pooling.py``; docs/verdicts.md has the table.

Values of queries are normal, or 0 for nine of ten and skewed for the others; "by source" they share a normal or skewed effect of
their source, as many deviations as queries have, and sets are the six of `beyond` by numbers of sources. True effects of sets differ by 0, .5, 1 or 2 times the
standard error of 300 queries. Four intervals: that of `qdrank.evaluation.deciding`; with q at least 1 but without the jackknife;
that of Hartung, Knapp, Sidik and Jonkman as it is; the normal one. Then that of a further set.
"""

from __future__ import annotations

import numpy as np
from scipy.special import stdtrit

from qdrank.evaluation.deciding import believed_errors, pool
from qdrank.evaluation.estimates import Estimate, over_queries, over_sources

#: Queries of the sets of the studies.
SIZES = ((106, 225, 323, 784), (106, 225, 323, 564, 1692), (42, 50, 112, 225, 300, 1692))
#: Sources of the sets that have folds by source, and queries of each: Cranfield, CISI, TIME, WorldTree, NFCorpus, SciFact.
SOURCES = {12: 19, 6: 13, 9: 9, 49: 20, 531: 2, 572: 2}
VALUES = {
    "normal": lambda rng, n: rng.normal(0, 0.1, n),
    "skewed": lambda rng, n: (rng.random(n) < 0.1) * rng.exponential(0.25, n) - 0.025,
}
SAMPLES, LEVEL = 3000, 0.05


def main() -> None:
    """Print the shares that are covered."""
    print("| values | sets | spread | as used | q >= 1 | q free | normal | a new set |\n" + "| --- " * 8 + "|")
    for values, by_source in ((name, by_source) for by_source in (False, True) for name in VALUES):
        for sizes in [tuple(SOURCES)] if by_source else SIZES:
            for spread in (0, 0.5, 1, 2):
                rng = np.random.default_rng(1)
                shares = np.mean(
                    [once(values, sizes, by_source, spread * 0.1 / 300**0.5, rng) for _ in range(SAMPLES)], axis=0
                )
                print(
                    f"| {values}{', by source' * by_source} | {len(sizes)} | {spread} | {' | '.join(f'{share:.3f}' for share in shares)} |"
                )


def one_set(values: str, n: int, by_source: bool, spread: float, rng: np.random.Generator) -> Estimate:
    """The estimate of a set of ``n`` queries, or sources."""
    drawn = VALUES[values](rng, n) + rng.normal(0, spread)
    if not by_source:
        return over_queries(drawn)
    source = np.repeat(np.arange(n), SOURCES[n])
    return over_sources(drawn[source] + rng.normal(0, 0.1, len(source)), source)


def once(
    values: str, sizes: tuple[int, ...], by_source: bool, spread: float, rng: np.random.Generator
) -> tuple[bool, ...]:
    """Whether each interval covers, for one draw of sets whose mean effect is 0."""
    sets = [one_set(values, n, by_source, spread, rng) for n in sizes]
    effects = np.array([of.mean for of in sets])
    errors = believed_errors([{"error": of.error, "n": of.n, "differing": of.sample.differing} for of in sets], 10)
    pooled = pool(effects, errors)
    weight, mean, df = 1 / (errors**2 + pooled.between**2), pooled.estimate.mean, pooled.estimate.df
    bounded = weight.sum() ** -0.5
    free = bounded * min(1.0, float((weight * (effects - mean) ** 2).sum()) / df) ** 0.5
    ends = [(of, stdtrit(many, 1 - LEVEL / 2)) for of, many in ((bounded, df), (free, df), (bounded, np.inf))]
    (low, high), (lowest, highest) = pooled.estimate.interval(LEVEL), pooled.new_set(LEVEL)
    return (low <= 0 <= high, *(abs(mean) <= t * of for of, t in ends), lowest <= rng.normal(0, spread) <= highest)


if __name__ == "__main__":
    main()

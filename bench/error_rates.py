"""How often a verdict on two runs is wrong, by the number of queries: ``python bench/error_rates.py QRELS RUN RUN ...``.

Every pair of runs is a population of differences, moved so that their mean is 0; samples of its queries get verdicts on
"a is better" with a margin of 0, so that each is wrong. The nominal rate of each side is .025 by the family. ``--share S`` lets a share
S of the queries differ, those of the others being equal, which makes the differences rare and skewed.
"""

from __future__ import annotations

import argparse
from itertools import combinations

import numpy as np

from qdrank.datasets.runs.reading import read_qrels
from qdrank.evaluation.declared import FAILS, HOLDS, RULES_OF_RUNS, Claim
from qdrank.evaluation.estimates import over_queries
from qdrank.evaluation.intervals import effective_number
from qdrank.evaluation.run_files import measured_runs
from qdrank.evaluation.verdicts import decide_by_estimates, verdict_by_interval
from qdrank.measures.names import parse

SIZES = (10, 15, 20, 25, 30, 43, 50, 100, 300)
CLAIM = Claim(name="a", text="", expected="", kind="superiority")


def main() -> None:
    """Print rates of "does not hold" and "holds", and how often there is a verdict on the differences as they are."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("qrels")
    parser.add_argument("runs", nargs="+")
    parser.add_argument("--measure", default="nDCG@10")
    parser.add_argument("--pairs", type=int, default=40)
    parser.add_argument("--samples", type=int, default=200)
    parser.add_argument("--share", type=float, default=1.0)
    parser.add_argument("--family", type=int, default=1, help="differences that are corrected together")
    args = parser.parse_args()
    name, rng = parse(args.measure, convention="trec").name, np.random.default_rng(1)
    values = [one.values[name] for one in measured_runs(read_qrels(args.qrels), args.runs, [name])]
    pairs = list(combinations(range(len(values)), 2))
    rng.shuffle(pairs)
    populations = [values[a] - values[b] for a, b in pairs[: args.pairs]]
    if args.share < 1:
        populations = [d * (rng.random(len(d)) < args.share) for d in populations]
    print(f"{len(populations)} pairs of {len(populations[0])} queries, {args.samples} samples each")
    print("            t interval alone     guard 10             as in `compare`        worst pair   decided")
    for n in SIZES:
        rates = np.array([wrong(d, n, args.samples, rng, args.family) for d in populations])
        mean, worst = rates.mean(axis=0), rates[:, :, :2].max(axis=(0, 2))
        each = "   ".join(f"{low:.4f} {high:.4f}    " for low, high, _ in mean)
        print(f"n = {n:4}   {each}  {worst[1]:.3f} {worst[2]:.3f}   {mean[2, 2]:.2f}")


def wrong(d: np.ndarray, n: int, samples: int, rng: np.random.Generator, family: int) -> np.ndarray:
    """Shares of "does not hold" and "holds", and of verdicts on the true mean, (3, 3), for each of three guards."""
    count, mean, level = np.zeros((3, 3)), d.mean(), RULES_OF_RUNS.alpha / family
    for _ in range(samples):
        x = rng.choice(d, n, replace=n > len(d))
        moved = over_queries(x - mean)
        student = verdict_by_interval(
            "superiority", moved.interval(level)[0], moved.mean, moved.interval(level)[1], margin=0
        )
        enough = effective_number(x) >= RULES_OF_RUNS.differing
        whole = decide_by_estimates(CLAIM, {"d": moved}, size=family, rules=RULES_OF_RUNS).verdict
        for i, verdict in enumerate((student, student if enough else "", whole)):
            count[i] += verdict == FAILS, verdict == HOLDS, 0
        count[2, 2] += decide_by_estimates(CLAIM, {"d": over_queries(x)}, size=family, rules=RULES_OF_RUNS).verdict in (
            FAILS,
            HOLDS,
        )
    return count / samples


if __name__ == "__main__":
    main()

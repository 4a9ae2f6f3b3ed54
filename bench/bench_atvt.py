"""What aTVT costs in fits of its regressor: K rounds should cost K + 1 fits and little more.

    python bench/bench_atvt.py results/mq2008/judged.parquet

The file is the artifact ``judged`` of a run. Processor time, one thread, the shortest of a few runs; plain and aTVT take turns.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from qdrank.datasets.judged import load_judged
from qdrank.learners import ATVT
from qdrank.learners.atvt.maps import Penalties, fit_maps, moments
from qdrank.rankers.documents import fold_documents

REPEATS = 5


def seconds(*steps: Callable[[], object]) -> list[float]:
    """Processor time of each step, the shortest of a few turns."""
    found: list[list[float]] = [[] for _ in steps]
    for _ in range(REPEATS):
        for times, step in zip(found, steps, strict=True):
            began = time.process_time()
            step()
            times.append(time.process_time() - began)
    return [min(times) for times in found]


def bench(path: str) -> None:
    """Print one line for each regressor and number of rounds, on the first fold of a data set."""
    train = fold_documents(load_judged(path, ["features"]), "fold1", "auto").parts["train"]
    judged = (train.X, train.y.astype(np.float64), train.query)
    for h in ("ridge", "trees"):
        for rounds in (1, 3, 10):
            several = ATVT(h=h, rounds=rounds, tol=0.0)
            plain, own = seconds(lambda h=h: ATVT(h=h, rounds=0).fit(*judged), lambda one=several: one.fit(*judged))
            share = own / ((rounds + 1) * plain)
            print(f"{Path(path).parent.name} {h:<6} K = {rounds:>2}: plain {plain:.3f} s, aTVT {own:.3f} s,", end=" ")
            print(f"{share:.2f} of {rounds + 1} plain fits")


def bench_maps(n_queries: int = 30_000, size: int = 120) -> None:
    """Print the time of all maps of a large set, in both norms."""
    generator = np.random.default_rng(1)
    h, y = generator.normal(size=(2, n_queries * size))
    found = moments(h, y, np.arange(n_queries + 1) * size)
    both = [Penalties(10.0, 1.0, norm, 0.05) for norm in ("l2", "l1")]
    l2, l1 = seconds(*(lambda one=one: fit_maps(found, one) for one in both))
    print(f"maps of {n_queries} queries: l2 {1000 * l2:.1f} ms, l1 {1000 * l1:.1f} ms")


if __name__ == "__main__":
    bench_maps()
    for file in sys.argv[1:]:
        bench(file)

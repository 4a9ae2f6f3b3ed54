"""Time and memory of query vectors and neighbours.

OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python bench/bench_queries.py [n_queries]
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from qdrank.queries.neighbours import neighbours
from qdrank.queries.vectors import query_vectors
from qdrank.rankers.knn import change_ratios, offline1


def row(what: str, run: Callable[[], Any]) -> Any:
    start = time.process_time()
    result = run()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**30 if sys.platform == "darwin" else 2**20)
    print(f"| {what} | {time.process_time() - start:.1f} s | {peak:.2f} GiB |", flush=True)
    return result


def main(queries: int = 30_000) -> None:
    rng = np.random.default_rng(0)
    print("| what | CPU time | peak memory so far |\n|---|---|---|")
    vectors = rng.standard_normal((queries, 136))
    own = np.arange(queries)
    row(
        f"neighbours, {queries} queries, 136 columns, k = 400",
        lambda: neighbours(vectors, vectors, 400, train_index=own),
    )
    flat = vectors[:, :3].copy()
    row("the same, 3 columns", lambda: neighbours(flat, flat, 400, train_index=own))
    row("the same, 3 columns, KD-tree", lambda: neighbours(flat, flat, 400, train_index=own, search="kdtree"))
    few = vectors[:3800, :46].copy()
    near = row("neighbours, 3,800 queries, k = 3,000 of 3,000", lambda: neighbours(few, few[:3000], 3000))
    test, train, pairs = near.rows[3000:], near.rows[:3000], rng.integers(1, 900, size=3000)
    for k in (100, 800):
        chosen = row(f"Offline-1, 800 x 3,000 neighbourhoods, k = {k}", lambda k=k: offline1(test, train, pairs, [k]))
        row(f"change ratio, k = {k}", lambda chosen=chosen: change_ratios(test, train, pairs, chosen))
    documents = rng.standard_normal((queries * 40, 136), dtype=np.float32)
    offsets = np.arange(queries + 1) * 40
    row(f"query vectors, {queries} queries of 40 documents", lambda: query_vectors(documents, offsets, 0, top=30))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))

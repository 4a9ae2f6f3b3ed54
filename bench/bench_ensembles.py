"""Times of SER and SSER on judged data, and of clarabel on the same programs.

    python bench/bench_ensembles.py results/ohsumed-letor2/judged.parquet results/mq2008/judged.parquet

The file is the artifact ``judged`` of a run. Processor time, one thread, the shortest of a few runs.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from qdrank.datasets.judged import load_judged
from qdrank.learners import SER, SSER
from qdrank.rankers.documents import fold_documents

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.learners.ensemble.ensemble_world import reference_optimum

QUERIES = 50


def milliseconds(step: Callable[[], object], repeats: int = 5) -> float:
    """Processor time of the shortest of a few runs."""
    found = []
    for _ in range(repeats):
        began = time.process_time()
        step()
        found.append(time.process_time() - began)
    return 1000 * min(found)


def bench(path: str) -> None:
    """Print one line for a data set: its first fold, features scaled within each query."""
    documents = fold_documents(load_judged(path, ["features"]), "fold1", "minmax")
    train, test = documents.parts["train"], documents.parts["test"]
    judged = (train.X, train.y, train.query)
    sser = SSER().fit(*judged)
    lists = [test.X[a:b].astype(np.float64) for a, b in zip(test.offsets, test.offsets[1:], strict=False)][:QUERIES]
    roughness = [sser.roughness_of(X) for X in lists]
    sser.path(roughness[0], [0.5])
    program, start = sser.solved()
    matrices = [np.eye(len(K)) + 0.5 * K for K in roughness]
    times = {
        "SER": milliseconds(lambda: SER().fit(*judged)),
        "SSER, per query": milliseconds(lambda: [sser.weights_for(X) for X in lists]) / len(lists),
        "of it the program": milliseconds(lambda: [program.minimise(M, start) for M in matrices]) / len(lists),
        "from nothing": milliseconds(lambda: [program.minimise(M) for M in matrices]) / len(lists),
    }
    few = matrices[:5]
    reference_optimum(few[0], sser.coefficients_, 1.0)
    times["clarabel"] = milliseconds(lambda: [reference_optimum(M, sser.coefficients_, 1.0) for M in few], 1) / len(few)
    gaps = [program.minimise(M, start).gap for M in matrices]
    name, shape = Path(path).parent.name, f"{train.n_queries} queries, {train.X.shape[1]} rankers"
    print(f"{name} ({shape}): " + ", ".join(f"{k} {v:.2f} ms" for k, v in times.items()) + f"; gap {max(gaps):.0e}")


if __name__ == "__main__":
    for file in sys.argv[1:]:
        bench(file)

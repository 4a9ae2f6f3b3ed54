"""Reading and measuring runs: 50,000 rows at a time, one run in memory. `python bench/bench_runs.py [RUNS]` prints the times."""

from __future__ import annotations

import resource
import sys
import tempfile
from pathlib import Path
from time import perf_counter, process_time

import numpy as np

from qdrank.datasets.runs.reading import read_qrels
from qdrank.evaluation.run_files import measured_runs
from qdrank.measures.names import parse

QUERIES, DEPTH, POOL = 50, 1000, 40_000
NAMES = [parse(name).name for name in ("nDCG@10", "AP", "RR", "P@20", "R@1000", "Bpref", "Judged@10")]


def make(folder: Path, seed: int) -> Path:
    """A run of QUERIES x DEPTH rows; some scores tie."""
    rng, path = np.random.default_rng(seed), folder / f"{seed}.run"
    with path.open("w") as file:
        for query in range(QUERIES):
            docs = rng.choice(POOL, DEPTH, replace=False)
            scores = np.sort(rng.normal(0, 3, DEPTH).round(3))[::-1]
            file.writelines(
                f"{query} Q0 doc-{doc:06} {rank} {score} run{seed}\n"
                for rank, (doc, score) in enumerate(zip(docs, scores, strict=True), 1)
            )
    return path


def main(n_runs: int) -> None:
    """Times after start-up, of one run and of all."""
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        judged = [(q, d) for q in range(QUERIES) for d in rng.choice(POOL, 500, replace=False)]
        (folder / "qrels").write_text("".join(f"{q} 0 doc-{d:06} {rng.integers(0, 3)}\n" for q, d in judged))
        paths = [make(folder, seed) for seed in range(n_runs)]
        start, used = perf_counter(), process_time()
        qrels = read_qrels(folder / "qrels")
        next(iter(measured_runs(qrels, paths[:1], NAMES)))
        print(f"judgments and 1 run: {perf_counter() - start:.2f} s ({process_time() - used:.2f} s of processor time)")
        start, used = perf_counter(), process_time()
        for _ in measured_runs(qrels, paths, NAMES):
            pass
        print(f"{n_runs} runs: {perf_counter() - start:.2f} s ({process_time() - used:.2f} s of processor time)")
    print(f"largest memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 126)

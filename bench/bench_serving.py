"""Speed of ``qdrank rank``: a million rows from file to file, and the first answer, by wall and by CPU time.

python bench/bench_serving.py [n_rows] [--features 46] [--runs 3] [--against SOURCE]

Weights are random, since time does not depend on them. With ``--against``, another version of the library (its folder
src) takes turns with this one, and must write the same bytes. Each time is the median of the runs, a process each.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import numpy as np

from bench_latency import rankers_of
from bench_letor import BLOCK
from qdrank.datasets.simulated.features import simulate
from qdrank.rankers.served import write_ranker

METHODS = ("single", "offline2")
HERE = str(Path(__file__).parents[1] / "src")


def write_models(folder: Path, features: int) -> None:
    """Files of the rankers of 865 training queries with random weights."""
    data = simulate("sim1", 1, train=865, vali=0, test=1, features=features, documents=(30, 52))
    for name, ranker in rankers_of(data, 865, 234).items():
        if name in METHODS:
            write_ranker(folder / f"{name}.parquet", ranker)


def write_rows(path: Path, features: int, n_rows: int) -> None:
    """LETOR text of 120 documents a query, six decimals."""
    values = np.random.default_rng(0).random((BLOCK, features))
    texts = [" ".join(f"{j}:{v:.6f}" for j, v in enumerate(row, 1)) for row in values.tolist()]
    with path.open("w") as file:
        for i in range(n_rows):
            file.write(f"0 qid:{i // 120} {texts[i % BLOCK]} #docid = GX{i:09d}\n")


def ranked(source: str, model: Path, rows: Path, out: Path) -> tuple[float, float]:
    """Seconds by the clock and of the processor for one command."""
    code = "import sys; from qdrank.cli import main; sys.exit(main())"
    command = [sys.executable, "-c", code, "rank", "--models", str(model), "--input", str(rows), "--output", str(out)]
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, env=os.environ | {"PYTHONPATH": source}, check=True)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("n_rows", type=int, nargs="?", default=1_000_000)
    parser.add_argument("--features", type=int, default=46)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--against", metavar="SOURCE", help="folder src of another version")
    options = parser.parse_args()
    sources = [HERE] if options.against is None else [options.against, HERE]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_models(folder, options.features)
        for n_rows in (options.n_rows, 3 * 120):
            rows = folder / f"{n_rows}.txt"
            write_rows(rows, options.features, n_rows)
            for method in METHODS:
                times: dict[str, list[tuple[float, float]]] = {source: [] for source in sources}
                for _ in range(options.runs):
                    for i, source in enumerate(sources):
                        took = ranked(source, folder / f"{method}.parquet", rows, folder / f"scores{i}")
                        times[source].append(took)
                same = len({(folder / f"scores{i}").read_bytes() for i in range(len(sources))}) == 1
                for source, runs in times.items():
                    wall, spent = (median(each) for each in zip(*runs, strict=True))
                    print(
                        f"{method}, {n_rows:,} rows, {source}: {wall:.2f} s, {spent:.2f} s of the processor", flush=True
                    )
                if not same:
                    sys.exit("the two versions write different scores")


if __name__ == "__main__":
    main()

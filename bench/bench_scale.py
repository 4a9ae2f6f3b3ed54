"""Time and memory of each stage on simulated web search data, against the number of queries; one thread, processor time.

python bench/bench_scale.py [--train 300 600 1200] [--documents 60] [--features 136]

Each size runs in a process of its own. Local models are trained for one block, the table gives the time of one model.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from qdrank.datasets.importing import import_letor
from qdrank.datasets.judged import load_judged
from qdrank.layout import query_index
from qdrank.learners import LEARNERS
from qdrank.learners.ranksvm.kernels import one_thread
from qdrank.learners.ranksvm.local import block_size, locality_order, make_blocks, prepare_training, train_sweep
from qdrank.queries.neighbours import neighbours
from qdrank.queries.vectors import Standardiser, query_vectors
from qdrank.rankers.documents import fold_documents
from web import Web, write_web

TREES = 10


class Stages:
    """Runs stages and remembers what they took."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    def __call__(self, name: str, work: Callable[[], Any]) -> Any:
        """Result of a stage."""
        began = time.process_time()
        result = work()
        self.seconds[name] = time.process_time() - began
        return result


def measured(web: Web, folder: Path) -> dict[str, str]:
    """One row of the table."""
    stage = Stages()
    texts = stage("draw text, s", lambda: write_web(folder, web, 1))
    size = sum(path.stat().st_size for path in texts.values()) / 2**20
    stage("read text, s", lambda: import_letor(texts, folder / "judged.parquet"))
    judged = stage("load, s", lambda: load_judged(folder / "judged.parquet", ["features"]))
    documents = fold_documents(judged, "fold1", "auto")
    data = stage("prepare, s", documents.preferences)
    raw = stage("query vectors, s", lambda: query_vectors(judged.X, judged.offsets, judged.X[:, 0]))
    train = judged.part == "train"
    scaler = Standardiser(scale=True)
    scaler.fit(raw[train])
    vectors = scaler.transform(raw)
    near = stage("all neighbours, s", lambda: neighbours(vectors, vectors[train], int(train.sum())).rows)
    base = stage("Single, s", lambda: prepare_training(data))
    k, own = round(0.27 * train.sum()), vectors[train]
    block = block_size(None, len(own))
    rows = make_blocks(locality_order(own, block), block)[0]
    models = stage("local", lambda: train_sweep(base, near[train][:, :k], [k], [rows])[k])
    part = documents.parts["train"]
    learner = LEARNERS["lambdamart"](rounds=TREES)
    stage("trees", lambda: learner.fit(part.X, part.y, query_index(part.offsets)))
    found = {"rows": f"{judged.n_documents:,}", "text, MiB": f"{size:.0f}"}
    found |= {name: f"{value:.2f}" for name, value in stage.seconds.items() if name.endswith(", s")}
    found["a local model, ms"] = f"{1e3 * stage.seconds['local'] / len(rows):.2f} (k {k})"
    found["evaluations"] = f"{models.evaluations.mean():.1f}, largest gap {models.gaps.max():.0e}"
    found["a tree, ms"] = f"{1e3 * stage.seconds['trees'] / TREES:.0f}"
    found["peak memory, GiB"] = f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.2f}"
    return found


def run(web: Web, heads: bool) -> None:
    with tempfile.TemporaryDirectory() as folder, one_thread():
        row = {"training queries": f"{web.train:,}"} | measured(web, Path(folder))
    if heads:
        print("| " + " | ".join(row) + " |\n|" + "---|" * len(row))
    print("| " + " | ".join(row.values()) + " |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--train", type=int, nargs="+", default=[300, 600, 1200])
    parser.add_argument("--documents", type=int, default=60)
    parser.add_argument("--features", type=int, default=136)
    options = parser.parse_args()
    warm = Web(train=30, vali=5, test=5, documents=8, features=5)
    sizes = [
        Web(train=m, vali=m // 3, test=m // 3, documents=options.documents, features=options.features)
        for m in options.train
    ]
    with tempfile.TemporaryDirectory() as folder, one_thread():
        measured(warm, Path(folder))  # compiles what is not in the cache yet
    for i, web in enumerate(sizes):
        process = multiprocessing.get_context("spawn").Process(target=_fresh, args=(web, i == 0))
        process.start()
        process.join()
        if process.exitcode:
            sys.exit(process.exitcode)


def _fresh(web: Web, heads: bool) -> None:
    """A process of its own, its kernels loaded before the clock runs."""
    with tempfile.TemporaryDirectory() as folder, one_thread():
        measured(Web(train=30, vali=5, test=5, documents=8, features=5), Path(folder))
    run(web, heads)


if __name__ == "__main__":
    main()

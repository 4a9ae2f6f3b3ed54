"""Table 1 of Geng 2008 measured: the time of each step of testing, per query, against m and k."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

from qdrank.datasets.judged import Judged
from qdrank.groups import FloatArray
from qdrank.learners.local import TrainingBase, prepare_training, train_block
from qdrank.queries.neighbours import neighbours
from qdrank.queries.vectors import query_vectors
from qdrank.rankers.documents import Scale, fold_documents, query_scores
from qdrank.rankers.knn import offline1
from qdrank.rankers.sizes import neighbour_count
from qdrank.studies.making import Inputs, Shown

SHARES, KS = (0.25, 0.5, 1.0), (0.1, 0.27, 0.53)
REPEATS, QUERIES = 3, 32


def _seconds(step: Callable[[], object]) -> float:
    """Processor time of the shortest of a few runs: the one least disturbed by others on the machine."""
    found = []
    for _ in range(REPEATS):
        began = time.process_time()
        step()
        found.append(time.process_time() - began)
    return min(found)


def tabulate(inputs: Inputs, shown: Shown) -> dict[str, pa.Table]:  # noqa: ARG001
    """Table 1, as it was measured: the time is taken by a job of its own, so that a new title takes it no second time."""
    return {"geng-table1": inputs.table("times", "table")}


def measure_times(judged: Judged, reference: int, fold: str, *, scale: Scale, lam: float, tol: float) -> pa.Table:
    """Measure Table 1 on one fold; ``reference`` is the column of the reference feature, counted from 0."""
    documents = fold_documents(judged, fold, scale)
    test = documents.parts["test"]
    base = prepare_training(documents.preferences(), lam=lam, tol=tol)
    few = test.take(np.arange(min(QUERIES, test.n_queries)))
    return timing_table(base, documents.parts["train"], few, reference)


def timing_table(base: TrainingBase, train: Judged, test: Judged, reference: int) -> pa.Table:
    """Milliseconds per test query of every step, a column for each number of training queries m and of neighbours k.

    The last column is the growth fitted to them, m^a k^b.

    Parameters
    ----------
    base : global model of all training queries
    train, test : documents; of the test queries a few dozen are enough
    reference : column of the reference feature
    """
    vectors = query_vectors(train.X, train.offsets, reference)
    sizes = [
        (m, k)
        for m in (max(2, round(share * train.n_queries)) for share in SHARES)
        for k in sorted({neighbour_count(part, m) for part in KS})
    ]
    times = [_timed(base, train, test, vectors[:m], reference, k) for m, k in sizes]
    rows: list[dict[str, Any]] = []
    for step, methods, order in times[0]:
        ms = [1000 * found[step, methods, order] for found in times]
        row: dict[str, Any] = {"step": step, "methods": methods, "paper": order}
        row |= {f"m={m} k={k}": value for (m, k), value in zip(sizes, ms, strict=True)}
        rows.append(row | {"growth": _growth(sizes, ms)})
    return pa.Table.from_pylist(rows)


def _growth(sizes: list[tuple[int, int]], ms: list[float]) -> str:
    """Exponents of m and k by least squares on logarithms."""
    design = np.hstack([np.log(sizes), np.ones((len(sizes), 1))])
    (a, b, _), *_ = np.linalg.lstsq(design, np.log(ms), rcond=None)
    return f"m^{a:.1f} k^{b:.1f}"


def _timed(
    base: TrainingBase, train: Judged, test: Judged, vectors: FloatArray, reference: int, k: int
) -> dict[tuple[str, str, str], float]:
    """Seconds per test query of every step: its name, the methods that take it, its order in the paper."""
    m = len(vectors)
    points = query_vectors(test.X, test.offsets, reference)
    pairs = train.pairs[:m]
    nearest, theirs = neighbours(points, vectors, k).rows, neighbours(vectors, vectors, k).rows
    W = np.tile(base.single.w, (test.n_queries, 1))
    steps: dict[tuple[str, str, str], Callable[[], object]] = {
        ("generate query features", "all", "O(n)"): lambda: query_vectors(test.X, test.offsets, reference),
        ("find k nearest", "Online, Offline-1", "O(m log k)"): lambda: neighbours(points, vectors, k),
        ("find the nearest", "Offline-2", "O(m)"): lambda: neighbours(points, vectors, 1),
        ("find the nearest, KD-tree", "Offline-2", ""): lambda: neighbours(points, vectors, 1, search="kdtree"),
        ("find the offline model", "Offline-1", "O(mk)"): lambda: offline1(nearest, theirs, pairs, [k]),
        ("train the model", "Online", "O((kp)^c)"): lambda: train_block(base, nearest),
        ("rank", "all", "O(n log n)"): lambda: np.argsort(-query_scores(test, W), kind="stable"),
    }
    return {key: _seconds(run) / test.n_queries for key, run in steps.items()}

"""Table 1 of Geng 2008, measured: the time of each step of testing for one arriving query, against m and k.

The paper's "train the model" means training the model of the arriving query. It is timed twice, one query at a time:
cold, from the documents of the k neighbours alone; and warm, from Single and the sums computed in advance. Work done
once for all queries, such as training Single, has separate rows and is not part of any testing step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
from scipy.spatial import cKDTree

from qdrank.datasets.columns import reference_column
from qdrank.datasets.judged import Judged
from qdrank.jobs import seconds
from qdrank.layout import FloatArray
from qdrank.learners.ranksvm.estimator import Model, solve, whole_problem
from qdrank.learners.ranksvm.kernels import one_thread
from qdrank.learners.ranksvm.local import TrainingBase, prepare_training, train_block
from qdrank.learners.ranksvm.preferences import Preferences, subset
from qdrank.queries.neighbours import neighbours
from qdrank.queries.sizes import neighbour_count
from qdrank.queries.vectors import query_vectors
from qdrank.rankers.documents import FeatureScale, load_fold
from qdrank.rankers.knn import offline1
from qdrank.store import write

SHARES, KS = (0.25, 0.5, 1.0), (0.1, 0.27, 0.53)
_MOST = 2000
"""Numbers of training queries; more would take minutes and add nothing, since the growth is fitted."""
_QUERIES, TRAINED = 32, 4
"""Number of test queries, and of those for which models are trained."""

Step = tuple[str, str, str]
"""Name of a step, the methods that take it, its order in the paper."""
COLD: Step = ("train the model, cold", "Online", "O((kp)^c)")
WARM: Step = ("train the model, warm from Single", "Online", "O((kp)^c)")


def write_times(files: Mapping[str, str], path: str, *, fold: str, scale: FeatureScale, lam: float, tol: float) -> None:
    """Measure Table 1 on training and test documents of a fold, and write it."""
    documents = load_fold(files["judged"], fold, scale, wanted=["train", "test"])

    def first(role: str, most: int) -> Judged:
        return documents.parts[role].take(np.arange(min(most, documents.parts[role].n_queries)))

    train, test = first("train", _MOST), first("test", _QUERIES)
    data = replace(documents, parts={**documents.parts, "train": train}).preferences()
    table = timing_table(data, train, test, reference_column(files["columns"]), lam=lam, tol=tol)
    write(path, "table", table)


def timing_table(
    data: Preferences, train: Judged, test: Judged, reference: int, *, lam: float = 0.01, tol: float = 1e-6
) -> pa.Table:
    """Milliseconds of every step, a column for each number of training queries m and of neighbours k.

    Steps of testing are per test query; one-time steps are for the whole training set. The last column is the fitted
    growth: m^a k^b, and for training (kp)^c as in the paper, where kp is the number of document pairs learned from.

    Parameters
    ----------
    data, train : documents of the training queries, prepared for learning and as given
    test : documents of the test queries; a few dozen queries are enough
    reference : column of the reference feature
    """
    vectors = query_vectors(train.X, train.offsets, reference)
    sizes = [
        (m, k)
        for m in (max(2, round(share * min(train.n_queries, _MOST))) for share in SHARES)
        for k in sorted({neighbour_count(share, m) for share in KS})
    ]
    bases = {m: _Base(subset(data, np.arange(m)), vectors[:m], lam, tol) for m, _ in sizes}
    times = [_timed(bases[m], train, test, reference, k) for m, k in sizes]
    learned = [_pairs_learned(bases[m], test, reference, k) for m, k in sizes]
    rows: list[dict[str, Any]] = []
    for step in times[0]:
        ms = [1000 * times_of[step] for times_of in times]
        row: dict[str, Any] = dict(zip(("step", "methods", "paper"), step, strict=True))
        row |= {f"m={m} k={k}": value for (m, k), value in zip(sizes, ms, strict=True)}
        power = f"; (kp)^{_slope(learned, ms):.1f}" if step in (COLD, WARM) else ""
        rows.append(row | {"growth": _growth(sizes, ms) + power})
    return pa.Table.from_pylist(rows)


class _Base:
    """One-time work for m training queries, with the time it took."""

    def __init__(self, data: Preferences, vectors: FloatArray, lam: float, tol: float) -> None:
        self.data, self.vectors, self.lam, self.tol = data, vectors, lam, tol
        self.training: TrainingBase = prepare_training(data, lam=lam, tol=tol)
        self.tree = cKDTree(vectors)
        self.seconds: dict[Step, float] = {
            ("once: Single and its sums", "Online, warm", ""): seconds(
                lambda: prepare_training(data, lam=lam, tol=tol)
            ),
            ("once: build the KD-tree", "Offline-2", ""): seconds(lambda: cKDTree(vectors)),
        }

    def cold(self, members: Any) -> Model:
        """A model of some training queries, trained from scratch."""
        chosen = np.zeros(self.data.n_queries)
        chosen[members] = 1.0
        with one_thread():
            return solve(whole_problem(self.data, chosen, self.lam), loss="squared_hinge", tol=self.tol, limit=100)


def _growth(sizes: list[tuple[int, int]], ms: list[float]) -> str:
    """Exponents of m and k by least squares on logarithms."""
    design = np.hstack([np.log(sizes), np.ones((len(sizes), 1))])
    (a, b, _), *_ = np.linalg.lstsq(design, np.log(ms), rcond=None)
    return f"m^{a:.1f} k^{b:.1f}"


def _slope(pairs: list[float], ms: list[float]) -> float:
    """Exponent of the number of pairs by least squares on logarithms."""
    design = np.column_stack([np.log(np.maximum(pairs, 1)), np.ones(len(pairs))])
    return float(np.linalg.lstsq(design, np.log(ms), rcond=None)[0][0])


def _pairs_learned(base: _Base, test: Judged, reference: int, k: int) -> float:
    """Mean number of document pairs in the neighbourhoods of the queries for which models are trained."""
    points = query_vectors(test.X, test.offsets, reference)[:TRAINED]
    return float(base.data.pairs[neighbours(points, base.vectors, k).rows].sum(axis=1).mean())


def _timed(base: _Base, train: Judged, test: Judged, reference: int, k: int) -> dict[Step, float]:
    """Seconds of every step: per test query, or once."""
    steps = _steps(base, train, test, reference, k)
    return {step: seconds(run) / n for step, run, n in steps} | base.seconds


def _steps(
    base: _Base, train: Judged, test: Judged, reference: int, k: int
) -> Iterator[tuple[Step, Callable[[], object], int]]:
    """Steps of testing, and the number of queries each one handles."""
    vectors, n = base.vectors, test.n_queries
    points, pairs = query_vectors(test.X, test.offsets, reference), train.pairs[: len(vectors)]
    nearest, theirs = neighbours(points, vectors, k).rows, neighbours(vectors, vectors, k).rows
    few, w = range(min(TRAINED, n)), base.training.single.w
    queries = [test.X[a:b].astype(np.float64) for a, b in zip(test.offsets[:-1], test.offsets[1:], strict=True)]
    yield ("generate query features", "all", "O(n)"), lambda: query_vectors(test.X, test.offsets, reference), n
    yield ("find k nearest", "Online, Offline-1", "O(m log k)"), lambda: neighbours(points, vectors, k), n
    yield ("find the nearest", "Offline-2", "O(m)"), lambda: neighbours(points, vectors, 1), n
    yield ("find the nearest, KD-tree", "Offline-2", ""), lambda: base.tree.query(points, 1), n
    yield ("find the offline model", "Offline-1", "O(mk)"), lambda: offline1(nearest, theirs, pairs, [k]), n
    yield COLD, lambda: [base.cold(nearest[q]) for q in few], len(few)
    yield WARM, lambda: [train_block(base.training, nearest[q : q + 1], tol=base.tol) for q in few], len(few)
    yield ("rank", "all", "O(n log n)"), lambda: [np.argsort(-(X @ w), kind="stable") for X in queries], n

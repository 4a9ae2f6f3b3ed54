"""Ours against other solvers of the same problems: one table of ratios, written to benchmarks/peers.md.

python bench/peers.py [--output benchmarks/peers.md]

All are timed alike: processor time of the shortest of three runs, one thread, from features, grades and queries to weights, so that
what a solver has to set up is counted (ours: sorting, preconditioner, Single; others: forming the pairs). The gap is (F(w) - F*) / F(w)
with F* from our solver at a tolerance of 1e-10. Squared hinge is compared with squared hinge, hinge with hinge.
LinearSVC (scikit-learn) always runs. LibRankSVM runs if LIBRANKSVM names its `train` program, which also reads a file and writes one.
Data: isotropic features, features of very different scales and correlations, and, where QDRANK_MIRROR has them, MQ2008 and the MQ2007 sample.
"""

from __future__ import annotations

import argparse
import lzma
import os
import resource
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from qdrank.layout import query_offsets
from qdrank.learners.ranksvm.estimator import RankSVM
from qdrank.learners.ranksvm.kernels import one_thread
from qdrank.learners.ranksvm.local import prepare_training, train_block
from qdrank.learners.ranksvm.preferences import prepare

RUNS, LAM, K, SAMPLE = 3, 0.01, 200, 2


@dataclass(frozen=True)
class Data:
    """Documents: features (n, d), grades (n,), query of each (n,), and a place of every query (n_queries, p)."""

    name: str
    X: np.ndarray
    y: np.ndarray
    query: np.ndarray
    place: np.ndarray

    def of(self, queries: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The documents of some queries."""
        rows = np.flatnonzero(np.isin(self.query, queries))
        return self.X[rows].astype(np.float64), self.y[rows], self.query[rows]


def best_of(work: Callable[[], Any]) -> tuple[float, Any]:
    """Least processor seconds of a few runs, own and of child processes, and the result."""
    least, result = np.inf, None
    for _ in range(RUNS):
        before = _spent()
        result = work()
        least = min(least, _spent() - before)
    return least, result


def _spent() -> float:
    """Processor seconds of this process and of its children."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def generated(name: str, m: int, n: int, d: int, *, scales: float) -> Data:
    """Queries of n documents; ``scales`` is the number of decades between the scales of the hidden directions."""
    rng = np.random.default_rng(0)
    place = rng.normal(size=(m, 6))
    turn = np.linalg.qr(rng.normal(size=(d, d)))[0]
    mix = turn * np.logspace(0, -scales, d) @ turn.T
    mix /= np.sqrt((mix**2).sum(axis=0))
    stretch = np.exp((scales > 0) * 0.5 * place @ rng.normal(size=(6, d)) / np.sqrt(6))
    query = np.repeat(np.arange(m), n)
    X = (rng.normal(size=(m * n, d)) @ mix) * stretch[query]
    weights = rng.normal(size=d) + 0.5 * place @ rng.normal(size=(6, d)) / np.sqrt(6)
    score = np.einsum("nf,nf->n", X, weights[query])
    y = np.searchsorted([0.3, 1.0, 1.8], score / score.std() + rng.normal(size=m * n))
    return Data(name, X.astype(np.float32), y, query, place)


def letor(name: str, folder: Path, pattern: str) -> Data:
    """Training part of fold 1; the place of a query is the mean of its features, standardised."""
    X, y, query = [], [], []
    for part in (1, 2, 3):
        with lzma.open(folder / pattern.format(part), "rt") as file:
            for line in file:
                grade, qid, *values = line.partition("#")[0].split()
                X.append([float(value.partition(":")[2]) for value in values])
                y.append(int(grade))
                query.append(qid)
    features, offsets = np.array(X, dtype=np.float32), query_offsets(np.array(query))
    means = np.add.reduceat(features, offsets[:-1], axis=0) / np.diff(offsets)[:, None]
    place = (means - means.mean(axis=0)) / np.maximum(means.std(axis=0), 1e-9)
    return Data(name, features, np.array(y), np.repeat(np.arange(len(means)), np.diff(offsets)), place)


def all_data() -> Iterator[Data]:
    yield generated("isotropic, d 46", 500, 25, 46, scales=0)
    yield generated("scales of 2.5 decades, d 46", 500, 25, 46, scales=2.5)
    mirror = Path(os.environ.get("QDRANK_MIRROR", "no-mirror")) / "letor4"
    for name, folder, pattern in (
        ("MQ2008", "MQ2008", "S{}.txt.xz"),
        ("MQ2007 sample", "MQ2007-partial", "S{}.partial.txt.xz"),
    ):
        if (mirror / folder / pattern.format(1)).is_file():
            yield letor(name, mirror / folder, pattern)
        else:
            print(f"{name}: not in the mirror", flush=True)


def pairs_of(X: np.ndarray, y: np.ndarray, query: np.ndarray) -> np.ndarray:
    """Feature differences (p, d) of all pairs, better minus worse."""
    parts = []
    for rows in np.split(np.arange(len(y)), np.flatnonzero(np.diff(query)) + 1):
        i, j = np.nonzero(y[rows][:, None] > y[rows])
        parts.append(X[rows][i] - X[rows][j])
    return np.concatenate(parts)


def objective(w: np.ndarray, D: np.ndarray, loss: str) -> float:
    slack = np.maximum(0, 1 - D @ w)
    return float(LAM / 2 * w @ w + (slack**2 if loss == "squared_hinge" else slack).mean())


def linear_svc(X: np.ndarray, y: np.ndarray, query: np.ndarray, loss: str, tol: float) -> np.ndarray:
    from sklearn.svm import LinearSVC

    D = pairs_of(X, y, query)
    flip = np.where(np.arange(len(D)) % 2, 1, -1)
    peer = LinearSVC(C=1 / (LAM * len(D)), loss=loss, fit_intercept=False, dual=True, tol=tol, max_iter=20_000)
    return np.asarray(peer.fit(D * flip[:, None], flip).coef_[0])


def lib_rank_svm(X: np.ndarray, y: np.ndarray, query: np.ndarray, program: str) -> np.ndarray:
    """Squared hinge by LibRankSVM's Newton method (-s 8), through files."""
    with tempfile.TemporaryDirectory() as folder:
        text, model = Path(folder) / "data", Path(folder) / "model"
        rows = (" ".join(f"{i}:{v:.9g}" for i, v in enumerate(row, 1)) for row in X.tolist())
        text.write_text("".join(f"{a} qid:{q} {row}\n" for a, q, row in zip(y, query, rows, strict=True)))
        C = 1 / (LAM * len(pairs_of(X, y, query)))
        subprocess.run([program, "-s", "8", "-c", repr(C), "-e", "1e-4", text, model], check=True, capture_output=True)
        return np.array([float(line) for line in model.read_text().partition("\nw\n")[2].split()])


Row = tuple[str, str, str, float, float, float]
"""Data, problem, solver, milliseconds, gap, times ours."""


def rows_of(data: Data, problem: str, loss: str, ours: float, w: np.ndarray, documents: Any) -> Iterator[Row]:
    """Ours and the peers on the same documents."""
    D = pairs_of(*documents)
    best = RankSVM(lam=LAM, loss=loss, tol=1e-10).fit(*documents)
    least = objective(best.coef_, D, loss)

    def gap(weights: np.ndarray) -> float:
        value = objective(weights, D, loss)
        return max(0.0, (value - least) / value)

    yield data.name, problem, "qdrank, gap <= 1e-6", 1e3 * ours, gap(w), 1.0
    for tol in (0.1, 0.01):
        seconds, found = best_of(lambda tol=tol: linear_svc(*documents, loss, tol))
        yield data.name, problem, f"LinearSVC, tol {tol:g}", 1e3 * seconds, gap(found), seconds / ours
    program = os.environ.get("LIBRANKSVM")
    if program and loss == "squared_hinge":
        seconds, found = best_of(lambda: lib_rank_svm(*documents, program))
        yield data.name, problem, "LibRankSVM, with files", 1e3 * seconds, gap(found), seconds / ours


def compared(data: Data) -> Iterator[Row]:
    """Single with both losses, and local models."""
    whole = (data.X.astype(np.float64), data.y, data.query)
    for loss in ("squared_hinge", "hinge"):
        seconds, model = best_of(lambda loss=loss: RankSVM(lam=LAM, loss=loss).fit(*whole))
        yield from rows_of(data, f"Single, {loss.replace('_', ' ')}", loss, seconds, model.coef_, whole)
    k = min(K, len(data.place) // 2)
    apart = ((data.place[:, None] - data.place[None]) ** 2).sum(axis=2)
    near = np.argsort(apart, axis=1, kind="stable")[:256, :k]

    def trained() -> Any:
        ready = prepare(data.X, data.y, query_offsets(data.query))
        return train_block(prepare_training(ready, lam=LAM), near)

    seconds, models = best_of(trained)
    found = [
        list(
            rows_of(
                data,
                f"one of {len(near)} local models, k {k}",
                "squared_hinge",
                seconds / len(near),
                models.W[m],
                data.of(near[m]),
            )
        )
        for m in range(SAMPLE)
    ]
    for same in zip(*found, strict=True):  # of the sampled models: mean time and ratio, largest gap
        ms, gaps, ratio = (np.array([row[i] for row in same]) for i in (3, 4, 5))
        yield (*same[0][:3], float(ms.mean()), float(gaps.max()), float(ratio.mean()))


def table(rows: list[Row]) -> str:
    lines = ["| data | problem | solver | ms | gap | times ours |", "|---|---|---|---|---|---|"]
    lines += [f"| {a} | {b} | {c} | {ms:.3g} | {gap:.1e} | {ratio:.3g} |" for a, b, c, ms, gap, ratio in rows]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--output", type=Path, default=Path("benchmarks/peers.md"))
    output = parser.parse_args().output
    rows: list[Row] = []
    began = time.time()
    with one_thread():
        list(compared(generated("warm-up", 60, 6, 4, scales=0)))  # kernels are compiled or loaded
        for data in all_data():
            rows += compared(data)
            print(f"{data.name}: done after {time.time() - began:.0f} s", flush=True)
    text = f"{__doc__.partition(chr(10))[0]} {RUNS} runs each, lambda {LAM:g}.\n\n{table(rows)}"
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(text)
    print(f"\n{text}\nwritten to {output}")


if __name__ == "__main__":
    main()

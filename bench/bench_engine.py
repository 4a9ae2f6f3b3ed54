"""Speed and memory of the training engine, one thread, CPU time, ratios within one run.

python bench/bench_engine.py [--only NAME ...] [--plot scaling.png] [--quick]
python bench/bench_engine.py --against SOURCE   another version of the library (its folder src) and this one in turn

Each part runs in a process of its own, so that its peak memory is its own. The MQ2007 part reads the text files of the
mirror (QDRANK_MIRROR); all else is generated.
"""

from __future__ import annotations

import argparse
import lzma
import multiprocessing
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from qdrank.layout import query_offsets
from qdrank.learners.ranksvm.estimator import RankSVM
from qdrank.learners.ranksvm.kernels import one_thread
from qdrank.learners.ranksvm.local import (
    BLOCK,
    LocalModels,
    locality_order,
    make_blocks,
    prepare_training,
    train_local,
    train_sweep,
)
from qdrank.learners.ranksvm.preferences import Preferences, prepare

Row = tuple[str, str]


def cpu(work: Callable[[], Any], repeats: int = 1) -> tuple[float, Any]:
    """Least CPU seconds of some repeats, and the result."""
    best, result = np.inf, None
    for _ in range(repeats):
        start = time.process_time()
        result = work()
        best = min(best, time.process_time() - start)
    return best, result


def nearest(vectors: np.ndarray, rows: np.ndarray, k: int) -> np.ndarray:
    """The k nearest rows of ``vectors`` for some of them, nearest first, themselves included."""
    found = []
    for part in np.array_split(rows, max(1, len(rows) // 256)):
        distance = (vectors**2).sum(axis=1) - 2 * vectors[part] @ vectors.T
        near = np.argpartition(distance, k - 1, axis=1)[:, :k]
        order = np.argsort(np.take_along_axis(distance, near, axis=1), axis=1, kind="stable")
        found.append(np.take_along_axis(near, order, axis=1).astype(np.int32))
    return np.concatenate(found)


def mq2007(parts: tuple[int, ...] = (1, 2, 3)) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Training part of fold 1 of the MQ2007 sample: features, grades, offsets, query vectors (z-scored means)."""
    folder = Path(os.environ.get("QDRANK_MIRROR", "no-mirror")) / "letor4" / "MQ2007-partial"
    X, y, query = [], [], []
    for part in parts:
        with lzma.open(folder / f"S{part}.partial.txt.xz", "rt") as file:
            for line in file:
                grade, qid, *values = line.partition("#")[0].split()
                X.append([float(value.partition(":")[2]) for value in values])
                y.append(int(grade))
                query.append(qid)
    features, offsets = np.array(X, dtype=np.float32), query_offsets(np.array(query))
    means = np.array([_top_mean(features[a:b].astype(float)) for a, b in pairwise(offsets)])
    spread = means.std(axis=0)
    return features, np.array(y), offsets, (means - means.mean(axis=0)) / np.where(spread > 0, spread, 1)


def _top_mean(X: np.ndarray, top: int = 50, bm25: int = 36) -> np.ndarray:
    mean: np.ndarray = X[np.argsort(-X[:, bm25], kind="stable")[:top]].mean(axis=0)
    return mean


def generated(m: int, n: int, d: int, seed: int = 0, scales: float = 0.0) -> tuple[Preferences, np.ndarray]:
    """m queries of n documents with d features and five grades; the weights of a query depend on its place.

    With ``scales``, features are correlated: their hidden directions differ in scale by so many decades.
    """
    rng = np.random.default_rng(seed)
    place = rng.normal(size=(m, 8))
    weights = rng.normal(size=d) + 0.5 * place @ rng.normal(size=(8, d)) / np.sqrt(8)
    turns = [np.linalg.qr(np.random.default_rng(at).normal(size=(d, d)))[0] for at in (1, 2)]
    mix = (turns[0] * np.logspace(0, -scales, d) @ turns[1]).astype(np.float32)
    mix /= np.sqrt((mix**2).sum(axis=0))
    X, y = np.empty((m * n, d), dtype=np.float32), np.empty(m * n, dtype=np.int8)
    for q in range(m):
        rows = slice(q * n, (q + 1) * n)
        drawn = rng.standard_normal((n, d), dtype=np.float32)
        X[rows] = drawn @ mix if scales else drawn
        score = X[rows] @ weights[q] / np.sqrt(d) + 1.5 * rng.normal(size=n)
        y[rows] = np.searchsorted([0.5, 1.0, 1.8, 2.5], score)
    return prepare(X, y, np.arange(0, m * n + 1, n)), place


def gemm_rate(size: int = 1024) -> float:
    """GFLOP/s of a float32 matrix product."""
    A = np.random.default_rng(0).random((size, size), dtype=np.float32)
    return 2 * size**3 / cpu(lambda: A @ A, 5)[0] / 1e9


def gemm_share(data: Preferences, neighbours: np.ndarray, models: LocalModels, seconds: float) -> float:
    """Share of the GEMM rate that the training reached, counting the products alone: 4 n d per query and evaluation."""
    documents = np.diff(data.offsets)[neighbours].sum(axis=1)
    return float(4 * data.n_features * (documents * models.evaluations).sum() / seconds / 1e9 / gemm_rate())


def warm_up() -> None:
    """Compile, or load from the cache."""
    data, _ = generated(4, 8, 3)
    for X in (data.X, data.X.astype(float)):
        small = Preferences(X, data.offsets, data.lower, data.pairs)
        RankSVM().fit_preferences(small)
        RankSVM(loss="hinge").fit_preferences(small)
        train_local(prepare_training(small, lam=1e-7), np.array([[0, 1], [1, 2]]), [np.arange(2)])


def timed(data: Preferences, vectors: np.ndarray, k: int, rows: np.ndarray | None = None) -> Iterator[Row]:
    """TrainingBase, neighbours and training of the models of some rows (all, unless given)."""
    laying, base = cpu(lambda: prepare_training(data))
    order = locality_order(vectors, BLOCK) if rows is None else rows
    finding, found = cpu(lambda: nearest(vectors, order, k))
    neighbours = np.empty((len(vectors), k), dtype=np.int32)
    neighbours[order] = found
    seconds, models = cpu(lambda: train_local(base, neighbours, make_blocks(order, BLOCK)))
    yield "once: preconditioner, global model", f"{laying:.2f} s"
    yield "neighbours, per model", f"{finding / len(order) * 1e3:.2f} ms"
    yield "**per model**", f"**{seconds / len(order) * 1e3:.2f} ms** ({len(order)} models, k = {k})"
    yield "evaluations per model; largest certified gap", f"{models.evaluations.mean():.2f}; {models.gaps.max():.1e}"
    share = gemm_share(data, neighbours[order], models, seconds)
    yield "share of the GEMM rate (products alone)", f"{share:.0%} of {gemm_rate():.1f} GFLOP/s"


def part_mq2007() -> Iterator[Row]:
    """MQ2007 85 % sample, fold 1, k = 400"""
    X, y, offsets, vectors = mq2007()
    data, k = prepare(X, y, offsets), 400
    yield from timed(data, vectors, k)
    base, order = prepare_training(data), locality_order(vectors, BLOCK)
    neighbours = nearest(vectors, np.arange(len(vectors)), 800)
    models = train_local(base, neighbours[:, :k], make_blocks(order, BLOCK))
    yield "pairs per model", f"{models.pairs.mean():.0f}"
    ks = [800, 600, 400, 200, 100]
    swept, _ = cpu(lambda: train_sweep(base, neighbours, ks, make_blocks(order, BLOCK)))
    apart = sum(cpu(lambda k=k: train_local(base, neighbours[:, :k], make_blocks(order, BLOCK)))[0] for k in ks)
    yield f"sweep over k = {ks}, against each k alone", f"{swept:.2f} s, {apart:.2f} s"
    for loss in ("squared_hinge", "hinge"):
        spent, model = cpu(lambda loss=loss: RankSVM(loss=loss).fit_preferences(data))
        yield f"global model, {loss}", f"{spent * 1e3:.0f} ms, gap {model.gap_:.0e}"


def part_dataset1() -> Iterator[Row]:
    """Dataset-1 shape: 1,500 queries x 40 documents x 200 features, k = 400"""
    yield from timed(*generated(1500, 40, 200), 400)


def part_web30k() -> Iterator[Row]:
    """MSLR-WEB30K shape: 30,000 queries x 120 documents x 136 features, k = 800, a sample of 1,024 models"""
    start = time.process_time()
    data, vectors = generated(30_000, 120, 136)
    yield "generated and prepared", f"{time.process_time() - start:.0f} s, {data.X.nbytes / 2**30:.2f} GiB"
    rows = locality_order(vectors, BLOCK)[: 2 * BLOCK]
    yield from timed(data, vectors, 800, rows)


def part_scaling(plot: str | None = None, quick: bool = False) -> Iterator[Row]:
    """Cost per model against m, k, d and documents per query n; base m = 1,000, k = 400, d = 100, n = 40"""
    usual = {"m": 1000, "k": 400, "d": 100, "n": 40}
    grid = {"m": (500, 1000, 2000, 4000), "k": (100, 200, 400, 800), "d": (25, 50, 100, 200), "n": (20, 40, 80, 160)}
    if quick:
        usual = {"m": 60, "k": 20, "d": 6, "n": 8}
        grid = {"m": (40, 80), "k": (10, 20), "d": (3, 6), "n": (4, 8)}
    for scales in (0.0, 2.5):
        yield f"**{'scales of 2.5 decades' if scales else 'isotropic features'}**", ""
        curves = {}
        for name, values in grid.items():
            costs = np.array([_cost(**(usual | {name: value}), scales=scales) for value in values])
            curves[name] = (values, costs)
            yield _curve_row(name, values, costs)
    if plot:
        draw(curves, plot)


def _cost(m: int, k: int, d: int, n: int, scales: float) -> tuple[float, float]:
    """Milliseconds and evaluations a model, in a block of at most 256."""
    data, vectors = generated(m, n, d, scales=scales)
    rows = locality_order(vectors, 256)[:256]
    base, neighbours = prepare_training(data), nearest(vectors, rows, k)
    seconds, models = cpu(lambda: train_local(base, neighbours, [np.arange(len(rows))]), 2)
    return seconds / len(rows) * 1e3, float(models.evaluations.mean())


def _curve_row(name: str, values: tuple[int, ...], costs: np.ndarray) -> Row:
    power, per_evaluation = (
        np.polyfit(np.log(values), np.log(c), 1)[0] for c in (costs[:, 0], costs[:, 0] / costs[:, 1])
    )
    cells = ", ".join(f"{v}: {c:.2f}" for v, c in zip(values, costs[:, 0], strict=True))
    evaluations = ", ".join(f"{e:.1f}" for e in costs[:, 1])
    return (
        f"{name}: ms per model",
        f"{cells}; exponent **{power:.2f}** ({per_evaluation:.2f} per evaluation); {evaluations} evaluations",
    )


def draw(curves: dict[str, Any], path: str) -> None:
    """The four curves, log-log, in one row."""
    from matplotlib.figure import Figure

    names = {"m": "training queries m", "k": "neighbours k", "d": "features d", "n": "documents per query n"}
    figure = Figure(figsize=(10, 2.6), layout="constrained")
    for axes, (name, (values, costs)) in zip(figure.subplots(1, 4, sharey=True), curves.items(), strict=True):
        power, offset = np.polyfit(np.log(values), np.log(costs[:, 0]), 1)
        axes.loglog(values, costs[:, 0], "o", color="C0")
        axes.loglog(values, np.exp(offset) * np.array(values, dtype=float) ** power, "-", color="C0", lw=1)
        axes.set(xlabel=names[name], title=f"exponent {power:.2f}", xticks=values, xticklabels=[str(v) for v in values])
        axes.set_yticks([0.5, 1, 2, 5, 10], ["0.5", "1", "2", "5", "10"])
        axes.minorticks_off()
    figure.axes[0].set_ylabel("ms per model")
    figure.savefig(path, dpi=120)


def _worker(seconds: Any) -> None:
    with one_thread():
        data, vectors = generated(1000, 40, 50)
        base, rows = prepare_training(data), np.arange(1000)
        neighbours, blocks = nearest(vectors, rows, 400), make_blocks(rows, BLOCK)
        train_local(base, neighbours, blocks[:1])
        wall, start = time.perf_counter(), time.process_time()
        for _ in range(3):
            train_local(base, neighbours, blocks)
        seconds.put((time.perf_counter() - wall, time.process_time() - start))


def _run_workers(count: int) -> tuple[float, float]:
    """Longest wall time and CPU time of so many processes at once."""
    results: Any = multiprocessing.Queue()
    workers = [multiprocessing.Process(target=_worker, args=(results,)) for _ in range(count)]
    for worker in workers:
        worker.start()
    times = [results.get() for _ in workers]
    for worker in workers:
        worker.join()
    return max(t[0] for t in times), max(t[1] for t in times)


def part_processes() -> Iterator[Row]:
    """Two processes on two cores against one, same work each"""
    one, two = _run_workers(1), _run_workers(2)
    yield "gain by wall time (true only on an idle machine)", f"{2 * one[0] / two[0]:.2f}"
    yield "gain by CPU time (what memory and cache leave)", f"**{2 * one[1] / two[1]:.2f}**"


def part_compile() -> Iterator[Row]:
    """First call: compiled anew, and loaded from the cache by a new process"""
    code = "import time; t = time.process_time(); from bench_engine import warm_up; warm_up(); print(time.process_time() - t)"
    with tempfile.TemporaryDirectory() as cache:
        environment = os.environ | {"NUMBA_CACHE_DIR": cache}
        for name in ("compiled anew", "from the cache"):
            command = [sys.executable, "-c", code]
            run = subprocess.run(command, env=environment, cwd=Path(__file__).parent, capture_output=True, check=True)
            yield f"{name}, all kernels for float32 and float64", f"{float(run.stdout):.1f} s CPU (imports included)"


# queries, documents, features, neighbours; as many models of a block use a query as in the whole set
TURNS = {"NFCorpus block": (1300, 69, 30, 465), "WEB30K shape": (3000, 120, 136, 80), "d = 200": (1500, 40, 200, 400)}


def turn(name: str) -> Iterator[float]:
    """CPU milliseconds a model of one block, a few times."""
    if name == "MQ2007 sample":
        X, y, offsets, vectors = mq2007()
        data, k = prepare(X, y, offsets), 400
    else:
        m, n, d, k = TURNS[name]
        data, vectors = generated(m, n, d)
    rows = locality_order(vectors, BLOCK)[:BLOCK]
    base, neighbours = prepare_training(data), nearest(vectors, rows, k)
    train_local(base, neighbours, [np.arange(len(rows))])
    for _ in range(3):
        yield cpu(lambda: train_local(base, neighbours, [np.arange(len(rows))]))[0] / len(rows) * 1e3


def in_turn(source: str, name: str, turns: int = 3) -> Row:
    """CPU time a model of the library in ``source`` and of this one: medians of processes that take turns."""
    here, times = str(Path(__file__).parents[1] / "src"), {}
    for _ in range(turns):
        for path in (source, here):
            command = [sys.executable, __file__, "--turn", name]
            run = subprocess.run(command, env=os.environ | {"PYTHONPATH": path}, capture_output=True, check=True)
            times.setdefault(path, []).extend(map(float, run.stdout.split()))
    old, new = np.median(times[source]), np.median(times[here])
    return name, f"{old:.3f} ms became {new:.3f} ms: **{new / old:.2f}**"


PARTS = {name[5:]: part for name, part in list(globals().items()) if name.startswith("part_")}


def _run(name: str, plot: str | None, quick: bool) -> None:
    with one_thread():
        warm_up()
        print(f"\n### {name}: {PARTS[name].__doc__}\n\n| | |\n|---|---|", flush=True)
        for label, value in PARTS[name](plot, quick) if name == "scaling" else PARTS[name]():
            print(f"| {label} | {value} |", flush=True)
    print(f"| peak memory of the process | {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.2f} GiB |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--plot", help="where to draw the scaling curves")
    parser.add_argument("--quick", action="store_true", help="scaling on data so small that it shows only that it runs")
    parser.add_argument(
        "--against", metavar="SOURCE", help="folder src of another version, which takes turns with this one"
    )
    parser.add_argument("--turn", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.turn:
        with one_thread():
            print(*turn(options.turn))
        return
    if options.against:
        if not (Path(options.against) / "qdrank").is_dir():
            parser.error(f"--against {options.against}: no library there; give the folder src of a checkout")
        for name in ("MQ2007 sample", *TURNS):
            print("| {} | {} |".format(*in_turn(options.against, name)), flush=True)
        return
    context = multiprocessing.get_context("spawn")
    for name in options.only:
        process = context.Process(target=_run, args=(name, options.plot, options.quick))
        process.start()
        process.join()
        if process.exitcode:
            sys.exit(process.exitcode)


if __name__ == "__main__":
    main()

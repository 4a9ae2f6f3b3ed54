"""Time to serve one query: Table 1 of Geng 2008 measured, step by step, p50 and p99 over queries, as ratios to Single.

OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python tests/benchmarks/bench_latency.py

Data are simulated in the shape of MQ2007's 85 % sample and of the paper's Dataset 1; weights are random, since time does
not depend on them. Times are CPU time of the thread; methods take turns, query by query, so that ratios hold on a busy
machine. Document features are in memory, the scores are sorted.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from qdrank.datasets.judged import Judged
from qdrank.datasets.letor.features import column_moments
from qdrank.datasets.simulated.features import REFERENCE, Simulated, simulate
from qdrank.groups import pair_counts
from qdrank.learners.ranksvm.local import prepare_training
from qdrank.queries.neighbours import neighbours
from qdrank.queries.vectors import Standardiser
from qdrank.rankers.documents import FoldDocuments
from qdrank.rankers.sizes import Setting
from qdrank.serving.lookup import Offline1, Offline2, TrainingSpace
from qdrank.serving.online import OnlineRanker
from qdrank.serving.pack import Packed, Terms
from qdrank.serving.ranker import Ranker, ranker_of

#: Training queries, features, documents of a query, k.
SHAPES = {
    "MQ2007 85 % sample": (865, 46, (30, 52), 234),
    "Dataset 1": (1500, 200, (30, 50), 400),
    "Dataset 1, 1,000 documents a query": (1500, 200, (1000, 1000), 400),
}
QUERIES, ROUNDS = 200, 5
#: Queries for which KNN Online trains a model: the true one, to a certified gap of 1e-6.
TRAINED = 40
Step = Callable[[], Any]


def packed(data: Simulated, m: int, k: int) -> Packed:
    """Rankers with random weights."""
    offsets = data.offsets[: m + 1]
    d, n = data.X.shape[1], offsets[-1]
    chosen = {"single": Setting(m, 0.01), "offline1": Setting(k, 0.01), "offline2": Setting(k, 0.01)}
    terms = Terms(
        n_features=d,
        missing=False,
        minmax=False,
        reference=REFERENCE,
        top=50,
        pooling="mean",
        view="given",
        scale="zscore",
        own_columns=0,
        metric="euclidean",
        largest=m,
        choice="shared_pairs",
        chosen=chosen,
    )
    raw = terms.pooled(data.X[:n], offsets)
    scaler = Standardiser().fit(raw)
    vectors, rng = scaler.transform(raw), np.random.default_rng(0)
    ids = data.query_id[:m].astype(object)
    return Packed(
        terms=terms,
        fill=np.zeros(d),
        mean=scaler.mean_,
        deviation=scaler.scale_,
        map=np.zeros((0, 0)),
        train_id=ids,
        vectors=vectors,
        pairs=pair_counts(data.y[:n], offsets),
        neighbours=neighbours(vectors, vectors, k, own=np.arange(m), ids=ids).rows,
        weights={"single": rng.standard_normal(d)} | {f"offline{i}": rng.standard_normal((m, d)) for i in (1, 2)},
    )


def online(data: Simulated, rankers: Packed, m: int, k: int) -> OnlineRanker:
    """KNN Online on the training queries."""
    end = data.offsets[m]
    names = (data.query_id[:m].astype(object), data.query_part[:m].astype(object))
    train = Judged(*names, data.offsets[: m + 1], data.document[:end].astype(object), data.y[:end], data.X[:end])
    mean, deviation = column_moments(train.X)
    documents = FoldDocuments({"train": train}, mean, 1 / deviation)
    base = prepare_training(documents.preferences())
    base.bank.kept(np.arange(m))
    return OnlineRanker(
        method="online",
        setting=Setting(k, 0.01),
        packed=rankers,
        weights=np.zeros((0, train.X.shape[1])),
        space=TrainingSpace(rankers.vectors, rankers.train_id, rankers.metric()),
        documents=documents,
        base=base,
        tol=1e-6,
    )


def timed(step: Step) -> tuple[float, Any]:
    start = time.thread_time_ns()
    result = step()
    return (time.thread_time_ns() - start) / 1000, result


def one_query(rankers: dict[str, Ranker], X: Any) -> Iterator[tuple[str, float]]:
    """Microseconds of every step of one query, then of every method as a whole."""
    first, second = rankers["offline1"].find, rankers["offline2"].find
    assert isinstance(first, Offline1)
    assert isinstance(second, Offline2)
    took, vectors = timed(lambda: rankers["offline1"].query_vectors(X, np.array([0, len(X)])))
    yield "query vector", took
    point = first.space.point(vectors[0])
    took, own = timed(lambda: first.space.neighbourhood(point, first.neighbourhoods.k))
    yield "k nearest (Offline-1)", took
    yield "find the offline model (Offline-1)", timed(lambda: first.best(point, own))[0]
    yield "the nearest (Offline-2)", timed(lambda: second.space.nearest(point))[0]
    for name, ranker in rankers.items():
        yield f"all of {name}", timed(lambda ranker=ranker: np.argsort(-ranker.score(X), kind="stable"))[0]


def measure(name: str, m: int, d: int, documents: tuple[int, int], k: int) -> None:
    data = simulate("sim1", 1, train=m, vali=0, test=QUERIES, features=d, documents=documents)
    ready = packed(data, m, k)
    rankers = {method: ranker_of(ready, method) for method in ("single", "offline1", "offline2")}
    trains = online(data, ready, m, k)
    queries = [data.X[a:b] for a, b in zip(data.offsets[m:-1], data.offsets[m + 1 :], strict=True)]
    found: dict[str, list[float]] = {}
    list(one_query(rankers, queries[0]))  # compiled, and in the cache
    for X in queries * ROUNDS:
        for step, took in one_query(rankers, X):
            found.setdefault(step, []).append(took)
    trains.score(queries[0])
    found["all of online"] = [timed(lambda X=X: trains.score(X))[0] for X in queries[:TRAINED]]
    print(f"\n{name}: {m} training queries, {d} features, {documents[0]} to {documents[1]} documents, k = {k}\n")
    print("| step | p50 | p99 | p50 relative to Single |\n|---|---|---|---|")
    single = np.median(found["all of single"])
    for step, times in found.items():
        p50, p99 = np.percentile(times, [50, 99])
        print(f"| {step} | {p50:.0f} us | {p99:.0f} us | {p50 / single:.1f} |", flush=True)


def main() -> None:
    for name, shape in SHAPES.items():
        measure(name, *shape)


if __name__ == "__main__":
    main()

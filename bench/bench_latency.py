"""Time to serve one query: Table 1 of Geng 2008 measured, step by step, p50 and p99 over queries, as ratios to Single.

OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python bench/bench_latency.py

Data are simulated in the shape of MQ2007's 85 % sample and of the paper's Dataset 1; weights are random, since time does
not depend on them. Times are CPU time of the thread; methods take turns, query by query, so that ratios hold on a busy
machine. Document features are in memory, the scores are sorted.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from qdrank.datasets.judged import Judged
from qdrank.datasets.scaling import column_moments
from qdrank.datasets.simulated.features import REFERENCE, Simulated, simulate
from qdrank.queries.neighbours import neighbours
from qdrank.queries.recipe import DocumentVectors
from qdrank.queries.vectors import Standardiser
from qdrank.rankers.base import QueryRanker
from qdrank.rankers.documents import FoldDocuments
from qdrank.rankers.local_ranker import ReadyModels
from qdrank.rankers.one_model import LinearRanker
from qdrank.rankers.served import ServedRanker
from qdrank.studies.geng2008.rankers import OnlineRanker

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


def rankers_of(data: Simulated, m: int, k: int) -> dict[str, ServedRanker]:
    """Single and the offline methods with random weights, and KNN Online."""
    end, d, rng = data.offsets[m], data.X.shape[1], np.random.default_rng(0)
    names = (data.query_id[:m].astype(object), data.query_part[:m].astype(object))
    train = Judged(*names, data.offsets[: m + 1], data.document[:end].astype(object), data.y[:end], data.X[:end])
    recipe = DocumentVectors(
        reference=REFERENCE,
        top=50,
        pooling="mean",
        view="given",
        missing=False,
        own_columns=0,
        standardise=True,
        mean=np.zeros(d),
        deviation=np.ones(d),
    )
    scaler = Standardiser().fit(recipe.pooled(train.X, train.offsets))
    recipe = replace(recipe, mean=scaler.mean_, deviation=scaler.scale_)
    vectors, ids = recipe.vectors(train.X, train.offsets), train.query_id
    mean, deviation = column_moments(train.X)
    single = LinearRanker()
    single.coef_ = rng.standard_normal(d)
    offline1, offline2 = ReadyModels(k=k), ReadyModels(k=k, choice="nearest")
    near = neighbours(vectors, vectors, k, train_index=np.arange(m), ids=ids).rows
    online = OnlineRanker(k=k, mean=mean, inverse=1 / deviation)
    for ranker in (offline1, offline2, online):
        ranker.vectors_, ranker.query_id_, ranker.map_ = vectors, ids, np.zeros((0, 0))
    for ranker in (offline1, offline2):
        ranker.weights_, ranker.neighbours_, ranker.pairs_ = rng.standard_normal((m, d)), near, train.pairs
    online.remember(train, vectors)
    view = FoldDocuments({"train": train}, np.zeros(d), np.ones(d)).view()
    made: dict[str, QueryRanker] = {"single": single, "offline1": offline1, "offline2": offline2, "online": online}
    return {
        name: ServedRanker(
            method=name, fold="fold1", documents=view, queries=None if ranker is single else recipe, ranker=ranker
        )
        for name, ranker in made.items()
    }


def timed(step: Step) -> tuple[float, Any]:
    start = time.thread_time_ns()
    result = step()
    return (time.thread_time_ns() - start) / 1000, result


def one_query(rankers: dict[str, ServedRanker], X: Any) -> Iterator[tuple[str, float]]:
    """Microseconds of every step of one query, then of every method as a whole."""
    took, vectors = timed(lambda: rankers["offline1"].query_vectors(X, np.array([0, len(X)])))
    yield "query vector", took
    for name in ("offline1", "offline2"):
        ready = rankers[name].ranker
        assert isinstance(ready, ReadyModels)
        yield f"find the model of {name}", timed(lambda ready=ready: ready.models(vectors))[0]
    for name, ranker in rankers.items():
        yield f"all of {name}", timed(lambda ranker=ranker: np.argsort(-ranker.score(X), kind="stable"))[0]


def measure(name: str, m: int, d: int, documents: tuple[int, int], k: int) -> None:
    data = simulate("sim1", 1, train=m, vali=0, test=QUERIES, features=d, documents=documents)
    rankers = rankers_of(data, m, k)
    trains = rankers.pop("online")
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

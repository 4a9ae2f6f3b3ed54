"""Published figures against ours, and training times: ``bench_learners.py [mq2008] [ohsumed] [ohsumed-letor2] [mq2007-agg] [times]``.

Needs the data mirror (QDRANK_MIRROR); set OPENBLAS_NUM_THREADS=1 for the times of one core. Every learner is tuned on validation by mean average precision.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from qdrank.datasets.judged import Judged
from qdrank.datasets.letor import load_letor
from qdrank.evaluation.published import compare_published, load_expected
from qdrank.evaluation.values import FoldMeans, fold_means
from qdrank.learners import AGGREGATORS, LEARNERS, tune
from qdrank.measures import CONVENTIONS
from qdrank.measures.compute import measure
from qdrank.rankers.methods import GRIDS

PROJECT = Path(__file__).resolve().parents[1]
MIRROR = Path(os.environ.get("QDRANK_MIRROR", "no-mirror"))
FILES = {
    "mq2008": "letor4/MQ2008/S{}.txt.xz",
    "ohsumed": "ohsumed-letor/QueryLevelNorm/S{}.txt.xz",
    "ohsumed-letor2": "ohsumed-letor/letor2/S{}.txt.xz",
    "mq2007-agg": "letor4/MQ2007-agg/A{}.txt.xz",
    "mq2007-sample": "letor4/MQ2007-partial/S{}.partial.txt.xz",
}


def load(dataset: str) -> Judged:
    paths = [MIRROR / FILES[dataset].format(i) for i in range(1, 6)]
    parts = [load_letor(path, part=f"S{i}", missing=dataset.endswith("agg")) for i, path in enumerate(paths, start=1)]
    ends = np.cumsum([0] + [part.n_documents for part in parts])
    data = Judged(
        query_id=np.concatenate([part.query_id for part in parts]),
        part=np.concatenate([part.part for part in parts]),
        offsets=np.concatenate([[0], *(end + part.offsets[1:] for end, part in zip(ends, parts, strict=False))]),
        doc_id=np.concatenate([part.doc_id for part in parts]),
        y=np.concatenate([part.y for part in parts]),
        X=np.concatenate([part.X for part in parts]),
    )
    return data.with_features(scaled(data)) if dataset == "ohsumed-letor2" else data


def scaled(data: Judged) -> np.ndarray:
    """Features scaled to [0, 1] within each query, as LETOR does since 3.0."""
    low = np.minimum.reduceat(data.X, data.offsets[:-1])[data.query_index]
    width = np.maximum.reduceat(data.X, data.offsets[:-1])[data.query_index] - low
    return np.divide(data.X - low, width, out=np.zeros_like(data.X), where=width > 0)


def triple(data: Judged, fold: str, role: str) -> tuple[Any, Any, Any]:
    part = data.of_role(fold, role)
    return part.X, part.y, part.query


def five_folds(data: Judged, name: str, grid: Mapping[str, Any], measures: tuple[str, ...]) -> dict[str, FoldMeans]:
    values, folds = [], []
    for fold in data.folds:
        choice = tune(name, grid, triple(data, fold, "train"), triple(data, fold, "vali"))
        test = data.of_role(fold, "test")
        values.append(measure(measures, test.y, choice.chosen.predict(test.X, test.query), test.offsets))
        folds += [fold] * test.n_queries
    return {m: fold_means(np.concatenate([v[m] for v in values]), np.array(folds)) for m in measures}


def figures(dataset: str) -> None:
    data, expected = load(dataset), load_expected(PROJECT / "resources" / "expected" / f"{dataset}.yaml")
    measures = CONVENTIONS[expected.convention]
    runs: dict[str, tuple[str, Mapping[str, Any]]]
    if dataset.endswith("agg"):
        runs = {name: (name, GRIDS[name]) for name in AGGREGATORS}
        runs |= {f"{name}-high": (name, GRIDS[name] | {"best": ["high"]}) for name in AGGREGATORS}
    else:
        runs = {name: (name, grid) for name, grid in GRIDS.items() if name not in AGGREGATORS}
    measured = {}
    print(f"\n## {dataset}: five folds\n\n| method | {' | '.join(SHOWN)} | MAP per fold | seconds |\n{'|---' * 8}|")
    for method, (name, grid) in runs.items():
        start = time.perf_counter()
        measured[method] = five_folds(data, name, grid, measures)
        show(method, measured[method], expected.convention, time.perf_counter() - start)
    rows = compare_published(expected, measured, queries=data.n_queries, documents=data.n_documents)
    print(
        f"\n## {dataset}: published against ours\n\n| method | measure | fold | published | ours | difference |", end=""
    )
    print(f" verdict | source |\n{'|---' * 8}|")
    for row in rows:
        print(
            "| {method} | {measure} | {fold} | {published:.4f} | {ours:.4f} | {difference:+.4f} | {verdict} "
            "| {source} ({certainty}) |".format(**row)
        )


SHOWN = ("MAP", "NDCG@1", "NDCG@5", "NDCG@10", "P@1")


def show(method: str, means: dict[str, FoldMeans], convention: str, seconds: float) -> None:
    names = ["ap", *(f"{name}/{convention}" for name in ("ndcg@1", "ndcg@5", "ndcg@10", "p@1"))]
    cells = " | ".join(f"{means[name].published:.4f}" for name in names)
    folds = " ".join(f"{value:.4f}" for value in means["ap"].folds.values())
    print(f"| {method} | {cells} | {folds} | {seconds:.1f} |", flush=True)


def times() -> None:
    data = load("mq2007-sample")
    train, vali = triple(data, "fold1", "train"), triple(data, "fold1", "vali")
    print(f"\n## Training on {len(train[1])} documents of MQ2007, fold 1, rounds chosen on validation\n")
    print("| learner | first fit, s | again, s |\n|---|---|---|")
    for name in LEARNERS.keys() - AGGREGATORS:
        seconds = []
        for _ in range(2):
            start = time.perf_counter()
            tune(name, {}, train, vali)
            seconds.append(time.perf_counter() - start)
        print(f"| {name} | {seconds[0]:.2f} | {seconds[1]:.2f} |", flush=True)


def main() -> None:
    for wanted in sys.argv[1:] or ["mq2008", "ohsumed", "ohsumed-letor2", "mq2007-agg", "times"]:
        times() if wanted == "times" else figures(wanted)


if __name__ == "__main__":
    main()

"""What is trained for a fold, in units divided among shards: clusterings of one kind, seed and number of clusters."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from qdrank.datasets.columns import reference_column
from qdrank.errors import InputError
from qdrank.layout import FloatArray
from qdrank.learners.ranksvm.estimator import Model
from qdrank.learners.ranksvm.kernels import one_thread
from qdrank.rankers.documents import FeatureScale, FoldDocuments, load_fold
from qdrank.store import read, write
from qdrank.store.lists import joined, no_rows
from qdrank.studies.lin2011.bank import ALL_QUERIES, HALVES, Key, cluster_sizes_table, models_table
from qdrank.studies.lin2011.clusters import (
    PAIRS,
    TRANSFORMED,
    Clustering,
    cluster,
    query_items,
    relevant_items,
    shuffled,
)
from qdrank.studies.lin2011.options import Readings
from qdrank.studies.lin2011.representations import standardised_rows, transformed
from qdrank.studies.lin2011.shapes import CLUSTER_MODELS_SHAPE, CLUSTERS_SHAPE
from qdrank.studies.lin2011.singles import load_singles
from qdrank.studies.lin2011.training import Trainer, seen_rows


@dataclass(frozen=True)
class ClusterPlan:
    """What a fold trains.

    Attributes
    ----------
    ms : numbers of clusters
    seeds : numbers of the K-means runs
    starts : of each run, of which the best is kept
    base : seed of the study
    random : whether clusters are also drawn at random
    """

    ms: Sequence[int]
    seeds: Sequence[int]
    readings: Readings
    base: int = 1
    random: bool = True
    starts: int = 1


Unit = Key
"""A clustering of K-means; its random clusters go with it."""


def units(plan: ClusterPlan) -> list[Unit]:
    """All units of a fold, which do not depend on each other; those that take as long stand together, for even shards.

    Clusters of documents take longer than clusters of queries, and many clusters longer than few.
    """
    return [Key(scheme, seed, m) for scheme in (PAIRS, TRANSFORMED) for m in plan.ms for seed in plan.seeds]


def shard_units(plan: ClusterPlan, shard: int, n_shards: int) -> list[Unit]:
    """Units of shard number ``shard`` (from 0), dealt out in turn."""
    if not 0 <= shard < n_shards:
        raise InputError(f"there is no shard {shard} among {n_shards}")
    return units(plan)[shard::n_shards]


def halves(n_queries: int, base: int) -> NDArray[np.bool_]:
    """Which training queries are in the first half; models of one half give precisions on queries they did not see."""
    order = np.random.default_rng([base, n_queries]).permutation(n_queries)
    return np.asarray(order % 2 == 0)


class Workshop:
    """Clusters and trains the units of a fold.

    Parameters
    ----------
    documents : documents of the fold
    reference : column of the base model's score (BM25), counted from 0
    singles : global model by lambda of the local models
    chosen : (n_features,) weights of the Ranking SVM that validation chose, on the learner's scale
    """

    def __init__(
        self,
        documents: FoldDocuments,
        reference: int,
        singles: Mapping[float, Model],
        chosen: FloatArray,
        plan: ClusterPlan,
        *,
        tol: float = 1e-6,
    ) -> None:
        self.documents, self.plan = documents, plan
        self.train = documents.parts["train"]
        self.trainer = Trainer(documents, singles, chosen, tol=tol)
        self.vectors = seen_rows(documents, self.train).astype(np.float64)
        self.base = self.train.X[:, reference].astype(np.float64)
        self.single = self.vectors @ chosen

    def run(
        self, wanted: Sequence[Unit], log: Callable[[str], object] = lambda _: None, *, only: str | None = None
    ) -> tuple[pa.Table, pa.Table]:
        """The artifacts ``clusters`` and ``cluster_models`` of some units; ``only``: of this one of their schemes."""
        # What a shard without work writes.
        clusters = [no_rows(CLUSTERS_SHAPE)]
        models = [no_rows(CLUSTER_MODELS_SHAPE, weights=self.train.X.shape[1])]
        with one_thread():
            for unit in wanted:
                for clustering in self.clusterings(unit):
                    if only not in (None, clustering.scheme):
                        continue
                    log(f"{clustering.scheme}, seed {unit.seed}, {unit.m} clusters")
                    clusters.append(cluster_sizes_table(clustering, self.train.query_id))
                    models += self._trained(clustering)
        return joined(clusters), joined(models)

    def clusterings(self, unit: Unit) -> Iterator[Clustering]:
        """Every clustering of a unit."""
        scheme, seed, m = unit
        items = relevant_items(self.train, self.vectors) if scheme == PAIRS else query_items(self._points())
        clustering = cluster(scheme, items, m, seed=seed, base=self.plan.base, starts=self.plan.starts)
        yield clustering
        if self.plan.random:
            yield shuffled(clustering, base=self.plan.base)

    def _points(self) -> FloatArray:
        points = transformed(self.base, self.single, self.train.offsets, self.plan.readings)
        return standardised_rows(points)[0]

    def _trained(self, clustering: Clustering) -> Iterator[pa.Table]:
        key = Key(clustering.scheme, clustering.seed, clustering.m)
        subsets: dict[str, NDArray[np.bool_] | None] = {ALL_QUERIES: None}
        if self.plan.readings.confidence_from == "inner" and clustering.scheme.startswith(PAIRS):
            first = halves(self.train.n_queries, self.plan.base)
            subsets |= {HALVES[0]: ~first, HALVES[1]: first}
        for trained_on, only in subsets.items():
            for lam, models in self.trainer.fit(clustering, self.plan.readings.training_set, only).items():
                yield models_table(key, trained_on, lam, models, self.documents.stored(models.W))


def train_units(
    files: Mapping[str, str],
    out: Mapping[str, str],
    fold: str,
    shard: tuple[int, int],
    *,
    lambdas: Sequence[float],
    readings: Mapping[str, Any],
    plan: Mapping[str, Any],
    scale: FeatureScale,
    tol: float,
    log: Callable[[str], object],
) -> None:
    """Write one shard of the clusters of a fold and their models; ``shard`` is its number, from 0, and how many there are.

    ``plan`` holds attributes of `ClusterPlan`.
    """
    documents = load_fold(files["judged"], fold, scale, wanted=["train"])
    singles = load_singles(read(files["singles"], "models"), documents)
    wanted = ClusterPlan(readings=Readings(**readings), **plan)
    models = {lam: singles.models[lam] for lam in lambdas}
    workshop = Workshop(documents, reference_column(files["columns"]), models, singles.weights, wanted, tol=tol)
    clusters, trained = workshop.run(shard_units(wanted, *shard), log)
    write(out["clusters"], CLUSTERS_SHAPE, clusters)
    write(out["models"], CLUSTER_MODELS_SHAPE, trained)

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
from qdrank.layout import FloatArray, IntArray, rows_of_queries
from qdrank.learners.ranksvm.estimator import Model
from qdrank.learners.ranksvm.kernels import one_thread
from qdrank.measures.matrix_kernels import ap_matrix
from qdrank.rankers.documents import FeatureScale, FoldDocuments, load_fold
from qdrank.store import read, write
from qdrank.store.lists import joined, no_rows
from qdrank.studies.lin2011.bank import Clustered, Key, clusters_table
from qdrank.studies.lin2011.clusters import (
    PAIRS,
    TRANSFORMED,
    Clustering,
    cluster,
    query_items,
    relevant_items,
    shuffled,
)
from qdrank.studies.lin2011.fold import role_of
from qdrank.studies.lin2011.options import Readings
from qdrank.studies.lin2011.representations import standardised_rows
from qdrank.studies.lin2011.scores import distributions, divergences
from qdrank.studies.lin2011.shapes import CLUSTERS_SHAPE
from qdrank.studies.lin2011.singles import load_singles
from qdrank.studies.lin2011.training import Trainer
from qdrank.studies.lin2011.weights import median_distance


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
        self.trainer = Trainer(documents, singles, chosen, tol=tol)
        self.role = role_of(documents.parts["train"], documents, reference, documents.stored(chosen), plan.readings)

    def run(
        self, wanted: Sequence[Unit], log: Callable[[str], object] = lambda _: None, *, only: str | None = None
    ) -> pa.Table:
        """The artifact ``clusters`` of some units; ``only``: of this one of their schemes."""
        tables = [no_rows(CLUSTERS_SHAPE, weights=self.role.X.shape[1])]  # what a shard without work writes
        with one_thread():
            for unit in wanted:
                for clustering in self.clusterings(unit):
                    if only in (None, clustering.scheme):
                        log(f"{clustering.scheme}, seed {unit.seed}, {unit.m} clusters")
                        tables += self._trained(clustering)
        return joined(tables)

    def clusterings(self, unit: Unit) -> Iterator[Clustering]:
        """Every clustering of a unit."""
        (scheme, seed, m), role = unit, self.role
        items = (
            relevant_items(role.part, role.vectors) if scheme == PAIRS else query_items(*standardised_rows(role.points))
        )
        clustering = cluster(scheme, items, m, seed=seed, base=self.plan.base, starts=self.plan.starts)
        yield clustering
        if self.plan.random:
            yield shuffled(clustering, base=self.plan.base)

    def _trained(self, clustering: Clustering) -> Iterator[pa.Table]:
        key, readings = Key(clustering.scheme, clustering.seed, clustering.m), self.plan.readings
        of_pairs = clustering.scheme.startswith(PAIRS)
        first = halves(self.role.part.n_queries, self.plan.base)
        apart = [~first, first] if of_pairs and readings.confidence_from == "inner" else []
        of_halves = [self.trainer.fit(clustering, readings.training_set, only) for only in apart]
        queries = np.bincount(clustering.touched[1], minlength=key.m)
        for lam, models in self.trainer.fit(clustering, readings.training_set).items():
            W = self.documents.stored(models.W)
            if of_pairs:
                inner = [self.documents.stored(one[lam].W) for one in of_halves]
                known: tuple[Any, ...] = (0.0, *self._members(clustering, W, inner))
            else:
                width = median_distance(clustering.items.vectors, clustering.centres, clustering.label)
                known = (width, np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros(0))
            yield clusters_table(key, lam, Clustered(W, clustering.centres, *known), models, queries)

    def _members(
        self, clustering: Clustering, W: FloatArray, inner: Sequence[FloatArray]
    ) -> tuple[IntArray, FloatArray, FloatArray]:
        """Cluster, divergence and precision of the training queries of the clusters; ``inner`` are models without a half."""
        readings, role = self.plan.readings, self.role
        query, cluster = clustering.members(readings.membership)
        rows, bounds = rows_of_queries(role.offsets, query)
        member = np.repeat(np.arange(len(query)), np.diff(bounds))
        scores = np.einsum("nf,nf->n", role.X[rows], W[cluster][member])
        P, base = (distributions(s, bounds, readings.distribution) for s in (scores, role.base[rows]))
        delta = divergences(P[None], base, bounds, readings.divergence)[0]
        if inner:
            left_out = np.where(halves(role.part.n_queries, self.plan.base)[query], 0, 1)
            scores = np.einsum("nf,nf->n", role.X[rows], np.stack(inner)[left_out, cluster][member])
        ap = ap_matrix(np.ascontiguousarray(scores[None]), role.part.y[rows] > 0, bounds)[0]
        return cluster, delta, ap * role.retrieved_share[query]


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
    write(out["clusters"], CLUSTERS_SHAPE, workshop.run(shard_units(wanted, *shard), log))

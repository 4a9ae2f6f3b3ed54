"""What is trained for a fold, in units divided among shards: clusterings of one kind, seed and number of clusters."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from qdrank.datasets.columns import reference_column
from qdrank.layout import FloatArray, IntArray, rows_of_queries
from qdrank.learners.ranksvm.estimator import Model
from qdrank.learners.ranksvm.kernels import one_thread
from qdrank.measures.matrix_kernels import ap_matrix
from qdrank.rankers.documents import FeatureScale, FoldDocuments, load_fold
from qdrank.store import read, write
from qdrank.store.tables import joined, no_rows
from qdrank.studies.lin2011.bank import CLUSTERS_SHAPE, Clustered, Key, clusters_table
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
from qdrank.studies.lin2011.methods import Readings
from qdrank.studies.lin2011.singles import load_singles
from qdrank.studies.lin2011.training import Trainer
from qdrank.studies.lin2011.weights import distributions, divergences, median_distance, standardised_rows


def units(ms: Sequence[int], seeds: Sequence[int]) -> list[Key]:
    """The clusterings of K-means of a fold, which do not depend on each other; random clusters go with them.

    Those that take as long stand together, for even shards: clusters of documents take longer than clusters of queries, and
    many clusters longer than few.
    """
    return [Key(scheme, seed, m) for scheme in (PAIRS, TRANSFORMED) for m in ms for seed in seeds]


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
    base : seed of the study
    random : whether clusters are also drawn at random
    starts : of K-means, of which the best is kept
    """

    def __init__(
        self,
        documents: FoldDocuments,
        reference: int,
        singles: Mapping[float, Model],
        chosen: FloatArray,
        readings: Readings,
        *,
        base: int = 1,
        random: bool = True,
        starts: int = 1,
        tol: float = 1e-6,
    ) -> None:
        self.documents, self.readings, self.base, self.random, self.starts = documents, readings, base, random, starts
        self.trainer = Trainer(documents, singles, chosen, tol=tol)
        self.role = role_of(documents.parts["train"], documents, reference, documents.stored(chosen), readings)

    def run(
        self, wanted: Sequence[Key], log: Callable[[str], object] = lambda _: None, *, only: str | None = None
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

    def clusterings(self, unit: Key) -> Iterator[Clustering]:
        """Every clustering of a unit."""
        (scheme, seed, m), role = unit, self.role
        items = (
            relevant_items(role.part, role.vectors) if scheme == PAIRS else query_items(*standardised_rows(role.points))
        )
        clustering = cluster(scheme, items, m, seed=seed, base=self.base, starts=self.starts)
        yield clustering
        if self.random:
            yield shuffled(clustering, base=self.base)

    def _trained(self, clustering: Clustering) -> Iterator[pa.Table]:
        key, readings = Key(clustering.scheme, clustering.seed, clustering.m), self.readings
        of_pairs = clustering.scheme.startswith(PAIRS)
        first = halves(self.role.part.n_queries, self.base)
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
        readings, role = self.readings, self.role
        query, cluster = clustering.members(readings.membership)
        rows, bounds = rows_of_queries(role.offsets, query)
        member = np.repeat(np.arange(len(query)), np.diff(bounds))
        scores = np.einsum("nf,nf->n", role.X[rows], W[cluster][member])
        P, base = (distributions(s, bounds, readings.distribution) for s in (scores, role.base[rows]))
        delta = divergences(P[None], base, bounds, readings.divergence)[0]
        if inner:
            left_out = np.where(halves(role.part.n_queries, self.base)[query], 0, 1)
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
    ms: Sequence[int],
    seeds: Sequence[int],
    base: int,
    random: bool,
    starts: int,
    scale: FeatureScale,
    tol: float,
    log: Callable[[str], object],
) -> None:
    """Write one shard of the clusters of a fold and their models; ``shard`` is its number, from 0, and how many there are."""
    documents = load_fold(files["judged"], fold, scale, wanted=["train"])
    singles = load_singles(read(files["singles"], "models"), documents)
    models, reference = {lam: singles.models[lam] for lam in lambdas}, reference_column(files["columns"])
    given: dict[str, Any] = {"base": base, "random": random, "starts": starts, "tol": tol}
    workshop = Workshop(documents, reference, models, singles.weights, Readings(**readings), **given)
    write(out["clusters"], CLUSTERS_SHAPE, workshop.run(units(ms, seeds)[shard[0] :: shard[1]], log))

"""What is trained for a fold, in units divided among shards: clusterings of one kind, seed and number of clusters."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
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
from qdrank.studies.lin2011.readings import TrainingSet, Transformation
from qdrank.studies.lin2011.representations import standardised_rows, transformed
from qdrank.studies.lin2011.shapes import CLUSTER_MODELS_SHAPE, CLUSTERS_SHAPE
from qdrank.studies.lin2011.singles import load_singles
from qdrank.studies.lin2011.training import Trainer, seen_rows

#: Further schemes for the table of readings: the other training set, the other transformations.
OTHER_SET = f"{PAIRS}-other"


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
    variants : number of seeds, from the first, that also train models for the table of readings; 0: none
    """

    ms: Sequence[int]
    seeds: Sequence[int]
    readings: Readings
    base: int = 1
    random: bool = True
    variants: int = 0
    starts: int = 1

    def varied(self, seed: int) -> bool:
        """Whether this seed also trains models for the table of readings."""
        return seed in list(self.seeds)[: self.variants]


Unit = Key
"""A clustering of K-means; its random clusters, and those for the table of readings, go with it."""


def other_transformations(readings: Readings) -> dict[str, Readings]:
    """Schemes of Transform with transformations other than the study's."""
    kinds: tuple[Transformation, ...] = ("divergence", "peakedness", "top-scores")
    others = [readings.model_copy(update={"transformation": kind}) for kind in kinds if kind != readings.transformation]
    return {f"{TRANSFORMED}-{one.transformation}": one for one in others}


def units(plan: ClusterPlan) -> list[Unit]:
    """All units of a fold, which do not depend on each other; those that take as long stand together, for even shards.

    Clusters of documents take longer than clusters of queries, and many clusters longer than few.
    """
    varied = [seed for seed in plan.seeds if plan.varied(seed)]
    seeds_of = {
        PAIRS: plan.seeds,
        TRANSFORMED: plan.seeds,
        **dict.fromkeys(other_transformations(plan.readings), varied),
    }
    return [Key(scheme, seed, m) for scheme, seeds in seeds_of.items() for m in plan.ms for seed in seeds]


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
                for clustering, training_set in self.clusterings(unit):
                    if only not in (None, clustering.scheme):
                        continue
                    log(f"{clustering.scheme}, seed {unit.seed}, {unit.m} clusters")
                    clusters.append(cluster_sizes_table(clustering, self.train.query_id))
                    models += self._trained(clustering, training_set)
        return joined(clusters), joined(models)

    def clusterings(self, unit: Unit) -> Iterator[tuple[Clustering, TrainingSet]]:
        """Every clustering of a unit, and what its clusters learn from."""
        (scheme, seed, m), plan, usual = unit, self.plan, self.plan.readings.training_set
        other: TrainingSet = "queries" if usual == "relevant" else "relevant"
        items = relevant_items(self.train, self.vectors) if scheme == PAIRS else query_items(self._points(scheme))
        clustering = cluster(scheme, items, m, seed=seed, base=plan.base, starts=plan.starts)
        yield clustering, usual
        if plan.random and scheme in (PAIRS, TRANSFORMED):
            yield shuffled(clustering, base=plan.base), usual
        if scheme == PAIRS and plan.varied(seed):
            yield replace(clustering, scheme=OTHER_SET), other

    def _points(self, scheme: str) -> FloatArray:
        readings = {TRANSFORMED: self.plan.readings, **other_transformations(self.plan.readings)}[scheme]
        return standardised_rows(transformed(self.base, self.single, self.train.offsets, readings))[0]

    def _trained(self, clustering: Clustering, training_set: TrainingSet) -> Iterator[pa.Table]:
        key = Key(clustering.scheme, clustering.seed, clustering.m)
        subsets: dict[str, NDArray[np.bool_] | None] = {ALL_QUERIES: None}
        if self.plan.readings.confidence_from == "inner" and clustering.scheme.startswith(PAIRS):
            first = halves(self.train.n_queries, self.plan.base)
            subsets |= {HALVES[0]: ~first, HALVES[1]: first}
        for trained_on, only in subsets.items():
            for lam, models in self.trainer.fit(clustering, training_set, only).items():
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

"""Clusters and their models as artifacts, and their lookup by scheme, seed, number of clusters and lambda."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from qdrank.errors import InputError
from qdrank.layout import FloatArray, IntArray, rows_of
from qdrank.store.lists import joined, list_column, list_matrix, repeated
from qdrank.studies.lin2011.clusters import Clustering
from qdrank.studies.lin2011.training import ClusterModels

#: Models of all training queries, and of either half of them.
ALL_QUERIES, HALVES = "all", ("without-half-1", "without-half-2")


class Key(NamedTuple):
    """One clustering of a fold."""

    scheme: str
    seed: int
    m: int


@dataclass(frozen=True)
class Clusters:
    """What is stored of a clustering.

    Attributes
    ----------
    centres : (m, n_columns), NaN where a cluster is empty
    query, cluster, count : (n_memberships,) a training query, a cluster that holds some of its items, and how many
    """

    centres: FloatArray
    query: IntArray
    cluster: IntArray
    count: IntArray

    def members(self, kind: str) -> tuple[IntArray, IntArray]:
        """Training queries of the clusters, query and cluster (n_members,), by cluster, then query.

        ``most``: a query belongs to the cluster that holds most of its items, the first in case of a tie; ``every``: to
        each cluster that holds any. Queries without items belong to no cluster.
        """
        kept = np.arange(len(self.query))
        if kind == "most":
            order = np.lexsort((self.cluster, -self.count, self.query))
            first = np.ones(len(order), dtype=bool)
            first[1:] = self.query[order][1:] != self.query[order][:-1]
            kept = order[first]
        kept = kept[np.lexsort((self.query[kept], self.cluster[kept]))]
        return self.query[kept], self.cluster[kept]


def touched(clustering: Clustering) -> Clusters:
    """Which training queries have items in which cluster."""
    m = clustering.m
    keys, counts = np.unique(clustering.items.query * m + clustering.label, return_counts=True)
    return Clusters(clustering.centres, keys // m, keys % m, counts)


def cluster_sizes_table(clustering: Clustering, query_id: NDArray[Any]) -> pa.Table:
    """Rows of the artifact ``clusters``: one row per cluster."""
    touching, m = touched(clustering), clustering.m
    by_cluster = [np.flatnonzero(touching.cluster == i) for i in range(m)]
    columns = _heads(clustering.scheme, clustering.seed, m)
    columns |= {
        "items": pa.array(clustering.sizes),
        "centre": pa.array(list(clustering.centres), pa.list_(pa.float64())),
        "queries": pa.array([query_id[touching.query[rows]].tolist() for rows in by_cluster], pa.list_(pa.string())),
        "counts": pa.array([touching.count[rows].astype(np.int32) for rows in by_cluster], pa.list_(pa.int32())),
    }
    return pa.table(columns)


def models_table(key: Key, trained_on: str, lam: float, models: ClusterModels, weights: FloatArray) -> pa.Table:
    """Rows of the artifact ``cluster_models``; ``weights`` (m, n_features) apply to the features as given."""
    columns = _heads(*key) | repeated(key.m, trained_on=trained_on, lam=float(lam))
    columns |= {
        "pairs": pa.array(models.pairs),
        "fallback": pa.array(models.fallback),
        "gap": pa.array(models.gaps),
        "iterations": pa.array(models.evaluations.astype(np.int32)),
        "weights": list_column(weights),
    }
    return pa.table(columns)


def _heads(scheme: str, seed: int, m: int) -> dict[str, pa.Array]:
    return repeated(m, scheme=scheme, seed=seed, m=m) | {"cluster": pa.array(np.arange(m, dtype=np.int32))}


def gathered_shards(tables: Sequence[pa.Table]) -> pa.Table:
    """Rows of all shards in an order that does not depend on the shards."""
    table = joined(list(tables)).combine_chunks()
    names = [name for name in ("scheme", "seed", "m", "trained_on", "lam", "cluster") if name in table.column_names]
    return table.sort_by([(name, "ascending") for name in names])


class FoldBank:
    """Clusters and models of a fold, from their gathered artifacts."""

    def __init__(self, clusters: pa.Table, models: pa.Table, train_id: NDArray[Any]) -> None:
        self._clusters = dict(_split(clusters, ("scheme", "seed", "m")))
        self._models = dict(_split(models, ("scheme", "seed", "m", "trained_on", "lam")))
        self._train_id = train_id
        self.lambdas = sorted({key[4] for key in self._models}, reverse=True)
        self.seeds = sorted({key[1] for key in self._clusters})
        self.ms = sorted({key[2] for key in self._clusters})
        self.schemes = sorted({key[0] for key in self._clusters})

    def clusters(self, key: Key) -> Clusters:
        """The clustering ``key``."""
        table = self._table_of(self._clusters, tuple(key))
        counts = table.column("counts").combine_chunks()
        cluster = np.repeat(np.arange(len(table)), counts.value_lengths().to_numpy())
        ids = table.column("queries").combine_chunks().flatten().to_numpy(zero_copy_only=False)
        query = rows_of(ids, self._train_id)
        count = counts.flatten().to_numpy().astype(np.int64)
        centres = np.array(table.column("centre").to_pylist(), dtype=np.float64)
        return Clusters(centres, query, cluster, count)

    def weights(self, key: Key, lam: float, trained_on: str = ALL_QUERIES) -> FloatArray:
        """Weights of the models of a clustering, shape (m, n_features)."""
        table = self._table_of(self._models, (*key, trained_on, lam))
        return np.asarray(list_matrix(table.column("weights")))

    def models(self) -> list[tuple[Key, float, pa.Table]]:
        """Every set of models of all training queries: its clustering, lambda and rows."""
        return [(Key(*key[:3]), key[4], table) for key, table in self._models.items() if key[3] == ALL_QUERIES]

    @staticmethod
    def _table_of(tables: dict[tuple[Any, ...], pa.Table], key: tuple[Any, ...]) -> pa.Table:
        if key not in tables:
            raise InputError(f"there are no clusters {key}", fix="run the training job again with these settings")
        return tables[key]


def _split(table: pa.Table, names: Sequence[str]) -> list[tuple[tuple[Any, ...], pa.Table]]:
    """Runs of rows that are equal in some columns, as slices."""
    if not len(table):
        return []
    columns = [table.column(name).to_pylist() for name in names]
    rows = list(zip(*columns, strict=True))
    heads = [0, *(i for i in range(1, len(rows)) if rows[i] != rows[i - 1]), len(rows)]
    return [(rows[a], table.slice(a, b - a)) for a, b in pairwise(heads)]

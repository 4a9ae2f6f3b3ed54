"""Clusters with their models as an artifact, and their lookup by scheme, seed, number of clusters and lambda."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from qdrank.errors import InputError
from qdrank.layout import FloatArray, IntArray
from qdrank.store.schemas import NUMBERS, Shape, Vector
from qdrank.store.tables import joined, list_column, list_matrix, repeated
from qdrank.studies.lin2011.training import ClusterModels

# A cluster and its model at one lambda: one row per scheme of clusterings, seed, number of clusters, lambda and cluster. The
# centre of an empty cluster is NaN; a cluster without pairs has the global model (fallback); queries counts the training
# queries with an item in it. Where documents are clustered, divergence and precision are those of the model on each training
# query that belongs to it; where queries are, width is their median distance from their centres.
CLUSTERS_SHAPE = Shape(
    "clusters",
    {
        "scheme": pa.string(),
        "seed": pa.int32(),
        "m": pa.int32(),
        "lam": pa.float64(),
        "cluster": pa.int32(),
        "centre": NUMBERS,
        "queries": pa.int64(),
        "pairs": pa.int64(),
        "fallback": pa.bool_(),
        "gap": pa.float64(),
        "iterations": pa.int32(),
        "width": pa.float64(),
        "divergence": NUMBERS,
        "precision": NUMBERS,
        "weights": Vector(pa.float64()),
    },
)


_KEY = ("scheme", "seed", "m", "lam")


class Key(NamedTuple):
    """One clustering of a fold."""

    scheme: str
    seed: int
    m: int


class Clustered(NamedTuple):
    """The models of a clustering at one lambda, and what the algorithms know of the training queries.

    Attributes
    ----------
    weights, centres : (m, n_features) of the models; (m, n_columns) of the clusters, NaN where one is empty
    width : median distance of the training queries from the centre of their cluster; 0 where documents are clustered
    member_cluster, member_delta, member_precision : (n_members,)
        Cluster of each training query that belongs to one, and divergence and precision of the cluster's model on it,
        by cluster, then query; none where queries are clustered.
    """

    weights: FloatArray
    centres: FloatArray
    width: float
    member_cluster: IntArray
    member_delta: FloatArray
    member_precision: FloatArray


def clusters_table(key: Key, lam: float, clustered: Clustered, models: ClusterModels, queries: IntArray) -> pa.Table:
    """Rows of the artifact ``clusters``; ``queries`` (m,) counts training queries with an item in each cluster."""
    cuts = np.searchsorted(clustered.member_cluster, np.arange(1, key.m))
    columns = repeated(key.m, **key._asdict(), lam=float(lam), width=float(clustered.width))
    columns |= {
        "cluster": pa.array(np.arange(key.m, dtype=np.int32)),
        "centre": pa.array(list(clustered.centres), pa.list_(pa.float64())),
        "queries": pa.array(queries),
        "pairs": pa.array(models.pairs),
        "fallback": pa.array(models.fallback),
        "gap": pa.array(models.gaps),
        "iterations": pa.array(models.evaluations.astype(np.int32)),
        "weights": list_column(clustered.weights),
    }
    for name, of_members in (("divergence", clustered.member_delta), ("precision", clustered.member_precision)):
        columns[name] = pa.array(np.split(of_members, cuts), pa.list_(pa.float64()))
    return pa.table(columns)


def gathered_shards(tables: Sequence[pa.Table]) -> pa.Table:
    """Rows of all shards in an order that does not depend on the shards."""
    return joined(list(tables)).combine_chunks().sort_by([(name, "ascending") for name in (*_KEY, "cluster")])


class FoldBank:
    """Clusters and models of a fold, from the gathered artifact."""

    def __init__(self, table: pa.Table) -> None:
        rows = list(zip(*(table.column(name).to_pylist() for name in _KEY), strict=True))
        heads = [i for i in range(len(rows)) if not i or rows[i] != rows[i - 1]]
        self._tables = {rows[a]: table.slice(a, b - a) for a, b in pairwise([*heads, len(rows)])}
        self._read: dict[tuple[Key, float], Clustered] = {}
        self.seeds = sorted({seed for _, seed, _, _ in self._tables})
        self.schemes = sorted({scheme for scheme, _, _, _ in self._tables})

    def models(self, key: Key, lam: float) -> Clustered:
        """The models of a clustering."""
        if (key, lam) not in self._read:
            if (*key, lam) not in self._tables:
                raise InputError(
                    f"there are no clusters {(*key, lam)}", fix="run the training job again with these settings"
                )
            self._read[key, lam] = _clustered(self._tables[*key, lam])
        return self._read[key, lam]

    def tables(self) -> Iterator[tuple[Key, float, pa.Table]]:
        """The rows of every clustering and lambda."""
        for (*key, lam), table in self._tables.items():
            yield Key(*key), lam, table


def _clustered(table: pa.Table) -> Clustered:
    lists = {name: table.column(name).combine_chunks() for name in ("divergence", "precision")}
    delta, precision = (one.flatten().to_numpy() for one in lists.values())
    member = np.repeat(np.arange(len(table)), lists["divergence"].value_lengths().to_numpy())
    centres = np.array(table.column("centre").to_pylist(), dtype=np.float64)
    return Clustered(list_matrix(table.column("weights")), centres, table["width"][0].as_py(), member, delta, precision)

"""Clusters of relevant documents (Naive, SelectRanker) and of transformed queries (Transform)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from qdrank.datasets.judged import Judged
from qdrank.layout import FloatArray, IntArray
from qdrank.queries.vectors import k_means, nearest_centre

if TYPE_CHECKING:
    from qdrank.studies.lin2011.settings import Membership

PAIRS, TRANSFORMED = "pairs", "transformed"
#: Each scheme has a twin of random clusters of the same sizes.
RANDOM = "-random"


@dataclass(frozen=True)
class Items:
    """The items to cluster.

    Attributes
    ----------
    vectors : (n_items, n_columns)
    query : (n_items,) training query of each
    row : (n_items,) training document of each; -1 where the item is a whole query
    """

    vectors: FloatArray
    query: IntArray
    row: IntArray

    def take(self, chosen: IntArray) -> Items:
        """Some of the items."""
        return Items(self.vectors[chosen], self.query[chosen], self.row[chosen])


@dataclass(frozen=True)
class Clustering:
    """Items in ``m`` clusters.

    Attributes
    ----------
    label : (n_items,) cluster of each item, 0 to m - 1
    centres : (m, n_columns) mean of each cluster; NaN where it is empty
    """

    scheme: str
    seed: int
    m: int
    items: Items
    label: IntArray
    centres: FloatArray

    @property
    def sizes(self) -> IntArray:
        """Items of each cluster, shape (m,)."""
        return np.bincount(self.label, minlength=self.m)

    @property
    def touched(self) -> tuple[IntArray, IntArray, IntArray]:
        """A training query, a cluster that holds some of its items, and how many, (n_memberships,) each."""
        keys, counts = np.unique(self.items.query * self.m + self.label, return_counts=True)
        return keys // self.m, keys % self.m, counts

    def members(self, kind: Membership) -> tuple[IntArray, IntArray]:
        """Training queries of the clusters, query and cluster (n_members,), by cluster, then query.

        ``most``: a query belongs to the cluster that holds most of its items, the first in case of a tie; ``every``: to
        each cluster that holds any. Queries without items belong to no cluster.
        """
        query, cluster, count = self.touched
        kept = np.arange(len(query))
        if kind == "most":
            order = np.lexsort((cluster, -count, query))
            kept = order[np.unique(query[order], return_index=True)[1]]
        kept = kept[np.lexsort((query[kept], cluster[kept]))]
        return query[kept], cluster[kept]


def relevant_items(train: Judged, vectors: FloatArray) -> Items:
    """The relevant documents (grade 1 or more) as items; ``vectors`` are (n_documents, n_features)."""
    rows = np.flatnonzero(train.y > 0)
    return Items(vectors[rows], train.query_index[rows], rows)


def query_items(vectors: FloatArray) -> Items:
    """All training queries as items, ``vectors`` (n_queries, n_columns)."""
    n = len(vectors)
    return Items(vectors, np.arange(n), np.full(n, -1))


def cluster(scheme: str, items: Items, m: int, *, seed: int, base: int, starts: int = 1) -> Clustering:
    """K-means of the items; with fewer items than ``m`` the last clusters stay empty.

    ``seed`` numbers the clustering, ``base`` is the seed of the whole study.
    """
    k = min(m, len(items.query))
    label = np.zeros(0, dtype=np.int64)
    if k:
        label = k_means(items.vectors, k, seed=_state(base, scheme, seed, m), starts=starts)[1]
    return Clustering(scheme, seed, m, items, label, means(items.vectors, label, m))


def shuffled(clustering: Clustering, *, base: int) -> Clustering:
    """Random clusters of the same sizes: the control."""
    scheme = clustering.scheme + RANDOM
    rng = np.random.default_rng(_state(base, scheme, clustering.seed, clustering.m))
    label = rng.permutation(clustering.label)
    centres = means(clustering.items.vectors, label, clustering.m)
    return replace(clustering, scheme=scheme, label=label, centres=centres)


def _state(base: int, scheme: str, seed: int, m: int) -> int:
    """Seed of one clustering, independent of whatever else is run."""
    return int(np.random.SeedSequence([base, seed, m, *scheme.encode()]).generate_state(1)[0])


def means(vectors: FloatArray, label: IntArray, m: int) -> FloatArray:
    """Mean of every cluster, shape (m, n_columns), NaN where it is empty."""
    members = sparse.csc_array((np.ones(len(label)), label, np.arange(len(label) + 1)), shape=(m, len(label)))
    total, sizes = np.asarray(members.tocsr() @ vectors), np.bincount(label, minlength=m)
    total[sizes == 0] = np.nan
    return total / np.maximum(sizes, 1)[:, None]


def nearest(vectors: FloatArray, centres: FloatArray) -> IntArray:
    """Nearest non-empty cluster of each row of ``vectors`` (n, n_columns), shape (n,)."""
    filled = np.flatnonzero(~np.isnan(centres[:, 0]))
    numbers: IntArray = filled[nearest_centre(vectors, centres[filled])]
    return numbers

"""Clusters: same seed same clusters, centres are means, empty clusters, random twins, memberships."""

import numpy as np
import pytest
from tests.studies.lin2011.lin_world import documents, fold, workshop

from qdrank.errors import InputError
from qdrank.measures.compute import average_precision
from qdrank.studies.lin2011.bank import FoldBank, Key, gathered_shards
from qdrank.studies.lin2011.clusters import Clustering, Items, cluster, nearest, query_items, relevant_items, shuffled
from qdrank.studies.lin2011.training import seen_rows

RNG = np.random.default_rng(1)
VECTORS = RNG.normal(size=(12, 3))


def test_relevant_documents_are_the_items():
    train = documents().parts["train"]
    items = relevant_items(train, seen_rows(documents(), train).astype(float))
    assert len(items.query) == (train.y > 0).sum()
    assert (train.query_index[items.row] == items.query).all()


def test_centres_are_the_means_of_their_items():
    found = cluster("pairs", query_items(VECTORS), 4, seed=1, base=1)
    for i in range(4):
        assert found.centres[i] == pytest.approx(VECTORS[found.label == i].mean(axis=0))
    # each item is nearest to its own centre: K-means has converged
    assert (nearest(VECTORS, found.centres) == found.label).all()


def test_seeds_give_clusters_of_their_own_and_the_same_again():
    items = query_items(RNG.normal(size=(60, 3)))
    a, b, c = (cluster("pairs", items, 6, seed=s, base=1) for s in (1, 1, 2))
    assert (a.label == b.label).all()
    assert (a.label != c.label).any()
    assert (a.label != cluster("pairs", items, 6, seed=1, base=2).label).any()


def test_with_fewer_items_than_clusters_the_rest_is_empty():
    found = cluster("pairs", query_items(VECTORS), 20, seed=1, base=1)
    empty = np.isnan(found.centres).all(axis=1)
    assert empty.sum() == 8
    assert (found.sizes[empty] == 0).all()
    assert not empty[nearest(VECTORS, found.centres)].any()


def test_random_clusters_have_the_same_sizes():
    found = cluster("pairs", query_items(VECTORS), 4, seed=1, base=1)
    twin = shuffled(found, base=1)
    assert twin.scheme == "pairs-random"
    assert (twin.sizes == found.sizes).all()
    assert (twin.label != found.label).any()
    assert (shuffled(found, base=1).label == twin.label).all()


def test_queries_belong_to_the_cluster_with_most_of_their_items_or_to_every_one():
    #        query 0: twice in cluster 1, once in 0; query 1: once in 0 and 2 each; query 2 has no item
    items = Items(np.zeros((5, 1)), np.array([0, 0, 0, 1, 1]), np.arange(5))
    found = Clustering("pairs", 1, 3, items, np.array([1, 0, 1, 2, 0]), np.zeros((3, 1)))
    most, every = found.members("most"), found.members("every")
    assert list(zip(*most, strict=True)) == [(1, 0), (0, 1)]
    assert list(zip(*every, strict=True)) == [(0, 0), (1, 0), (0, 1), (1, 2)]


def test_clusters_come_back_from_their_artifact():
    key, shop = Key("pairs", 2, 5), workshop()
    wanted, bank = next(shop.clusterings(key)), FoldBank(gathered_shards([shop.run([key])]))
    found, (query, cluster_of) = bank.models(key, 0.1), wanted.members("most")
    assert found.centres == pytest.approx(wanted.centres, abs=0)
    assert found.member_cluster.tolist() == cluster_of.tolist()
    W = documents().stored(shop.trainer.fit(wanted, "relevant")[0.1].W)
    assert (found.weights == W).all()
    part = documents().parts["train"]
    for place, (q, i) in enumerate(zip(query, cluster_of, strict=True)):
        own = slice(part.offsets[q], part.offsets[q + 1])
        precision = average_precision(part.y[own], part.X[own].astype(float) @ W[i], np.array([0, len(part.y[own])]))
        assert found.member_precision[place] == pytest.approx(precision[0], abs=1e-12)


def test_what_was_not_trained_is_missed_by_name():
    with pytest.raises(InputError, match="no clusters"):
        fold().bank.models(Key("pairs", 1, 5), 0.7)

"""Clusters, and their models against Ranking SVMs trained one by one on the documents that a cluster sees."""

import numpy as np
import pytest
from tests.studies.lin2011.lin_world import LAMBDAS, chosen, documents, fold, singles, trained, workshop

from qdrank.datasets.simulated.features import REFERENCE
from qdrank.errors import InputError
from qdrank.learners.ranksvm.estimator import RankSVM
from qdrank.measures.compute import average_precision
from qdrank.studies.lin2011.bank import FoldBank, Key, gathered_shards
from qdrank.studies.lin2011.clusters import (
    Clustering,
    Items,
    cluster,
    means,
    nearest,
    query_items,
    relevant_items,
    shuffled,
)
from qdrank.studies.lin2011.training import Trainer, partial_blocks, seen_rows, train_singles


@pytest.fixture(scope="module")
def trainer():
    return Trainer(documents(), singles(), chosen(), tol=1e-9)


def clustering(m, label=None):
    train = documents().parts["train"]
    items = relevant_items(train, seen_rows(documents(), train).astype(float))
    if label is None:
        return cluster("pairs", items, m, seed=1, base=1)
    return Clustering("pairs", 1, m, items, label, means(items.vectors, label, m))


def by_hand(rows_of_query, lam):
    """A Ranking SVM of some rows, one query after the other."""
    train = documents().parts["train"]
    rows = np.concatenate([rows for _, rows in rows_of_query])
    query = np.concatenate([np.full(len(rows), q) for q, rows in rows_of_query])
    X = seen_rows(documents(), train)[rows].astype(np.float64)
    return RankSVM(lam=lam, tol=1e-12).fit(X, train.y[rows], query).coef_


def sees(found, i, training_set):
    """Rows that cluster ``i`` learns from, by query."""
    train = documents().parts["train"]
    own = found.items.row[found.label == i]
    parts = []
    for q in sorted(set(train.query_index[own].tolist())):
        rows = np.arange(train.offsets[q], train.offsets[q + 1])
        if training_set == "relevant":
            rows = np.array([r for r in rows if train.y[r] == 0 or r in own])
        parts.append((q, rows))
    return parts


@pytest.mark.parametrize("training_set", ["relevant", "queries"])
@pytest.mark.parametrize("m", [2, 6])
def test_models_are_those_of_the_documents_a_cluster_sees(trainer, training_set, m):
    found = clustering(m)
    for lam, models in trainer.fit(found, training_set).items():
        for i in range(m):
            wanted = by_hand(sees(found, i, training_set), lam)
            if models.pairs[i]:
                assert models.W[i] == pytest.approx(wanted, abs=1e-3 * np.linalg.norm(wanted))
            else:
                assert models.W[i].tolist() == chosen().tolist()


def test_one_cluster_is_the_global_model_bit_for_bit(trainer):
    for training_set in ("relevant", "queries"):
        for lam, models in trainer.fit(clustering(1), training_set).items():
            assert models.W[0].tolist() == singles()[lam].w.tolist()


def test_clusters_without_pairs_fall_back_and_are_counted(trainer):
    n = len(clustering(1).label)
    label = np.arange(n) % 2  # clusters 2 and 3 stay empty
    models = trainer.fit(clustering(4, label), "relevant")[0.1]
    assert models.fallback.tolist() == [False, False, True, True]
    assert models.W[2].tolist() == models.W[3].tolist() == chosen().tolist()


def test_a_cluster_alone_among_those_with_pairs_is_not_taken_for_the_global_model(trainer):
    """The block engine calls a model global that uses all of its queries: here it uses all that are left."""
    found = clustering(3, np.zeros(len(clustering(1).label), dtype=int))
    half = np.arange(documents().parts["train"].n_queries) % 2 == 0
    for lam, models in trainer.fit(found, "relevant", only=half).items():
        parts = [(q, rows) for q, rows in sees(found, 0, "relevant") if half[q]]
        assert models.W[0] == pytest.approx(by_hand(parts, lam), rel=1e-3, abs=1e-4)
        assert models.fallback.tolist() == [False, True, True]


def test_partial_queries_in_small_blocks_are_the_same_queries():
    train, found = documents().parts["train"], clustering(6)
    given = (train, 6, found.label, found.items.query, found.items.row)
    (rows, offsets, members), *rest = partial_blocks(*given)
    assert not rest
    whole = [sorted(rows[offsets[q] : offsets[q + 1]].tolist()) for own in members for q in own]
    parts = list(partial_blocks(*given, limit=30))
    assert len(parts) > 2
    cut = [sorted(r[o[q] : o[q + 1]].tolist()) for r, o, mine in parts for own in mine for q in own]
    assert whole == cut
    assert sum(len(mine) for _, _, mine in parts) == 6


def test_global_models_are_those_of_the_learner():
    data = documents().preferences()
    for lam, model in train_singles(data, LAMBDAS, tol=1e-10).items():
        assert model.w == pytest.approx(RankSVM(lam=lam, tol=1e-10).fit_preferences(data).coef_, rel=1e-4, abs=1e-6)


@pytest.mark.parametrize("n_shards", [2, 3, 7])
def test_any_number_of_shards_gives_the_same_models(n_shards):
    assert trained().equals(trained(n_shards=n_shards))


def test_precisions_of_an_inner_split_are_of_models_of_the_other_half():
    key = Key("pairs", 1, 2)
    optimistic, honest = (fold(**one).bank.models(key, 0.1) for one in ({}, {"confidence_from": "inner"}))
    assert (optimistic.weights == honest.weights).all()
    assert (optimistic.member_precision != honest.member_precision).any()


def test_workshop_uses_the_reference_feature_and_the_global_model():
    shop = workshop()
    train = documents().parts["train"]
    assert shop.role.base == pytest.approx(train.X[:, REFERENCE].astype(float))
    apart = shop.role.single - seen_rows(documents(), train).astype(float) @ chosen()
    assert apart == pytest.approx(apart.mean()), "the mean of the features moves all scores alike"


def test_items_can_be_taken():
    items = Items(np.eye(3), np.arange(3), np.arange(3))
    assert items.take(np.array([2])).query.tolist() == [2]


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

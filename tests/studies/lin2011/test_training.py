"""Models of clusters against Ranking SVMs trained one by one on the documents that the cluster sees."""

import numpy as np
import pytest
from tests.studies.lin2011.lin_world import LAMBDAS, chosen, documents, fold, singles, trained, workshop

from qdrank.datasets.simulated.features import REFERENCE
from qdrank.learners.ranksvm.estimator import RankSVM
from qdrank.studies.lin2011.bank import Key
from qdrank.studies.lin2011.clusters import Clustering, Items, cluster, means, relevant_items
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

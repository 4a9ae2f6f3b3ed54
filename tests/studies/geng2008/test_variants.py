from dataclasses import replace

import numpy as np
import pytest
from tests.studies.geng2008.world import VECTORS, study, world

from qdrank.datasets.simulated.features import REFERENCE
from qdrank.measures.compute import ndcg
from qdrank.queries.metrics import Euclidean
from qdrank.queries.sizes import Setting
from qdrank.studies.geng2008.timing import COLD, WARM, timing_table
from qdrank.studies.geng2008.variants import Space, clustered, compare_variants, sample, variants, within


def measured(clusters, most=400):
    judged, topics, queries, _ = world()
    options = {"reference": REFERENCE, "vectors": VECTORS, "metric": "euclidean", "clusters": clusters}
    found = variants(judged, topics, queries, "fold1", 7, **options, most=most, seed=1)
    return compare_variants("fold1", study().documents, found, 0.01, block=8, tol=1e-6, most=most)


@pytest.fixture(scope="module")
def compared():
    return measured([0.2, 1])


def test_fewer_models_may_be_left_out(compared):
    """As config/first.yaml does."""
    assert set(measured([])["method"].to_pylist()) == {
        n for n in compared["method"].to_pylist() if "of the offline" not in n and "offline models" not in n
    }


def of(table, name, column):
    rows = [row for row in table.to_pylist() if row["method"] == name]
    return np.array([row[column] for row in rows])


def test_the_first_variant_is_knn_online(compared):
    fold = study()
    test = fold.documents.parts["test"]
    scores = fold.of_neighbours("knn-online", Setting(7, 0.01)).predict(test, None)
    expected = ndcg(test.y, scores, test.offsets, 10, "geng")
    np.testing.assert_allclose(of(compared, "KNN Online", "ndcg@10/geng"), expected)


@pytest.mark.parametrize(
    ("variant", "method"), [("KNN Offline-2", "knn-offline2"), ("KNN Offline-1: shared pairs", "knn-offline1")]
)
def test_ready_models_are_those_of_the_offline_methods(compared, variant, method):
    fold = study()
    test = fold.documents.parts["test"]
    scores = fold.of_neighbours(method, Setting(7, 0.01)).predict(test, None)
    np.testing.assert_allclose(of(compared, variant, "ndcg@10/geng"), ndcg(test.y, scores, test.offsets, 10, "geng"))
    assert (of(compared, variant, "models") == fold.documents.parts["train"].n_queries).all()


def test_a_kd_tree_gives_the_same_neighbours(compared):
    assert (of(compared, "KD-tree", "same") == 1).all()
    assert (of(compared, "KD-tree", "mean_ndcg/geng") == of(compared, "KNN Online", "mean_ndcg/geng")).all()


def test_a_sample_of_the_test_queries_is_measured_alike(compared):
    """Models are trained in other company, so their last digits differ."""
    few = measured([0.2], most=3)
    ids = dict.fromkeys(few.column("query_id").to_pylist())
    everyone = list(dict.fromkeys(compared.column("query_id").to_pylist()))
    assert list(ids) == [everyone[i] for i in sample(len(everyone), 3)]
    for name in ("KNN Online", "KNN Offline-2", "20% of the offline models"):
        whole = dict(zip(everyone, of(compared, name, "ndcg@10/geng"), strict=True))
        np.testing.assert_allclose(of(few, name, "ndcg@10/geng"), [whole[query] for query in ids])
        assert (of(few, name, "models") == of(compared, name, "models")[0]).all()


def test_fewer_clusters_cost_less(compared):
    few, all_of_them = (of(compared, f"{share} of the offline models", "work")[0] for share in ("20%", "100%"))
    assert few < all_of_them
    assert of(compared, "20% of the offline models", "models")[0] == 5


def own_space():
    queries = world()[2]
    train, test = (queries.vectors[queries.role == role] for role in ("train", "test"))
    return Space(train, test, queries.query_id[queries.is_train], Euclidean())


@pytest.mark.parametrize(("size", "name"), [(0.1, "10% of the offline models"), (3, "3 offline models")])
def test_a_clustering_has_one_name_in_all_folds(size, name):
    """Folds differ in their number of training queries, and so in what a share of them comes to."""
    space = own_space()
    fewer = replace(space, train=space.train[:-3], train_ids=space.train_ids[:-3])
    assert clustered(space, size, 5, 1).name == clustered(fewer, size, 5, 1).name == name


def test_every_direction_of_future_work_is_there(compared):
    names = set(compared.column("method").to_pylist())
    assert {"metric: cosine", "metric: mahalanobis", "metric: learned", "fixed radius"} < names
    assert {"vectors: mean and deviation", "vectors: with query columns"} < names
    assert {"KNN Offline-1: shared queries", "KNN Offline-1: smallest gamma"} < names


def test_a_radius_takes_all_within_and_never_none():
    rows = within(own_space(), 7)
    assert (rows >= 0).any(axis=1).all()
    assert len(set((rows >= 0).sum(axis=1))) > 1


def test_steps_of_testing_are_timed():
    fold = study()
    train, test = fold.documents.parts["train"], fold.documents.parts["test"]
    table = timing_table(fold.documents.preferences(), train, test, REFERENCE)
    assert min(table.column("m=24 k=6").to_pylist()) > 0
    assert all(text.startswith("m^") for text in table.column("growth").to_pylist())
    growth = dict(zip(table.column("step").to_pylist(), table.column("growth").to_pylist(), strict=True))
    assert [step for step, text in growth.items() if "(kp)^" in text] == [COLD[0], WARM[0]]
    assert sum(step.startswith("once") for step in growth) == 2
    assert {"Offline-1", "Offline-2", "Online"} <= set(table.column("methods").to_pylist())

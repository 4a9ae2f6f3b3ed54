from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from tests.studies.geng2008.world import GENG, TOL, VECTORS, shard, study, world

from qdrank.datasets.simulated.features import REFERENCE
from qdrank.errors import InputError
from qdrank.layout import pair_counts
from qdrank.learners.ranksvm.estimator import RankSVM
from qdrank.measures.compute import ndcg
from qdrank.queries.metrics import Euclidean
from qdrank.queries.neighbours import neighbours
from qdrank.queries.sizes import Setting, by_lambda, neighbour_count, neighbour_counts
from qdrank.queries.vectors import Standardiser, k_means, query_vectors
from qdrank.rankers.documents import one_model_scores
from qdrank.rankers.knn import ALIKE, change_ratios, offline1, offline2
from qdrank.rankers.stored import from_state_table, state_table
from qdrank.serving.ranking import kind_of
from qdrank.store import write
from qdrank.studies.geng2008.class_ranker import ClassRanker
from qdrank.studies.geng2008.local_models import LOCAL_SHAPE, gathered, neighbourhoods
from qdrank.studies.geng2008.rankers import OnlineRanker
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


@pytest.mark.parametrize("n_shards", [3, 7])
def test_the_number_of_shards_changes_no_byte(tmp_path, n_shards):
    ids = world()[2].query_id
    for name, n in (("one", 1), ("many", n_shards)):
        write(tmp_path / name, LOCAL_SHAPE, gathered([shard(i, n) for i in range(n)], ids))
    assert (tmp_path / "one").read_bytes() == (tmp_path / "many").read_bytes()


def test_a_local_model_is_the_ranking_svm_of_its_neighbours():
    fold = study()
    documents, setting = fold.documents, Setting(7, 0.01)
    train, row = documents.parts["train"], int(fold.rows("test")[2])
    own = train.take(np.sort(world()[3][row, :7]))
    scaled = (own.X.astype(np.float64) - documents.mean) * documents.inverse
    svm = RankSVM(lam=0.01, tol=1e-9).fit(scaled, own.y, own.query)
    found = fold.local.weights("neighbours", setting, fold.queries.query_id[[row]])[0]
    np.testing.assert_allclose(found, documents.stored(svm.coef_), atol=2e-3)


def test_equal_weights_and_random_neighbours_are_other_models():
    fold, setting = study(), Setting(7, 0.01)
    ids = fold.queries.query_id[fold.rows("test")]
    models = [fold.local.weights(neighbourhood, setting, ids) for neighbourhood in ("neighbours", "equal", "random")]
    assert min(np.abs(a - b).max() for a, b in zip(models, models[1:] + models[:1], strict=True)) > 1e-3


def test_a_graph_with_too_few_neighbours_is_refused():
    fold = study()
    with pytest.raises(InputError, match=r"(?s)wants 24 of 24 neighbours, and the graph holds 9.*neighbours\.largest"):
        neighbourhoods(fold.queries, world()[3][:, :9], GENG, seed=1)


def test_numbers_of_neighbours_adapt_to_the_training_set():
    assert [neighbour_count(k, 1500) for k in (0.27, 1, 400, 0.0001, 4000)] == [405, 1500, 400, 1, 1500]
    assert neighbour_counts([0.02, 0.05, 0.1, 1], 18) == [1, 2, 18]


def test_settings_to_train_and_to_choose_from():
    assert [s.k for s in GENG.curve(24)] == [2, 7, 14, 24]
    assert GENG.eligible(24) == [(14, 0.1), (7, 0.1), (14, 0.01), (7, 0.01)]
    assert GENG.model_copy(update={"choose": "fixed"}).eligible(24) == [(7, 0.01)]
    assert by_lambda([*GENG.curve(24), *GENG.eligible(24)]) == {0.1: [7, 14], 0.01: [2, 7, 14, 24]}


def parts():
    """Training and test documents as a learner sees them, with the vectors of their queries."""
    of, queries = study(), world()[2]
    return [(of.documents.seen(role), queries.vectors[queries.role == role]) for role in ("train", "test")]


def test_classes_have_models_of_their_own():
    (train, vectors), (test, points) = parts()
    ranker = ClassRanker(n_classes=3, seed=2, lam=0.1).fit(train, vectors)
    centres, label = k_means(vectors, 3, seed=2)
    for i in range(3):
        own = train.take(np.flatnonzero(label == i))
        peer = RankSVM(lam=0.1, tol=1e-10).fit(own.X, own.y, own.query)
        np.testing.assert_allclose(ranker.weights_[i], peer.coef_, atol=2 * np.sqrt(2e-6 / 0.1))
    nearest = ((points[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)
    assert ranker.guessed(points).tolist() == nearest.tolist()
    scores = from_state_table(state_table(ranker), kind_of).predict(test, points)
    for query, i in enumerate(nearest):
        rows = slice(*test.offsets[query : query + 2])
        np.testing.assert_allclose(scores[rows], one_model_scores(test, ranker.weights_[i])[rows], rtol=1e-12)


def test_a_class_without_a_model_is_served_by_single():
    ranker = ClassRanker().guess_by("rare")
    ranker.single_ = np.array([1.0, 2.0])
    assert ranker.serve({"frequent": np.zeros(2)}).weights_.tolist() == [[1.0, 2.0]]


@pytest.mark.parametrize("neighbourhood", ["neighbours", "equal", "random"])
def test_online_models_are_those_of_the_study_to_the_tolerance_of_training(neighbourhood):
    of, queries = study(), world()[2]
    documents, rows = of.documents, np.flatnonzero(queries.role == "test")
    setting = Setting(7, 0.1)
    ranker = OnlineRanker(
        k=setting.k,
        lam=setting.lam,
        tol=TOL,
        query_weights="equal" if neighbourhood == "equal" else "pairs",
        random=3 if neighbourhood == "random" else None,
        mean=documents.mean,
        inverse=documents.inverse,
    ).fit(documents.parts["train"], queries.vectors[queries.is_train])
    W = ranker.models(SimpleNamespace(query_id=queries.query_id[rows]), queries.vectors[rows])
    expected = of.local.weights(neighbourhood, setting, queries.query_id[rows])
    np.testing.assert_allclose(W, expected, atol=2 * np.sqrt(2 * TOL / setting.lam))


#: Mean gamma at k = 100, 200, 300, 400; vectors of 46 z-scored means, reference feature 37.
EXPECTED = {
    "shared_pairs": (1.08, 0.69, 0.42, 0.18),
    "shared_queries": (0.65, 0.37, 0.21, 0.09),
    "smallest_gamma": (0.45, 0.25, 0.13, 0.03),
    "offline2": (0.82, 0.48, 0.28, 0.15),
}
KS = (100, 200, 300, 400)


def fold_gammas(parts, test):
    """Gammas of the test queries by method and k, trained on the three parts that LETOR's rotation gives."""
    train = [(test + i) % 5 for i in (1, 2, 3)]
    vectors = np.vstack([parts[i][0] for i in train])
    pairs = np.concatenate([parts[i][1] for i in train])
    scale = Standardiser().fit(vectors)
    vectors, tested = scale.transform(vectors), scale.transform(parts[test][0])
    own = neighbours(vectors, vectors, max(KS), train_index=np.arange(len(vectors))).rows
    near = neighbours(tested, vectors, max(KS)).rows
    chosen = {alike: offline1(near, own, pairs, KS, alike=alike) for alike in ALIKE}
    chosen["offline2"] = dict.fromkeys(KS, offline2(near))
    return {method: change_ratios(near, own, pairs, rows) for method, rows in chosen.items()}


@pytest.mark.mirror
@pytest.mark.full
def test_gamma_on_mq2008(mirror):
    from qdrank.datasets.letor import load_letor

    data = [load_letor(mirror / "letor4" / "MQ2008" / f"S{i}.txt.xz") for i in range(1, 6)]
    parts = [(query_vectors(d.X, d.offsets, 36), pair_counts(d.y, d.offsets)) for d in data]
    folds = [fold_gammas(parts, test) for test in range(5)]
    for method, expected in EXPECTED.items():
        found = [np.concatenate([fold[method][k] for fold in folds]).mean() for k in KS]
        np.testing.assert_allclose(found, expected, atol=0.02, err_msg=method)

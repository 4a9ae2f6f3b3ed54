from types import SimpleNamespace

import numpy as np
import pytest
from tests.studies.geng2008.world import GENG, TOL, shard, study, world

from qdrank.errors import InputError
from qdrank.layout import pair_counts
from qdrank.learners.ranksvm.estimator import RankSVM
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

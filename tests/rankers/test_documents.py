import numpy as np
import pytest

from qdrank.datasets.judged import Judged
from qdrank.layout import rows_of
from qdrank.learners.ranksvm.estimator import RankSVM
from qdrank.rankers.documents import fold_documents, load_fold, one_model_scores, query_scores
from qdrank.store import write


def judged(X):
    n = len(X) // 3
    ids = np.array([f"q{i}" for i in range(3 * n // n)], dtype=object)
    offsets = np.array([0, n, 2 * n, 3 * n])
    parts = np.array(["train", "vali", "test"], dtype=object)
    y = np.arange(3 * n) % 3
    return Judged(ids, parts, offsets, np.arange(3 * n).astype(str).astype(object), y, X.astype(np.float32))


@pytest.fixture
def raw():
    return np.random.default_rng(1).normal(3, [1, 100, 0.01], size=(30, 3))


def test_features_in_the_unit_interval_stay_as_they_are(raw):
    unit = (raw - raw.min(axis=0)) / np.ptp(raw, axis=0)
    found = fold_documents(judged(unit), "fold1")
    assert (found.inverse == 1).all()
    assert (found.mean == 0).all()


def test_other_features_are_standardised_on_the_training_documents(raw):
    found = fold_documents(judged(raw), "fold1")
    train = found.parts["train"].X
    np.testing.assert_allclose(found.mean, train.mean(axis=0), rtol=1e-5)
    np.testing.assert_allclose(found.inverse, 1 / train.std(axis=0), rtol=1e-4)


@pytest.mark.parametrize("scale", ["given", "zscore", "minmax"])
def test_stored_weights_rank_the_documents_as_learned(raw, scale):
    found = fold_documents(judged(raw), "fold1", scale)
    train = found.parts["train"]
    scaled = (train.X.astype(np.float64) - found.mean) * found.inverse
    model = RankSVM(lam=0.1).fit(scaled, train.y, train.query)
    ours = one_model_scores(train, found.stored(model.coef_))
    theirs = model.predict(scaled)
    np.testing.assert_allclose(ours - ours.mean(), theirs - theirs.mean(), atol=1e-6)


@pytest.mark.parametrize("scale", ["given", "zscore"])
def test_scaled_documents_leave_nothing_to_scale(raw, scale):
    found = fold_documents(judged(raw), "fold1", scale)
    scaled = found.scaled()
    for role, part in scaled.parts.items():
        np.testing.assert_array_equal(part.X, found.seen(role).X)
        np.testing.assert_array_equal(scaled.seen(role).X, part.X)
    np.testing.assert_array_equal(scaled.preferences().X, found.preferences().X)


def test_missing_values_are_the_training_mean_and_constant_features_weigh_nothing(raw):
    raw[3, 1] = np.nan
    raw[:, 2] = 7
    found = fold_documents(judged(raw), "fold1")
    train = found.parts["train"].X
    assert train[3, 1] == pytest.approx(np.nanmean(raw[:10, 1]), rel=1e-5)
    assert found.inverse[2] == 0
    assert np.isfinite(found.preferences().X).all()


def test_each_query_is_scored_by_its_own_model(raw):
    documents = judged(raw)
    W = np.arange(9.0).reshape(3, 3)
    expected = [documents.X[i].astype(float) @ W[i // 10] for i in range(30)]
    np.testing.assert_allclose(query_scores(documents, W), expected)


def test_several_sets_of_models_score_as_each_alone():
    rng = np.random.default_rng(0)
    documents, W = judged(rng.normal(size=(30, 137))), rng.normal(size=(2, 5, 3, 137))
    together = query_scores(documents, W)
    assert together.shape == (2, 5, 30)
    for place in np.ndindex(2, 5):
        np.testing.assert_array_equal(together[place], query_scores(documents, W[place]))


@pytest.mark.parametrize("scale", ["auto", "minmax"])
def test_a_fold_can_be_loaded_in_part(raw, tmp_path, scale):
    raw[3, 1] = np.nan
    write(tmp_path / "judged.parquet", "judged", judged(raw).to_table())
    whole = fold_documents(judged(raw), "fold1", scale)
    for wanted in (["train"], ["train", "test"], ["train", "vali", "test"]):
        found = load_fold(tmp_path / "judged.parquet", "fold1", scale, wanted=wanted)
        assert sorted(found.parts) == sorted(wanted)
        np.testing.assert_array_equal(found.mean, whole.mean)
        np.testing.assert_array_equal(found.inverse, whole.inverse)
        for role in wanted:
            np.testing.assert_array_equal(found.parts[role].X, whole.parts[role].X)


def test_a_score_does_not_depend_on_the_documents_around_it():
    """With this many features a product of BLAS fails it."""
    rng = np.random.default_rng(0)
    documents, W = judged(rng.normal(size=(30, 137))), rng.normal(size=(3, 137))
    alone = Judged(
        documents.query_id[:1],
        documents.part[:1],
        np.array([0, 1]),
        documents.doc_id[:1],
        documents.y[:1],
        documents.X[:1],
    )
    assert query_scores(alone, W[:1])[0] == query_scores(documents, W)[0]


def test_rows_are_found_by_name():
    assert rows_of(np.array(["b", "a"], dtype=object), np.array(["a", "b", "c"], dtype=object)).tolist() == [1, 0]

"""The methods of Geng 2008 against doing it by hand, query by query."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from tests.studies.geng2008.world import GENG, TOL, study, world

from qdrank.errors import InputError
from qdrank.layout import shuffled_within
from qdrank.measures.compute import measure
from qdrank.queries.recipe import Queries
from qdrank.queries.sizes import Setting
from qdrank.studies.geng2008 import stability
from qdrank.studies.geng2008.class_ranker import TypeClassifier, guess_classes
from qdrank.studies.geng2008.fold import FoldModels, FoldQueries, curves, fold_run
from qdrank.studies.geng2008.methods import BY_NAME, GLOBAL, LOCAL
from qdrank.studies.geng2008.offline import OfflineModels, offline_table
from qdrank.studies.geng2008.query_classes import Classes, fitted_columns, type_scores, type_share
from qdrank.studies.geng2008.stability import HingeModels, bound_table, largest_difference

MEASURE = "mean_ndcg/geng"


@pytest.fixture(scope="module")
def fold() -> FoldModels:
    return study()


def run_of(models):
    return fold_run("fold1", models, None, measure=MEASURE)


@pytest.fixture(scope="module")
def run(fold):
    return run_of(fold)


def nearest():
    return world()[3]


def pairs(fold):
    return fold.documents.parts["train"].pairs


def neighbourhoods(fold, **changes):
    given = {name: getattr(fold, name) for name in FoldQueries.__dataclass_fields__}
    return FoldQueries(**given | changes)


def models_by_hand(fold, method, setting, q):
    """Weights for test query number ``q``, found without the code under test's tables."""
    ids, row = fold.queries.query_id, int(fold.rows("test")[q])
    train = nearest()[fold.rows("train")]
    if method == "knn-online":
        return fold.local.weights("neighbours", setting, ids[[row]])[0]
    chosen = nearest()[row, 0]
    if method == "knn-offline1":
        mine = set(nearest()[row, : setting.k].tolist())
        shared = [sum(pairs(fold)[j] for j in mine & set(other[: setting.k].tolist())) for other in train]
        place = nearest()[row].tolist()
        chosen = min(range(fold.m), key=lambda i: (-shared[i], place.index(i), i))
    return fold.local.weights("neighbours", setting, ids[[chosen]])[0]


@pytest.mark.parametrize("method", ["knn-online", "knn-offline1", "knn-offline2"])
def test_scores_are_those_of_the_right_model(fold, method):
    setting = Setting(7, 0.01)
    test = fold.documents.parts["test"]
    scores = fold.of_neighbours(method, setting).predict(test, None)
    for q in range(test.n_queries):
        rows = slice(test.offsets[q], test.offsets[q + 1])
        w = models_by_hand(fold, method, setting, q)
        np.testing.assert_allclose(scores[rows], test.X[rows].astype(float) @ w, rtol=1e-10)


def test_change_ratios_along_k_are_counted_in_pairs(fold, run):
    train = nearest()[fold.rows("train")]
    found = [row for table in curves(run) for row in table.to_pylist()]
    rows = [row for row in found if (row["role"], row["method"], row["x"]) == ("test", "knn-offline2", 7)]
    for row, q in zip(rows, fold.rows("test"), strict=True):
        mine = set(nearest()[q, :7].tolist())
        theirs = set(train[nearest()[q, 0], :7].tolist())
        p1, p2, both = (sum(pairs(fold)[list(s)]) for s in (mine, theirs, mine & theirs))
        assert row["gamma"] == pytest.approx((p1 + p2 - 2 * both) / min(p1, p2))


def test_the_choice_is_the_best_on_validation(fold, run):
    assert list(run.made) == [*GLOBAL, *LOCAL]
    order = shuffled_within(fold.documents.parts["vali"].offsets, fold.seed)
    for method, chosen in run.made.items():
        values = []
        for ranker in (tried := fold.tried(method)):
            vali, vectors = run.views[BY_NAME[method].sees].parts["vali"]
            scores = ranker.predict(vali, vectors)
            shuffled = measure([MEASURE], vali.y[order], scores[order], vali.offsets)
            values.append(round(shuffled[MEASURE].mean(), 12))
        assert chosen.settings() == tried[values.index(max(values))].settings()
    assert sum(row["chosen"] for row in run.choices) == len(run.made)


def test_fixed_settings_need_no_validation(fold):
    documents = fold.documents
    empty = replace(documents, parts=documents.parts | {"vali": documents.parts["vali"].take(np.arange(0))})
    for models in (replace(fold, options=GENG.model_copy(update={"choose": "fixed"})), replace(fold, documents=empty)):
        made = run_of(models).made
        assert made["knn-online"].setting == Setting(7, 0.01)
        assert made["single"].lam == 0.01


@pytest.mark.parametrize("method", ["qc", "qc-documents"])
def test_qc_uses_the_model_of_the_guessed_class(fold, run, method):
    ranker = fold.of_all(method, 0.1)
    guess, test = fold.guessers[method].guess[fold.rows("test")], run.views[BY_NAME[method].sees].parts["test"]
    for i, name in zip(ranker.guessed(test[1]), guess, strict=True):
        assert (ranker.weights_[i] == fold.whole[0.1][f"class:{name}"]).all()


def test_both_qc_guess_on_their_own(fold):
    first, second = (fold.guessers[method].guess for method in ("qc", "qc-documents"))
    assert (first != second).any()


def test_the_bound_holds_and_is_zero_for_equal_models(fold):
    near = neighbourhoods(fold)
    whole = replace(near, options=GENG.model_copy(update={"candidates": [0.3, 1]}))
    table = bound_table("fold1", whole, n_queries=5, n_pairs=10, tol=TOL, seed=1)
    bound, observed, k = (table.column(name).to_numpy() for name in ("bound", "observed", "k"))
    assert set(k) == {7, fold.m}
    assert (observed <= bound).all()
    assert (observed[k < fold.m] > 0).any()
    assert (observed[k == fold.m] == 0).all()
    assert (bound[k == fold.m] == 0).all()


def test_a_fixed_setting_needs_no_other_neighbours(fold):
    """The graph then holds no more than the fixed k and the curves."""
    fixed = GENG.model_copy(update={"choose": "fixed", "ks": [0.1], "k": 0.3, "candidates": [1]})
    short = nearest()[:, :7]
    offline = OfflineModels(offline_table(fold.queries, short, pairs(fold), fixed))
    near = neighbourhoods(fold, nearest=short, offline=offline, options=fixed)
    table = bound_table("fold1", near, n_queries=1, n_pairs=2, tol=TOL, seed=1)
    assert set(table.column("k").to_pylist()) == {7}


def test_the_bound_is_checked_on_neighbourhoods_of_bounded_size(fold, monkeypatch):
    near = neighbourhoods(fold)
    whole = replace(near, options=GENG.model_copy(update={"candidates": [0.3, 1]}))
    for largest, ks in ((fold.m, {7, fold.m}), (fold.m - 1, {7}), (3, {7})):
        monkeypatch.setattr(stability, "MOST_NEIGHBOURS", largest)
        table = bound_table("fold1", whole, n_queries=1, n_pairs=2, tol=TOL, seed=1)
        assert set(table.column("k").to_pylist()) == ks


def test_the_models_of_the_bound_minimise_the_hinge(fold):
    data, members = fold.documents.preferences(), np.array([5, 2, 9, 11])
    models = HingeModels(data, 0.01, 1e-9)
    w = models.weights(members)
    assert (models.weights(members[::-1]) == w).all()
    D = np.vstack([pairs_of(data, q) for q in members])

    def objective(at):
        return 0.005 * at @ at + np.maximum(0, 1 - D @ at).mean()

    rng = np.random.default_rng(0)
    assert all(
        objective(w) <= objective(w + scale * rng.normal(size=len(w))) + 1e-9
        for scale in (1e-3, 0.1)
        for _ in range(50)
    )


def pairs_of(data, q):
    start, n = data.offsets[q], data.offsets[q + 1] - data.offsets[q]
    rows = [data.X[start + i] - data.X[start + j] for i in range(n) for j in range(data.lower[start + i], n)]
    return np.array(rows, dtype=np.float64).reshape(-1, data.n_features)


def test_kappa_is_the_longest_difference_of_a_pair(fold):
    data = fold.documents.preferences()
    longest = 0.0
    for q in range(data.n_queries):
        X, lower = data.X[data.offsets[q] : data.offsets[q + 1]], data.lower[data.offsets[q] : data.offsets[q + 1]]
        for i in range(len(X)):
            for j in range(lower[i], len(X)):
                longest = max(longest, float(((X[i].astype(float) - X[j]) ** 2).sum()))
    assert largest_difference(data) == pytest.approx(longest, rel=1e-6)


WORDS = {"homepage": "home page of", "topic": "history and theory of"}


def made(types=True, texts=True, n=60):
    """Queries whose type shows in their words, and less in their vectors."""
    rng = np.random.default_rng(0)
    kinds = np.array([["homepage", "topic"][i % 2] for i in range(n)], dtype=object)
    ids = np.array([f"q{i}" for i in range(n)], dtype=object)
    roles = np.array(["train"] * (n // 2) + ["test"] * (n // 2), dtype=object)
    index = np.where(roles == "train", np.arange(n), -1).astype(np.int32)
    vectors = rng.normal(size=(n, 3)) + (kinds == "topic")[:, None] * 4
    queries = Queries(ids, roles, kinds if types else np.full(n, None), index, vectors)
    text = [f"{WORDS[kind]} thing{i % 7}" if texts else None for i, kind in enumerate(kinds)]
    topics = pa.table({"query_id": pa.array(ids[::-1], pa.string()), "text": pa.array(text[::-1], pa.string())})
    return queries, topics.append_column("query_columns", pa.array([[]] * n, pa.list_(pa.float64())))


def test_types_are_guessed_from_the_words_alone_and_from_documents_alone():
    queries, topics = made()
    found = guess_classes(queries, topics, seed=1)[0]
    assert (found.guess == queries.type).all()
    assert (found.from_documents == queries.type).mean() > 0.9
    assert found.origin == "query types in the data"
    assert found.sees_queries


def test_without_words_there_is_no_guess_from_the_query_alone():
    queries, topics = made(texts=False)
    found = guess_classes(queries, topics, seed=1)[0]
    assert not found.sees_queries
    assert (found.guess == found.from_documents).all()


def test_unknown_types_become_k_means_classes_and_say_so():
    queries, topics = made(types=False, texts=False)
    found = guess_classes(queries, topics, seed=1)[0]
    assert "3 K-means classes" in found.origin
    assert not found.sees_queries
    assert (found.guess == found.true).all()
    assert len(set(found.true[::2]) & set(found.true[1::2])) <= 2


def test_one_class_is_guessed_for_all():
    queries, topics = made()
    queries.type[:] = "topic"
    assert set(guess_classes(queries, topics, seed=1)[0].guess) == {"topic"}


def test_k_means_classes_too_are_guessed_from_words_where_there_are_words():
    queries, topics = made(types=False)
    found = guess_classes(queries, topics, seed=1)[0]
    assert (found.guess == found.true).mean() > 0.8


def test_classes_survive_the_store():
    queries, topics = made()
    found = guess_classes(queries, topics, seed=1)[0]
    again = Classes.from_table(found.to_table(queries))
    assert again.origin == found.origin
    assert (again.guess == found.guess).all()
    assert (again.from_documents == found.from_documents).all()


def test_words_that_only_test_queries_have_are_the_rarest():
    recipe = fitted_columns(0, ["a b", "a c"])
    columns = recipe.vectors(np.zeros((3, 0)), np.arange(4), None, ["a b", "a c", "zebra"])
    with pytest.raises(InputError, match="look at the words of a query"):
        recipe.vectors(np.zeros((1, 0)), np.arange(2))
    assert columns[2, 6] > columns[:2, 6].max()


def blobs(n=300, clear=1.0, seed=0):
    rng = np.random.default_rng(seed)
    types = rng.integers(3, size=n)
    return clear * np.eye(3)[types] + rng.standard_normal((n, 3)), np.array(["home", "name", "topic"])[types]


@pytest.mark.parametrize("clear", [1.0, 20.0])
def test_classifier_equals_scikit_learn(clear):
    from sklearn.linear_model import LogisticRegression

    columns, types = blobs(clear=clear)
    ours = TypeClassifier(ridge=0.01).fit(columns, types)
    scaled = (columns - columns.mean(axis=0)) / columns.std(axis=0)
    # ours penalises the constant as well: a column of ones, no intercept
    design = np.hstack([scaled, np.ones((len(scaled), 1))])
    theirs = LogisticRegression(C=1 / (0.01 * len(types)), fit_intercept=False, tol=1e-10, max_iter=10_000)
    theirs.fit(design, types)
    np.testing.assert_allclose(ours.weights_, theirs.coef_, atol=1e-4)
    np.testing.assert_allclose(ours.probabilities(columns), theirs.predict_proba(design), atol=1e-4)
    np.testing.assert_array_equal(ours.predict(columns), theirs.predict(design))


def test_one_type_and_constant_columns_are_no_trouble():
    one = TypeClassifier().fit(np.ones((4, 2)), np.array(["home"] * 4))
    assert (one.predict(np.zeros((3, 2))) == "home").all()
    with pytest.raises(InputError, match="ridge must be above 0"):
        TypeClassifier(ridge=0).fit(np.ones((4, 2)), np.array(["home"] * 4))


def test_scores_equal_scikit_learn():
    from sklearn.metrics import accuracy_score, precision_recall_fscore_support

    rng = np.random.default_rng(1)
    true, guessed = rng.integers(3, size=50), rng.integers(1, 5, size=50)
    scores = type_scores(true, guessed)
    precision, recall, f1, _ = precision_recall_fscore_support(true, guessed, zero_division=0)
    np.testing.assert_allclose(scores.precision, precision)
    np.testing.assert_allclose(scores.recall, recall)
    np.testing.assert_allclose(scores.f1, f1)
    assert scores.macro_f1 == pytest.approx(f1.mean())
    assert scores.accuracy == accuracy_score(true, guessed)


def test_share_of_types_among_neighbours_against_chance():
    types = np.array(["a", "a", "b", "c", "a", None, "b"], dtype=object)
    role, index = np.array(["train"] * 4 + ["test"] * 3, dtype=object), np.array([0, 1, 2, 3, -1, -1, -1])
    queries = Queries(np.array(list("tuvwxyz"), dtype=object), role, types, index, np.zeros((7, 1)))
    nearest = np.array([[0, 0, 0]] * 4 + [[0, 2, 1], [0, 0, 0], [3, 2, 0]])
    ids, share, chance = type_share(queries, nearest, types)
    assert ids.tolist() == ["x", "z"]
    np.testing.assert_allclose(share, [[1, 1 / 2, 2 / 3], [0, 1 / 2, 1 / 3]])
    assert chance.tolist() == [0.5, 0.25]

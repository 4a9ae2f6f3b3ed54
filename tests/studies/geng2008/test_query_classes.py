import numpy as np
import pyarrow as pa
import pytest

from qdrank.errors import InputError
from qdrank.queries.recipe import Queries
from qdrank.studies.geng2008.class_ranker import TypeClassifier, guess_classes
from qdrank.studies.geng2008.query_classes import Classes, fitted_columns, type_scores, type_share

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

"""Query types: the classifier and its scores against scikit-learn, the share of types against a loop."""

import numpy as np
import pytest

from qdrank.errors import InputError
from qdrank.queries.artifacts import Queries
from qdrank.studies.geng2008.class_ranker import TypeClassifier
from qdrank.studies.geng2008.query_classes import type_scores, type_share


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

"""Query vectors against a plain loop over queries."""

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qdrank.errors import InputError
from qdrank.queries import vectors as module
from qdrank.queries.recipe import VectorOptions, checked_columns, document_vectors, topics_of
from qdrank.queries.vectors import (
    POOLINGS,
    Standardiser,
    principal_axes,
    query_vectors,
    row_product,
    top_documents,
)


def by_hand(X, offsets, reference, top, pooling):
    rows = []
    for a, b in pairwise(offsets):
        best = sorted(range(a, b), key=lambda i: -X[i, reference])[:top]
        documents = X[best].astype(np.float64)
        parts = {"mean": documents.mean(axis=0), "std": documents.std(axis=0), "max": documents.max(axis=0)}
        rows.append(np.concatenate([parts[p] for p in pooling.split("+")]))
    return np.array(rows)


@given(
    sizes=st.lists(st.integers(1, 9), min_size=1, max_size=8),
    top=st.integers(1, 10),
    pooling=st.sampled_from(POOLINGS),
    seed=st.integers(0, 99),
)
def test_equals_a_loop_over_queries_with_ties_in_row_order(sizes, top, pooling, seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, size=(sum(sizes), 3)).astype(np.float32)  # few values: many ties
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    expected = by_hand(X, offsets, 1, top, pooling)
    np.testing.assert_allclose(query_vectors(X, offsets, 1, top=top, pooling=pooling), expected, atol=1e-12)


def test_reference_may_be_scores_and_their_nan_ranks_last():
    X = np.array([[1.0], [2.0], [4.0]])
    assert query_vectors(X, np.array([0, 3]), np.array([np.nan, 1.0, 5.0]), top=2)[0, 0] == 3.0


def test_blocks_change_nothing(monkeypatch):
    rng = np.random.default_rng(0)
    sizes = rng.integers(1, 80, size=50)
    X, offsets = rng.standard_normal((sizes.sum(), 5)), np.concatenate([[0], np.cumsum(sizes)])
    whole = query_vectors(X, offsets, 0, pooling="mean+std+max")
    for block in (1, 7, 100):
        monkeypatch.setattr(module, "_BLOCK", block)
        np.testing.assert_array_equal(query_vectors(X, offsets, 0, pooling="mean+std+max"), whole)


def test_equal_queries_have_equal_vectors():
    X = np.random.default_rng(0).standard_normal((7, 4)).astype(np.float32)
    twice = query_vectors(np.vstack([X, X]), np.array([0, 7, 14]), 0, pooling="mean+std")
    np.testing.assert_array_equal(twice[0], twice[1])


def test_missing_values_are_an_error_unless_stated():
    X = np.array([[1.0, 2.0], [3.0, np.nan], [5.0, np.nan]])
    offsets = np.array([0, 2, 3])
    with pytest.raises(InputError, match="feature 2 of document row 1"):
        query_vectors(X, offsets, 0)
    omitted = query_vectors(X, offsets, 0, missing="omit", pooling="mean+std+max")
    np.testing.assert_array_equal(omitted[0], [2, 2, 1, 0, 3, 2])
    assert np.isnan(omitted[1, 1])
    assert np.isnan(omitted[1, 5])


def test_missing_values_below_the_top_do_not_matter():
    X = np.array([[9.0, 2.0], [1.0, np.nan]])
    np.testing.assert_array_equal(query_vectors(X, np.array([0, 2]), 0, top=1), [[9.0, 2.0]])


@pytest.mark.parametrize("missing", ["error", "omit"])
def test_infinite_features_are_an_error(missing):
    with pytest.raises(InputError, match="no finite value"):
        query_vectors(np.array([[np.inf]]), np.array([0, 1]), 0, missing=missing)


def test_wrong_use_is_refused():
    X, offsets = np.zeros((2, 1)), np.array([0, 2])
    with pytest.raises(InputError, match="unknown pooling"):
        query_vectors(X, offsets, 0, pooling="median")
    with pytest.raises(InputError, match="top must be"):
        top_documents(X[:, 0], offsets, 0)
    with pytest.raises(InputError, match="without documents"):
        query_vectors(X, np.array([0, 0, 2]), 0)


def test_standardiser_is_fitted_on_training_queries_and_zeroes_constant_columns():
    train = np.array([[1.0, 0.1, 5.0], [3.0, 0.1, 7.0], [5.0, 0.1, 9.0]])
    standardise = Standardiser().fit(train)
    z = standardise.transform(train)
    np.testing.assert_allclose(z[:, [0, 2]].std(axis=0), 1)
    np.testing.assert_allclose(z.mean(axis=0), 0, atol=1e-15)
    other = standardise.transform(np.array([[3.0, 77.0, np.nan]]))
    np.testing.assert_allclose(other, 0)


def test_raw_vectors_are_left_alone_but_for_missing_values():
    train = np.array([[1.0, 2.0], [3.0, np.nan]])
    np.testing.assert_array_equal(Standardiser(scale=False).fit(train).transform(train), [[1, 2], [3, 2]])


def test_principal_axes_are_the_eigenvectors_of_the_covariance_up_to_sign():
    V = np.random.default_rng(1).standard_normal((40, 6)) @ np.diag([5, 3, 2, 1, 0.5, 0.1])
    mean, axes, variances = principal_axes(V, 3)
    expected, vectors = np.linalg.eigh(np.cov(V.T, bias=True))
    np.testing.assert_allclose(mean, V.mean(axis=0))
    np.testing.assert_allclose(np.abs(axes), np.abs(vectors[:, ::-1][:, :3]), atol=1e-10)
    np.testing.assert_allclose(variances, expected[::-1])
    assert (axes[np.abs(axes).argmax(axis=0), range(3)] > 0).all()
    assert principal_axes(V[:, :1] * np.ones(4), 3)[1].shape == (4, 1)
    assert principal_axes(np.ones((4, 3)), 2)[1].shape == (3, 0)


def test_row_product_does_not_depend_on_the_batch():
    rng = np.random.default_rng(2)
    rows, matrix = rng.standard_normal((33, 17)), rng.standard_normal((17, 5))
    whole = row_product(rows, matrix)
    np.testing.assert_allclose(whole, rows @ matrix, atol=1e-13)
    np.testing.assert_array_equal(np.vstack([row_product(r[None], matrix) for r in rows]), whole)


TOPICS = pa.table(
    {
        "query_id": ["a", "b", "c"],
        "text": ["one", "two", None],
        "query_columns": pa.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], pa.list_(pa.float64())),
    }
)


@pytest.mark.parametrize("with_columns", [False, True])
def test_the_top_documents_are_pooled_and_standardised(with_columns):
    X = np.array([[1, 5], [9, 1], [4, 4], [2, 8]], dtype=np.float32)
    options = VectorOptions(top=2, pooling="mean", view="given", query_columns=with_columns, scale="zscore")
    scaler, width = Standardiser(), 4 if with_columns else 2
    scaler.mean_, scaler.scale_ = np.arange(width) * 1.0, np.arange(1, width + 1) * 2.0
    recipe = document_vectors(options, scaler, TOPICS, reference=1, missing=False)
    own = np.array([[1.0, 2.0], [3.0, 4.0]])
    found = recipe.vectors(X, np.array([0, 3, 4]), own if with_columns else None)
    pooled = np.array([[(1 + 4) / 2, (5 + 4) / 2], [2, 8]])
    raw = np.hstack([pooled, own]) if with_columns else pooled
    np.testing.assert_allclose(found, (raw - scaler.mean_) / scaler.scale_)


def test_topics_are_found_by_the_ids_of_queries():
    own, text = topics_of(TOPICS, ["b", "a"])
    assert own.tolist() == [[3, 4], [1, 2]]
    assert text == ["two", "one"]
    assert topics_of(TOPICS, ["a", "c"])[1] is None
    with pytest.raises(InputError, match="not among the topics"):
        topics_of(TOPICS, ["nobody"])


def test_columns_of_another_number_are_refused():
    with pytest.raises(InputError, match="need 2 columns of the query itself"):
        checked_columns(np.zeros((3, 1)), 3, 2)

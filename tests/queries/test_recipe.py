from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from qdrank.errors import InputError
from qdrank.queries.artifacts import VectorOptions
from qdrank.queries.recipe import checked_columns, document_vectors, topics_of
from qdrank.queries.vectors import Standardiser

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

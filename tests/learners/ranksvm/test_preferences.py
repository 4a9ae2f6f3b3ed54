import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qdrank.errors import InputError
from qdrank.learners.ranksvm.hinge import Problem
from qdrank.learners.ranksvm.preferences import normal_matrix, pair_weights, prepare


def documents(sizes: list[int], seed: int, dtype: type = np.float64) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return rng.normal(3, 1, (offsets[-1], 3)).astype(dtype), rng.integers(0, 4, offsets[-1]), offsets


@given(st.lists(st.integers(0, 7), min_size=1, max_size=6), st.integers(0, 10**6))
def test_pairs_and_normal_matrix_equal_those_of_explicit_pairs(sizes: list[int], seed: int) -> None:
    """Queries without documents, with one, and with one grade among them."""
    X, y, offsets = documents(sizes, seed)
    ready = prepare(X, y, offsets)
    coef = np.random.default_rng(seed).random(len(sizes))
    expected, counts = np.zeros((3, 3)), []
    for q, (a, b) in enumerate(itertools.pairwise(offsets)):
        pairs = [X[i] - X[j] for i in range(a, b) for j in range(a, b) if y[i] > y[j]]
        counts.append(len(pairs))
        expected += coef[q] * sum((np.outer(d, d) for d in pairs), np.zeros((3, 3)))
    assert ready.pairs.tolist() == counts
    for batch in (1, 4, 1000):
        np.testing.assert_allclose(normal_matrix(ready, coef, batch=batch), expected, atol=1e-9)


@given(st.lists(st.integers(0, 7), min_size=1, max_size=6), st.integers(0, 10**6), st.data())
def test_the_matrix_of_few_queries_is_that_of_all_with_weights_zero(sizes: list[int], seed: int, data) -> None:
    X, y, offsets = documents(sizes, seed)
    ready = prepare(X, y, offsets)
    used = np.array(data.draw(st.lists(st.integers(0, len(sizes) - 1))), dtype=np.int64)  # a query may count twice
    coef = np.random.default_rng(seed).random(len(used))
    whole = np.zeros(len(sizes))
    np.add.at(whole, used, coef)
    found = Problem(ready, used, coef, 1.0, np.zeros(3)).all_pairs()
    np.testing.assert_allclose(found, normal_matrix(ready, whole), atol=1e-9)


def test_the_type_of_the_features_is_kept_and_the_input_unchanged() -> None:
    X, y, offsets = documents([4, 3], 0, np.float32)
    before = X.copy()
    assert prepare(X, y, offsets).X.dtype == np.float32
    assert prepare((10 * X).astype(np.int64), y, offsets).X.dtype == np.float64
    np.testing.assert_array_equal(X, before)


@pytest.mark.parametrize("offsets", [[], [1, 7], [0, 6], [0, 8], [0, 5, 3, 7]])
def test_offsets_that_do_not_cover_the_documents_are_refused(offsets: list[int]) -> None:
    X, y, _ = documents([4, 3], 0)
    with pytest.raises(InputError, match="do not cover"):
        prepare(X, y, np.array(offsets, dtype=np.int64))


def test_features_and_grades_must_match_and_be_finite() -> None:
    X, y, offsets = documents([4, 3], 0)
    with pytest.raises(InputError, match="do not match"):
        prepare(X, y[:-1], offsets)
    with pytest.raises(InputError, match="must be numbers"):
        prepare(X, y.astype(str), offsets)
    with pytest.raises(InputError, match="feature is not finite"):
        prepare(np.where(X[5, 1] == X, np.inf, X), y, offsets)
    with pytest.raises(InputError, match="grade is not finite"):
        prepare(X, np.where(np.arange(7) == 2, np.nan, y), offsets)


def test_equal_weighting_gives_every_query_with_pairs_the_same_sum() -> None:
    pairs, weights = np.array([4, 0, 10]), np.array([1.0, 5.0, 3.0])
    assert (pairs * pair_weights(pairs, "equal")).tolist() == [1, 0, 1]
    assert (pairs * pair_weights(pairs, "equal", weights)).tolist() == pytest.approx([1, 0, 3])
    np.testing.assert_array_equal(pair_weights(pairs, "pairs", weights), weights)


@pytest.mark.parametrize(
    ("weighting", "weights", "problem"),
    [
        ("documents", None, "unknown query weighting"),
        ("pairs", [1.0, 2.0], "query weights are needed"),
        ("equal", [1.0, -1.0, 1.0], "not negative"),
        ("pairs", [1.0, np.nan, 1.0], "finite"),
    ],
)
def test_bad_weights_are_named(weighting: str, weights: list[float] | None, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        pair_weights(np.array([1, 2, 3]), weighting, None if weights is None else np.array(weights))

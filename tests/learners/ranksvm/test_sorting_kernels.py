"""Sums over the pairs of a query by sorting and by a loop, both against all pairs written out."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qdrank.learners.ranksvm.kernels.sorting import ascending, dot, is_dense, pair_sums, slack_sums


def first_lower(grades):
    """For documents by falling grade, the first place of a lower grade; (n,)."""
    return np.array([np.count_nonzero(grades >= grade) for grade in grades], dtype=np.int64)


def all_pairs(s, lower, threshold):
    """Slack, sum of squares, and what each document gets, from every pair."""
    C, slack, squares = np.zeros(len(s)), 0.0, 0.0
    for i in range(len(s)):
        for j in range(lower[i], len(s)):
            v = max(0.0, threshold - s[i] + s[j])
            C[i], C[j], slack, squares = C[i] - v, C[j] + v, slack + v, squares + v * v
    return C, slack, squares


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(-6, 6)), min_size=1, max_size=14),
    st.sampled_from([0.0, 1.0, 2.5]),
)
def test_both_ways_give_the_sums_over_all_pairs(documents, threshold):
    """Scores in quarters, so that ties and pairs exactly at the threshold occur."""
    documents.sort(key=lambda one: -one[0])
    grades, scores = (np.array(column) for column in zip(*documents, strict=True))
    s, lower = scores / 4, first_lower(grades)
    expected, slack, squares = all_pairs(s, lower, threshold)
    for sums in (slack_sums, pair_sums):
        C = np.full(len(s), np.nan)
        np.testing.assert_allclose(sums(s, lower, threshold, C), (slack, squares), atol=1e-12)
        np.testing.assert_allclose(C, expected, atol=1e-12)


@pytest.mark.parametrize("n", [0, 1, 2, 7, 64, 65])
def test_the_order_is_the_stable_one(n):
    s = np.random.default_rng(n).integers(0, 5, size=n).astype(np.float64)
    np.testing.assert_array_equal(ascending(s), np.argsort(s, kind="stable"))


def test_a_query_is_dense_by_its_pairs_per_document():
    lower = first_lower(np.array([2, 1, 1, 0]))  # 3 + 1 + 1 pairs
    assert is_dense(lower, 1.2)
    assert not is_dense(lower, 1.25)


def test_a_product_is_summed_in_order():
    a, b = np.array([1e16, 1.0, -1e16]), np.ones(3)
    assert dot(a, b) == (1e16 + 1.0) - 1e16

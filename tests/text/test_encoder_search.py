"""Exact search: the order by products in double precision, ties by number, whatever the blocks."""

import numpy as np
import pytest

from qdrank.text import encoder_search
from qdrank.text.encoder_search import cosines, search


def drawn(n_queries, n_documents, width, *, seed=0, copies=0):
    """Unit vectors; some documents are copies of others."""
    rng = np.random.default_rng(seed)
    queries, documents = (rng.normal(size=(n, width)) for n in (n_queries, n_documents))
    documents[rng.integers(0, n_documents, copies)] = documents[rng.integers(0, n_documents, copies)]
    return tuple((one / np.linalg.norm(one, axis=1, keepdims=True)).astype(np.float32) for one in (queries, documents))


def by_sorting(queries, documents, n_top):
    """All products, sorted."""
    scores = np.array([[np.einsum("i,i", q, d) for d in documents.astype(float)] for q in queries.astype(float)])
    order = np.array([np.lexsort((np.arange(len(documents)), -row))[:n_top] for row in scores])
    return order, np.take_along_axis(scores, order, axis=1)


@pytest.mark.parametrize(("n_documents", "n_top", "copies"), [(300, 7, 0), (300, 7, 250), (300, 400, 0), (1, 1, 0)])
@pytest.mark.parametrize("block", [16, 1 << 15])
def test_the_best_are_those_of_a_full_sort(monkeypatch, n_documents, n_top, copies, block):
    queries, documents = drawn(9, n_documents, 24, copies=copies)
    monkeypatch.setattr(encoder_search, "_DOCUMENTS", block)
    monkeypatch.setattr(encoder_search, "_QUERIES", 4)
    found = search(queries, documents, n_top)
    order, scores = by_sorting(queries, documents, n_top)
    np.testing.assert_array_equal(found.document, order)
    np.testing.assert_allclose(found.score, scores, rtol=1e-14)


def test_equal_documents_tie_in_the_order_of_their_numbers(monkeypatch):
    """Also where there are so many that the pool must be decided before the end."""
    monkeypatch.setattr(encoder_search, "_DOCUMENTS", 64)
    one = drawn(1, 1, 384)[1]
    documents = np.repeat(one, 2000, axis=0)
    documents[1777] *= np.float32(1.01)
    found = search(one, documents, 5)
    assert found.document.tolist() == [[1777, 0, 1, 2, 3]]


def test_near_ties_are_decided_in_double_precision():
    """Documents that differ by less than single precision tells apart in their sums."""
    query = np.full((1, 384), 1 / np.sqrt(384), dtype=np.float32)
    documents = np.repeat(query, 500, axis=0)
    better = np.random.default_rng(1).permutation(500)[:20]
    documents[better, 0] = np.nextafter(documents[0, 0], np.float32(1))
    assert set(search(query, documents, 20).document[0].tolist()) == set(better.tolist())


def test_the_bytes_depend_on_no_block(monkeypatch):
    queries, documents = drawn(40, 3000, 64, copies=500)
    whole = search(queries, documents, 50)
    monkeypatch.setattr(encoder_search, "_DOCUMENTS", 77)
    monkeypatch.setattr(encoder_search, "_QUERIES", 3)
    for one, other in zip(whole, search(queries, documents, 50), strict=True):
        assert one.tobytes() == other.tobytes()


def test_cosines_of_pairs_are_the_scores_of_the_search():
    queries, documents = drawn(6, 40, 24)
    found = search(queries, documents, 10)
    rows = np.repeat(np.arange(6), 10)
    np.testing.assert_array_equal(cosines(queries, documents, rows, found.document.ravel()), found.score.ravel())
    assert cosines(queries, documents, rows[:0], rows[:0]).shape == (0,)

from math import log

import numpy as np
import pytest

from qdrank.datasets.collections.model import Documents
from qdrank.text.analyser import Analyser
from qdrank.text.index import analyse_queries, build_index
from qdrank.text.retrieve import retrieve
from qdrank.text.topics import QUERY_COLUMNS, lsa_columns, lsa_coordinates, query_columns

BODIES = ["wing flow", "wing", "heat plate heat", "plate", "flow heat wing plate", ""]
QUERIES = ["wing plate wing ghost", "", "ghost", "heat"]


@pytest.fixture
def index():
    documents = Documents([str(i) for i in range(len(BODIES))], {"body": BODIES})
    return build_index(documents, Analyser(stemmer="none", stop_words="none"))


def test_query_columns_by_hand(index):
    queries = analyse_queries(index, QUERIES)
    found = query_columns(index.main, queries, retrieve(index.main, queries))
    half, third = log(6 / 3), log(6 / 2)
    assert QUERY_COLUMNS == ("length", "known", "unknown", "idf.sum", "idf.mean", "idf.max", "idf.min", "log.matches")
    assert found[0] == pytest.approx([4, 2, 1, 2 * half, half, half, half, log(1 + 5)])
    assert found[1] == pytest.approx(np.zeros(8))
    assert found[2] == pytest.approx([1, 0, 1, 0, 0, 0, 0, 0])
    assert found[3] == pytest.approx([1, 1, 0, third, third, third, third, log(1 + 2)])


def test_latent_coordinates_are_those_of_the_dense_decomposition(index):
    counts = index.main.counts.toarray()
    idf = np.log(len(BODIES) / (counts > 0).sum(axis=0))
    weights = np.where(counts > 0, (1 + np.log(np.maximum(counts, 1))) * idf, 0)
    norm = np.linalg.norm(weights, axis=1, keepdims=True)
    weights = weights / np.where(norm > 0, norm, 1)
    left, size, right = np.linalg.svd(weights, full_matrices=False)
    sign = np.sign(right[np.arange(len(right)), np.abs(right).argmax(axis=1)])
    dense = (left * size * sign)[:, :2]
    length = np.linalg.norm(dense, axis=1, keepdims=True)
    dense = np.divide(dense, length, out=np.zeros_like(dense), where=length > 1e-12)
    found = lsa_coordinates(index.main, 2)
    assert np.allclose(found, dense, atol=1e-8)
    assert np.array_equal(found, lsa_coordinates(index.main, 2))


def test_a_query_lies_where_its_best_documents_lie(index):
    queries = analyse_queries(index, QUERIES)
    ranking = retrieve(index.main, queries, n_top=5)
    coordinates = lsa_coordinates(index.main, 2)
    found = lsa_columns(coordinates, ranking, n_best=2)
    assert np.allclose(found[3], coordinates[ranking.document[3, :2]].mean(axis=0))
    assert np.allclose(found[1], 0)


def test_asking_for_too_many_dimensions_gives_what_there_is(index):
    assert lsa_coordinates(index.main, 100).shape == (6, 3)

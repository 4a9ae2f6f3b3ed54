"""The simulated web on its way through the index and LETOR's features into the artifacts."""

import numpy as np
import pytest

from qdrank.datasets.columns import reference_column
from qdrank.datasets.judged import load_judged
from qdrank.datasets.simulated.settings import QUERY_KINDS, WebSimulation
from qdrank.datasets.simulated.web import simulate_web
from qdrank.queries.vectors import Standardiser, query_vectors
from qdrank.store import read
from qdrank.studies.geng2008.class_ranker import TypeClassifier
from qdrank.text.rank_features import letor46_columns
from qdrank.text.simweb import REFERENCE_NAME, TOPIC_COLUMNS, judged_web, write_simweb

SMALL = {"train": 240, "vali": 30, "test": 120, "sites": 60, "topics": 6, "candidates": 20}


@pytest.fixture(scope="module")
def web():
    return simulate_web(5, WebSimulation(**SMALL))


@pytest.fixture(scope="module")
def judged(web):
    return judged_web(web)


def column(judged, name):
    return judged[0].X[:, letor46_columns().index(name)]


def test_the_artifacts_hold_the_whole_web(tmp_path, web, judged):
    out = {name: tmp_path / f"{name}.parquet" for name in ("judged", "columns", "topics")}
    write_simweb(out, seed=5, **SMALL)
    table = load_judged(out["judged"])
    assert np.array_equal(table.X, judged[0].X)
    assert np.array_equal(table.y, web.collection.qrels.grade)
    assert letor46_columns()[reference_column(out["columns"])] == REFERENCE_NAME
    topics = read(out["topics"], "topics").to_pydict()
    assert topics["query_id"] == table.query_id.tolist()
    assert set(topics["type"]) == set(QUERY_KINDS)
    assert all(topics["text"])
    assert {len(own) for own in topics["query_columns"]} == {len(TOPIC_COLUMNS)}


def test_features_are_raw_finite_and_mostly_alive(judged):
    X = judged[0].X
    assert np.isfinite(X).all()
    assert (X.std(axis=0) > 0).all()
    assert X.max() > 10  # not scaled within the query


def test_the_columns_of_the_web_are_those_of_the_pages(web, judged):
    documents, qrels = web.collection.documents, web.collection.qrels
    n_in = np.bincount(documents.links[:, 1], minlength=len(documents))
    assert np.array_equal(column(judged, "link.inlinks"), n_in[qrels.document])
    lengths = np.array([len(url) for url in documents.fields["url"]])
    assert np.array_equal(column(judged, "url.characters"), lengths[qrels.document])
    slashes = np.array([url.partition("://")[2].count("/") for url in documents.fields["url"]])
    assert np.array_equal(column(judged, "url.slashes"), slashes[qrels.document])
    home = np.array([url.endswith(".org/") for url in documents.fields["url"]])
    assert column(judged, "url.children")[home[qrels.document]].min() > 0


def test_words_are_counted_as_they_stand_in_the_page(web, judged):
    qrels = web.collection.qrels
    titles = web.collection.documents.fields["title"]
    for row in range(0, len(qrels), 97):
        words = web.collection.queries[qrels.query[row]].text.split()
        expected = sum(titles[qrels.document[row]].split().count(word) for word in set(words))
        assert column(judged, "title.TF")[row] == expected


def test_pages_tell_the_kind_of_a_query_better_than_its_words(web, judged):
    """What the whole study rests on: the query vector sees what the query's words hide."""
    table, columns = judged
    kinds = np.array([query.type for query in web.collection.queries])
    train, test = table.part == "train", table.part == "test"
    vectors = query_vectors(table.X, table.offsets, letor46_columns().index(REFERENCE_NAME))
    vectors = Standardiser().fit(vectors[train]).transform(vectors)

    def accuracy(known):
        guessed = TypeClassifier(ridge=0.01).fit(known[train], kinds[train]).predict(known[test])
        return (guessed == kinds[test]).mean()

    assert 0.55 < accuracy(columns) < 0.8
    assert accuracy(vectors) > 0.9

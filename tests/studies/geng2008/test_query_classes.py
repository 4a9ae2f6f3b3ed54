import numpy as np
import pyarrow as pa
import pytest

from qdrank.errors import InputError
from qdrank.queries.artifacts import Queries
from qdrank.studies.geng2008.class_ranker import guess_classes
from qdrank.studies.geng2008.query_classes import Classes, fitted_columns

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

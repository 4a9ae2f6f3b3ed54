from collections import Counter
from math import log, log2, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qdrank.datasets.judged import Judged
from qdrank.errors import InputError
from qdrank.queries.profiles import distinct, places, profiler

LISTS = st.lists(st.lists(st.integers(0, 6), min_size=1, max_size=5, unique=True), min_size=1, max_size=6)


def documents(lists: list[list[int]], scores: np.ndarray | None = None) -> Judged:
    query = np.repeat(np.arange(len(lists)), [len(one) for one in lists])
    names = [f"d{number}" for one in lists for number in one]
    X = np.zeros((len(names), 1)) if scores is None else scores[:, None]
    return Judged.from_arrays(X, np.zeros(len(names), dtype=np.int64), query, names)


def cosine(a: dict[str, float], b: dict[str, float]) -> float:
    lengths = [sqrt(sum(weight**2 for weight in one.values())) for one in (a, b)]
    return sum(weight * b.get(name, 0.0) for name, weight in a.items()) / (lengths[0] * lengths[1])


@given(LISTS, LISTS, st.integers(0, 2**32 - 1))
def test_candidates_are_compared_by_discounted_ranks(train, new, seed):
    rng = np.random.default_rng(seed)
    judged = [documents(lists, rng.integers(0, 3, sum(map(len, lists))).astype(float)) for lists in (train, new)]
    weights = []
    for of in judged:
        for q in range(of.n_queries):
            rows = range(of.offsets[q], of.offsets[q + 1])
            ranked = sorted(rows, key=lambda row: (-of.X[row, 0], row))
            weights.append({of.doc_id[row]: 1 / log2(2 + rank) for rank, row in enumerate(ranked)})
    fitted = profiler("candidates", reference=0).fit(judged[0])
    similar = (fitted.transform(judged[1]) @ fitted.transform(judged[0]).T).toarray()
    known, asked = weights[: len(train)], weights[len(train) :]
    expected = [[cosine(one, other) for other in known] for one in asked]
    np.testing.assert_allclose(similar, expected, atol=1e-12)


def test_words_weigh_more_the_fewer_queries_have_them():
    train, new = ["apple pie", "apple apple tart", "plum"], ["apple plum", "quince", ""]
    judged = documents([[0]] * 3)
    fitted = profiler("words").fit(judged, train)
    having = Counter(word for text in train for word in set(text.split()))

    def weights(text: str) -> dict[str, float]:
        return {word: n * (log(4 / (1 + having[word])) + 1) for word, n in Counter(text.split()).items()}

    similar = (fitted.transform(judged, new) @ fitted.transform(judged, train).T).toarray()
    expected = [[cosine(weights(one), weights(other)) for other in train] for one in new[:1]]
    np.testing.assert_allclose(similar[:1], expected)
    assert (similar[1:] == 0).all()


def test_a_word_that_no_training_query_has_makes_a_query_less_similar():
    judged = documents([[0]] * 2)
    fitted = profiler("words").fit(judged, ["apple", "plum"])
    alone, beside = (fitted.transform(judged, ["apple", text]).toarray()[1] for text in ("apple", "apple quince"))
    assert alone.max() == pytest.approx(1.0)
    assert 0 < beside.max() < 1


def test_vectors_are_compared_by_their_directions():
    judged, vectors = documents([[0]] * 3), np.array([[3.0, 4.0], [-3.0, -4.0], [0.0, 0.0]])
    profiles = profiler("vectors").fit(judged, vectors).transform(judged, vectors)
    np.testing.assert_allclose(profiles @ profiles.T, [[1, -1, 0], [-1, 1, 0], [0, 0, 0]])


@given(st.lists(st.text(max_size=3), max_size=20))
def test_names_are_numbered_in_their_order(names):
    known, number = distinct(np.array(names, dtype=object))
    assert known.tolist() == sorted(set(names), key=lambda name: name.encode())
    assert [known[i] for i in number] == names
    assert places(np.array([*names, "none of them"], dtype=object), known).tolist() == [*number.tolist(), -1]


@pytest.mark.parametrize(
    ("similarity", "given_", "words"),
    [
        ("words", None, "text of every query"),
        ("words", ["one"], "text of every query"),
        ("vectors", None, "vector of every query"),
        ("vectors", np.zeros((3, 2)), "vector of every query"),
    ],
)
def test_what_is_missing_is_named(similarity, given_, words):
    with pytest.raises(InputError, match=words):
        profiler(similarity).fit(documents([[0], [1]]), given_)


def test_vectors_of_another_width_and_unknown_similarities_are_refused():
    judged = documents([[0], [1]])
    fitted = profiler("vectors").fit(judged, np.ones((2, 3)))
    with pytest.raises(InputError, match="3 columns, not 2"):
        fitted.transform(judged, np.ones((2, 2)))
    with pytest.raises(InputError, match="unknown similarity 'vector'"):
        profiler("vector")

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from qdrank.datasets.collections.model import Documents
from qdrank.text.analyser import Analyser
from qdrank.text.index import analyse_queries, build_index
from qdrank.text.rank_features import WEB_COLUMNS, children, pagerank, web_columns

PLAIN = Analyser(stemmer="none", stop_words="none")
texts = st.lists(st.lists(st.sampled_from("abcd"), max_size=6).map(" ".join), min_size=1, max_size=5)


def documents(**fields: list[str]) -> Documents:
    n = len(next(iter(fields.values())))
    return Documents([f"d{i}" for i in range(n)], fields)


@given(texts, st.randoms(use_true_random=False))
def test_counts_and_statistics_are_those_of_the_words(bodies, random):
    titles = [" ".join(random.choices("abcde", k=random.randrange(3))) for _ in bodies]
    index = build_index(documents(title=titles, body=bodies), PLAIN)
    for name, texts in (("title", titles), ("body", bodies), ("both", map(" ".join, zip(titles, bodies, strict=True)))):
        bags = [Counter(text.split()) for text in texts]
        field = index.fields[name]
        dense = field.counts.toarray()
        assert dense.tolist() == [[bag[term] for term in index.terms] for bag in bags]
        assert field.counts.has_canonical_format or field.counts.nnz == 0
        assert field.length.tolist() == [bag.total() for bag in bags]
        assert field.distinct.tolist() == [len(bag) for bag in bags]
        assert field.df.tolist() == [sum(term in bag for bag in bags) for term in index.terms]
        assert field.cf.tolist() == [sum(bag[term] for bag in bags) for term in index.terms]
        assert field.n_tokens == sum(bag.total() for bag in bags)
        assert np.array_equal(field.postings.toarray(), dense)


def test_a_collection_without_titles_has_its_body_for_both():
    index = build_index(documents(body=["a b", "c"]), PLAIN)
    assert set(index.fields) == {"body", "both"}
    assert np.array_equal(index.main.counts.toarray(), index.fields["body"].counts.toarray())


def test_the_whole_page_is_the_sum_of_its_streams():
    index = build_index(documents(title=["a"], body=["a b"], anchor=["c a"], url=["http://a/b"]), PLAIN)
    whole = dict(zip(index.terms, index.fields["whole"].counts.toarray()[0].tolist(), strict=True))
    assert whole == {"a": 4, "b": 2, "c": 1, "http": 1}
    assert index.main.n_tokens == 3


def test_queries_keep_repetitions_and_count_unknown_words():
    index = build_index(documents(body=["wing flow", "plate"]), PLAIN)
    queries = analyse_queries(index, ["flow flow plate", "", "ghost wing ghost", "ghost"])
    assert index.terms == ["flow", "plate", "wing"]
    assert queries.counts.toarray().tolist() == [[2, 1, 0], [0, 0, 0], [0, 0, 1], [0, 0, 0]]
    assert queries.length.tolist() == [3, 0, 3, 1]
    assert queries.unknown.tolist() == [0, 0, 2, 1]
    assert len(analyse_queries(index, [])) == 0
    assert len(analyse_queries(index, [""])) == 1


def test_empty_texts_make_an_empty_index():
    index = build_index(documents(body=["", ""]), PLAIN)
    assert index.terms == []
    assert index.main.mean_length == 1.0


def google_matrix(links: np.ndarray, n: int, damping: float = 0.85) -> np.ndarray:
    """The dense matrix whose stationary distribution PageRank is."""
    matrix = np.zeros((n, n))
    for source in range(n):
        targets = links[links[:, 0] == source, 1]
        matrix[targets if len(targets) else slice(None), source] = 1 / (len(targets) or n)
    return damping * matrix + (1 - damping) / n


@given(st.integers(1, 6).flatmap(lambda n: st.tuples(st.just(n), st.sets(st.tuples(*[st.integers(0, n - 1)] * 2)))))
def test_pagerank_is_the_stationary_distribution(graph):
    n, pairs = graph
    links = np.array(sorted(pairs), dtype=np.int64).reshape(-1, 2)
    rank = pagerank(links, n)
    assert np.allclose(google_matrix(links, n) @ rank, rank, atol=1e-10)
    assert np.isclose(rank.sum(), 1.0)


def test_children_are_the_pages_directly_below():
    urls = [
        "http://s.org/",
        "http://s.org/a/",
        "http://s.org/a/x.html",
        "http://s.org/a/b/y.html",
        "http://s.org/c",
        "",
    ]
    assert children(urls).tolist() == [2, 1, 0, 0, 0, 0]


def test_columns_of_a_small_web():
    pages = Documents(
        ["a", "b", "c"],
        {"body": ["", "", ""], "url": ["http://s.org/", "http://s.org/x/y", "t.org"]},
        np.array([[0, 1], [1, 0], [2, 0]]),
    )
    found = web_columns(pages)
    assert tuple(found) == WEB_COLUMNS
    assert found["link.inlinks"].tolist() == [2, 1, 0]
    assert found["link.outlinks"].tolist() == [1, 1, 1]
    assert found["url.slashes"].tolist() == [1, 2, 0]
    assert found["url.characters"].tolist() == [13, 16, 5]
    assert found["link.pagerank"].argmax() == 0


def test_without_links_and_urls_all_columns_are_0():
    assert not any(values.any() for values in web_columns(Documents(["a"], {"body": ["x"]})).values())

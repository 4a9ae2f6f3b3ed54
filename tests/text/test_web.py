import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from qdrank.datasets.collections.model import Documents
from qdrank.text.rank_features import WEB_COLUMNS, children, pagerank, web_columns


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

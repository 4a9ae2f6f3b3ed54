from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from qdrank.datasets.collections.model import Documents
from qdrank.text.analyser import Analyser
from qdrank.text.index import analyse_queries, build_index

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

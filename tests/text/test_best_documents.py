"""The best documents of a query from postings, against sums and sorts in Python."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from qdrank.text.retrieve import top_by_score

# Quarters are exact, so that sums in any order are equal, and ties are frequent.
WEIGHTS = st.sampled_from([0.0, 0.25, 0.5, 1.0])


@st.composite
def indexes(draw):
    n_documents = draw(st.integers(1, 9))
    postings = draw(st.lists(st.dictionaries(st.integers(0, n_documents - 1), WEIGHTS), min_size=1, max_size=5))
    terms = st.dictionaries(st.integers(0, len(postings) - 1), st.integers(1, 3))
    queries = draw(st.lists(terms, min_size=1, max_size=4))
    return n_documents, postings, queries, draw(st.integers(1, 6))


def matrix(rows: list[dict[int, float]], n_columns: int) -> sparse.csr_array:
    keys = [key for row in rows for key in sorted(row)]
    values = np.array([row[key] for row in rows for key in sorted(row)], dtype=np.float64)
    return sparse.csr_array((values, keys, np.cumsum([0, *map(len, rows)])), shape=(len(rows), n_columns))


@given(indexes())
def test_the_best_documents_are_those_of_a_full_sort(case):
    n_documents, postings, queries, n_top = case
    best, scores, sizes, matches = top_by_score(matrix(queries, len(postings)), matrix(postings, n_documents), n_top)
    for q, query in enumerate(queries):
        total: dict[int, float] = {}
        for term, times in query.items():
            for document, weight in postings[term].items():
                total[document] = total.get(document, 0.0) + times * weight
        ranked = sorted(total, key=lambda document: (-total[document], document))[:n_top]
        assert matches[q] == len(total)
        assert sizes[q] == len(ranked)
        assert best[q].tolist() == ranked + [-1] * (n_top - len(ranked))
        assert scores[q].tolist() == [total[document] for document in ranked] + [0.0] * (n_top - len(ranked))

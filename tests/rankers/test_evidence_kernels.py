"""Sums of other queries' judgments and means of curves, against dense arithmetic."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from qdrank.rankers.evidence_kernels import add_by_terms, add_by_vectors

GAMMAS = np.array([1.0, 2.0])
OFFSETS = np.array([0, 3, 5, 9])
#: Document of every row; -1 has no judgment.
DOCUMENT = np.array([0, 1, -1, 2, 0, 4, 3, -1, 1])
#: The place of each query among the training queries, or -1.
ITSELF = np.array([1, -1, 4])


def judgments(rng):
    """Grades of 5 training queries and 5 documents, dense and by document."""
    grades = rng.integers(0, 3, size=(5, 5)) * (rng.random((5, 5)) < 0.6)
    query, document = np.nonzero(grades)
    order = np.lexsort((query, document))
    first = np.concatenate([[0], np.cumsum(np.bincount(document, minlength=5))])
    return grades.astype(np.float64), (first, query[order], grades[query, document][order].astype(np.float64))


def dense_sums(sim, grades, near, equal):
    """The definition: for each row, grades of its document, times powers of the similarity of the two queries."""
    out = np.zeros((len(DOCUMENT), 1 if equal else len(GAMMAS)))
    for q in range(len(OFFSETS) - 1):
        for r in range(OFFSETS[q], OFFSETS[q + 1]):
            for other in range(len(grades)) if DOCUMENT[r] >= 0 else ():
                if other == ITSELF[q] or sim[q, other] >= near:
                    continue
                weight = 1.0 if equal else sim[q, other] ** GAMMAS if sim[q, other] > 0 else 0.0
                out[r] += weight * grades[other, DOCUMENT[r]]
    return out


@pytest.mark.parametrize("equal", [True, False])
@pytest.mark.parametrize("near", [np.inf, 0.5])
def test_sums_by_terms_are_those_of_the_definition(near, equal):
    rng = np.random.default_rng(0)
    grades, kept = judgments(rng)
    asked, train = (sparse.random_array((n, 6), density=0.5, rng=rng, format="csr", dtype=np.float64) for n in (3, 5))
    sim = (asked @ train.T).toarray()
    columns = train.tocsc()
    lists = columns.indptr.astype(np.int64), columns.indices.astype(np.int64), columns.data
    out = np.zeros((len(DOCUMENT), 1 if equal else 2))
    rows = asked.indptr.astype(np.int64), asked.indices.astype(np.int64), asked.data
    add_by_terms(OFFSETS, DOCUMENT, ITSELF, near, GAMMAS, equal, *rows, *lists, *kept, 5, out)
    expected = dense_sums(sim, grades, near, equal)
    np.testing.assert_allclose(out, expected, rtol=1e-12)
    assert np.count_nonzero(expected)


@pytest.mark.parametrize("equal", [True, False])
@pytest.mark.parametrize("near", [np.inf, 1.0])
def test_sums_by_vectors_are_those_of_the_definition(near, equal):
    rng = np.random.default_rng(1)
    grades, kept = judgments(rng)
    asked, train = rng.normal(size=(3, 4)), rng.normal(size=(5, 4))
    out = np.zeros((len(DOCUMENT), 1 if equal else 2))
    add_by_vectors(OFFSETS, DOCUMENT, ITSELF, near, GAMMAS, equal, asked, train, *kept, out)
    # A negative similarity counts as none.
    expected = dense_sums(np.maximum(asked @ train.T, 0.0), grades, near, equal)
    np.testing.assert_allclose(out, expected, rtol=1e-12)
    assert np.count_nonzero(expected)

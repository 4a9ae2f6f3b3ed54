"""Several runs side by side: all documents that any returns, ranks, and scores made comparable within each query."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from qdrank.datasets.runs.model import Run
from qdrank.layout import FloatArray, IntArray, query_index

#: Names of a run's columns; the tag follows.
COLUMNS = ("min-max of", "z-score of", "rank in", "1/rank in", "retrieved by")


def min_max(scores: FloatArray, rank: IntArray, offsets: IntArray) -> FloatArray:  # noqa: ARG001
    """Scores of each query from 0 to 1, all 1 where they are equal; shape (n_documents,)."""
    low, high = _ends(scores, offsets)
    scaled: FloatArray = np.divide(scores - low, high - low, out=np.ones(len(scores)), where=high > low)
    return scaled


def z_score(scores: FloatArray, rank: IntArray, offsets: IntArray) -> FloatArray:  # noqa: ARG001
    """Scores of each query with mean 0 and variance 1, all 0 where they are equal; shape (n_documents,)."""
    of_query, n = query_index(offsets), np.diff(offsets)
    low, high = _ends(scores, offsets)
    centred = scores - (np.bincount(of_query, weights=scores, minlength=len(n)) / n)[of_query]
    deviation = np.sqrt(np.bincount(of_query, weights=centred**2, minlength=len(n)) / n)[of_query]
    scaled: FloatArray = np.divide(centred, deviation, out=np.zeros(len(scores)), where=high > low)
    return scaled


def by_rank(scores: FloatArray, rank: IntArray, offsets: IntArray) -> FloatArray:  # noqa: ARG001
    """1 for the first of n documents, 1 - 1/n for the second, 1/n for the last; shape (n_documents,)."""
    n = np.diff(offsets)[query_index(offsets)]
    return 1 - (rank - 1) / n


def _ends(scores: FloatArray, offsets: IntArray) -> tuple[FloatArray, FloatArray]:
    """Lowest and highest score of each document's query."""
    sizes = np.diff(offsets)
    low, high = (ufunc.reduceat(scores, offsets[:-1]) for ufunc in (np.minimum, np.maximum))
    return np.repeat(low, sizes), np.repeat(high, sizes)


def run_ranks(run: Run) -> IntArray:
    """Rank of each document in its query, from 1: by descending score, ties by descending id; shape (n_documents,)."""
    of_query = query_index(run.offsets)
    _, docno = np.unique(run.doc.astype(str), return_inverse=True)
    order = np.lexsort((-docno, -run.score, of_query))
    ranks = np.empty(len(order), dtype=np.int64)
    ranks[order] = np.arange(len(order)) - run.offsets[:-1][of_query] + 1
    return ranks


def alone(X: NDArray[Any]) -> FloatArray:
    """Each run's own ranking from the columns of runs, (n_documents, n_runs): 1/rank, minus infinity where it lacks the document."""
    first = X[:, COLUMNS.index("1/rank in") :: len(COLUMNS)].astype(np.float64)
    return np.where(first > 0, first, -np.inf)


class Union(NamedTuple):
    """All documents that any run returns: ids in order, query and document of each pair, and the pairs of each run's rows."""

    queries: NDArray[Any]
    docs: NDArray[Any]
    of_query: IntArray
    docno: IntArray
    rows: list[IntArray]


def union_of(runs: Sequence[Run]) -> Union:
    """Join runs on query and document; queries in order of first appearance, documents by their ids."""
    queries = list(dict.fromkeys(name for run in runs for name in run.place))
    place = {name: i for i, name in enumerate(queries)}
    docs, docno = np.unique(np.concatenate([run.doc.astype(str) for run in runs]), return_inverse=True)
    of_query = [np.array([place[name] for name in run.place])[query_index(run.offsets)] for run in runs]
    pairs, row = np.unique(np.concatenate(of_query) * len(docs) + docno, return_inverse=True)
    rows = np.split(row, np.cumsum([len(run.doc) for run in runs])[:-1])
    names = np.array(queries, dtype=object), docs.astype(object)
    return Union(*names, pairs // len(docs), pairs % len(docs), rows)

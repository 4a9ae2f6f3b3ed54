"""The usual measures, one function each. They are not in `compute`, so that a job depends only on the one it calls."""

from __future__ import annotations

from numpy.typing import ArrayLike

from qdrank.layout import FloatArray
from qdrank.measures.compute import measure


def average_precision(y: ArrayLike, scores: ArrayLike, offsets: ArrayLike) -> FloatArray:
    """Average precision of each query, shape (n_queries,), or (n_queries, n_rankers) for a matrix of scores."""
    return measure(["ap"], y, scores, offsets)["ap"]


def ndcg(y: ArrayLike, scores: ArrayLike, offsets: ArrayLike, k: int = 10, convention: str = "exp") -> FloatArray:
    """NDCG@k of each query, shape (n_queries,), or (n_queries, n_rankers) for a matrix of scores."""
    name = f"ndcg@{k}/{convention}"
    return measure([name], y, scores, offsets)[name]

"""Scores of many rankers, (n_rankers, n_documents), treated query by query: scales, distributions, divergences.

Every query has at least one document.
"""

from __future__ import annotations

import numpy as np

from qdrank.layout import FloatArray, IntArray
from qdrank.studies.lin2011.readings import Distribution, Divergence, ScoreScale

EPSILON = 1e-6


def per_document(values: FloatArray, offsets: IntArray) -> FloatArray:
    """Values of queries (..., n_queries) repeated for their documents (..., n_documents)."""
    return np.repeat(values, np.diff(offsets), axis=-1)


def score_sums(values: FloatArray, offsets: IntArray) -> FloatArray:
    """Sum over the documents of each query, (..., n_documents) to (..., n_queries)."""
    total: FloatArray = np.add.reduceat(values, offsets[:-1], axis=-1)
    return total


def _unit(S: FloatArray, offsets: IntArray) -> FloatArray:
    """Scores within each query from 0 to 1; 0 where all are equal."""
    low, high = np.minimum.reduceat(S, offsets[:-1], axis=-1), np.maximum.reduceat(S, offsets[:-1], axis=-1)
    span = high - low
    scaled: FloatArray = (S - per_document(low, offsets)) / per_document(np.where(span > 0, span, 1.0), offsets)
    return scaled


def _standard(S: FloatArray, offsets: IntArray) -> FloatArray:
    """Scores within each query with mean 0 and deviation 1; 0 where all are equal."""
    sizes = np.diff(offsets)
    centred = S - per_document(score_sums(S, offsets) / sizes, offsets)
    deviation = np.sqrt(score_sums(centred**2, offsets) / sizes)
    # equal scores may differ from their mean by rounding
    equal = np.maximum.reduceat(S, offsets[:-1], axis=-1) == np.minimum.reduceat(S, offsets[:-1], axis=-1)
    scaled: FloatArray = centred * per_document(np.where(equal, 0.0, 1 / np.where(equal, 1.0, deviation)), offsets)
    return scaled


def scaled(S: FloatArray, offsets: IntArray, scale: ScoreScale) -> FloatArray:
    """Scores on a scale that eq. 1 can sum; different Ranking SVMs have different scales."""
    if scale == "raw":
        return S
    return _unit(S, offsets) if scale == "minmax" else _standard(S, offsets)


def distributions(S: FloatArray, offsets: IntArray, kind: Distribution) -> FloatArray:
    """Scores as positive shares that sum to 1 within each query; equal scores give the uniform distribution.

    ``minmax``: u = (s - min) / (max - min) + 1e-6, p = u / sum u.
    ``softmax``: the softmax of s divided by its deviation within the query.
    """
    if kind == "minmax":
        u = _unit(S, offsets) + EPSILON
    else:
        z = _standard(S, offsets)
        u = np.exp(z - per_document(np.maximum.reduceat(z, offsets[:-1], axis=-1), offsets))
    return u / per_document(score_sums(u, offsets), offsets)


def kl(P: FloatArray, Q: FloatArray, offsets: IntArray) -> FloatArray:
    """Eq. 2: Kullback-Leibler divergence in bits, (..., n_documents) twice to (..., n_queries)."""
    return score_sums(P * np.log2(P / Q), offsets)


def divergences(local: FloatArray, base: FloatArray, offsets: IntArray, kind: Divergence) -> FloatArray:
    """Divergence of local models' distributions (m, n_documents) from the base model's (n_documents,): (m, n_queries)."""
    base = np.broadcast_to(base, local.shape)
    if kind == "local-base":
        return kl(local, base, offsets)
    if kind == "base-local":
        return kl(base, local, offsets)
    middle = (local + base) / 2
    return (kl(base, middle, offsets) + kl(local, middle, offsets)) / 2


def combined(S: FloatArray, weights: FloatArray, offsets: IntArray) -> FloatArray:
    """Eq. 1: sum over the local models of weight times score.

    Parameters
    ----------
    S : (m, n_documents) scores, already scaled
    weights : (m, n_queries)
    offsets : (n_queries + 1,)
    """
    total: FloatArray = np.einsum("mn,mn->n", per_document(weights, offsets), S)
    return total


def uniform_where_none(weights: FloatArray) -> FloatArray:
    """Weights (m, n_queries), with equal weights for queries whose weights are all 0."""
    none = weights.sum(axis=0) == 0
    return np.where(none, 1.0, weights) if none.any() else weights

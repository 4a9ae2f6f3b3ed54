"""Scores of many rankers, query by query, and what they say of clusters: one for a query (algorithm 1), or weights of all (2, 3).

Scores are (n_rankers, n_documents); every query has at least one document.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from qdrank.layout import FloatArray, IntArray, query_index
from qdrank.measures.ranking import rows_by_score
from qdrank.studies.lin2011.clusters import nearest
from qdrank.studies.lin2011.methods import Readings

if TYPE_CHECKING:
    from qdrank.studies.lin2011.settings import (
        Confidence,
        Distribution,
        Divergence,
        ScoreScale,
        Transformation,
        Weighting,
    )

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


def top_rows(scores: FloatArray, offsets: IntArray, t: int) -> tuple[IntArray, IntArray]:
    """The ``t`` best documents of every query, or all if it has fewer: rows by rank, and bounds (n_queries + 1,)."""
    ranked, sizes = rows_by_score(scores, offsets), np.diff(offsets)
    rank = np.arange(offsets[-1]) - np.repeat(offsets[:-1], sizes)
    return ranked[rank < t], np.concatenate([[0], np.cumsum(np.minimum(sizes, t))])


def run_means(X: FloatArray, rows: IntArray, bounds: IntArray) -> FloatArray:
    """Mean feature vector of each run of rows, shape (n_runs, n_features); runs are not empty."""
    total: FloatArray = np.add.reduceat(X[rows], bounds[:-1], axis=0)
    return total / np.diff(bounds)[:, None]


def naive_choices(
    X: FloatArray, scores: FloatArray, offsets: IntArray, centres: FloatArray, ts: Sequence[int], representation: str
) -> dict[int, IntArray]:
    """Algorithm 1: the cluster nearest to each query's top-t documents, for every t, shape (n_queries,).

    Parameters
    ----------
    X : (n_documents, n_features) on the scale of the centres
    scores : (n_documents,) of the global Ranking SVM
    centres : (m, n_features), NaN where a cluster is empty
    representation : "mean" of the documents, or each document's "vote"
    """
    choices = {}
    for t in ts:
        rows, bounds = top_rows(scores, offsets, t)
        if representation == "mean":
            choices[t] = nearest(run_means(X, rows, bounds), centres)
        else:
            choices[t] = majority(nearest(X[rows], centres), bounds, len(centres))
    return choices


def majority(votes: IntArray, bounds: IntArray, m: int) -> IntArray:
    """Cluster with most votes in each run, shape (n_runs,); ties go to the cluster voted for first."""
    run = query_index(bounds)
    counts = np.zeros((len(bounds) - 1, m))
    np.add.at(counts, (run, votes), 1)
    # a bonus smaller than one vote; the earlier the first vote, the larger the bonus
    bonus = 1 - (np.arange(len(votes)) - bounds[run] + 1) / (np.diff(bounds)[run] + 1)
    first = np.zeros_like(counts)
    np.maximum.at(first, (run, votes), bonus)
    best: IntArray = (counts + first).argmax(axis=1)
    return best


def relevant_choices(X: FloatArray, y: IntArray, offsets: IntArray, centres: FloatArray) -> IntArray:
    """RelevantOnly, an oracle: the cluster nearest to the mean of the relevant documents, shape (n_queries,).

    A query without relevant documents uses the mean of all; its average precision is 0 in any case.
    """
    counts = score_sums((y > 0).astype(np.float64), offsets)
    use = (y > 0) | (np.repeat(counts, np.diff(offsets)) == 0)
    bounds = np.concatenate([[0], np.cumsum(score_sums(use.astype(np.float64), offsets))]).astype(np.int64)
    return nearest(run_means(X, np.flatnonzero(use), bounds), centres)


def transformed(base: FloatArray, single: FloatArray, offsets: IntArray, readings: Readings) -> FloatArray:
    """Algorithm 3, step 1: every query as a point, (n_queries, 2), from the scores (n_documents,) of two models."""
    kind: Transformation = readings.transformation
    if kind == "top-scores":
        return np.stack([_top_mean(scores, offsets, readings.top) for scores in (base, single)], axis=1)
    p, q = (distributions(scores, offsets, readings.distribution) for scores in (base, single))
    if kind == "divergence":
        return np.stack([kl(p, q, offsets), kl(q, p, offsets)], axis=1)
    sizes = np.diff(offsets)
    uniform = np.repeat(1 / sizes, sizes)
    return np.stack([kl(p, uniform, offsets), kl(q, uniform, offsets)], axis=1)


def _top_mean(scores: FloatArray, offsets: IntArray, t: int) -> FloatArray:
    rows, bounds = top_rows(scores, offsets, t)
    return run_means(np.asarray(scores, dtype=np.float64)[:, None], rows, bounds)[:, 0]


def point_scale(train: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Mean and inverse deviation of the training queries' points in each dimension; 0 if the points do not differ."""
    deviation = train.std(axis=0)
    return train.mean(axis=0), np.where(deviation > 0, 1 / np.where(deviation > 0, deviation, 1.0), 0.0)


def standardised_rows(train: FloatArray, *others: FloatArray) -> list[FloatArray]:
    """Points on the scale on which those of the training queries have mean 0 and deviation 1 in each dimension."""
    mean, inverse = point_scale(train)
    return [(points - mean) * inverse for points in (train, *others)]


def select_weights(
    delta: FloatArray,
    member_cluster: IntArray,
    member_delta: FloatArray,
    member_ap: FloatArray,
    ks: Sequence[int],
    confidence: Confidence = "sum",
) -> dict[int, FloatArray]:
    """Algorithm 2: the weight of a cluster is the confidence of its k queries most similar to the given query.

    Returns a dictionary from k to weights (m, n_queries); where all are 0 they are equal.

    Parameters
    ----------
    delta : (m, n_queries) divergence of every local model from the base model on the query's documents (eq. 2)
    member_cluster : (n_members,) cluster of each training query that belongs to one
    member_delta : (n_members,) the same divergence of its cluster's model on its own documents
    member_ap : (n_members,) average precision of its cluster's model on it
    ks : numbers of queries kept (step 3)
    confidence : "sum" or "mean" of the kept queries' average precisions (step 4)
    """
    weights = {k: np.zeros(delta.shape) for k in ks}
    for i in range(len(delta)):
        of_cluster = np.flatnonzero(member_cluster == i)
        if len(of_cluster) == 0:
            continue
        totals = _running_totals(delta[i], member_delta[of_cluster], member_ap[of_cluster], max(ks))
        for k in ks:
            kept = min(k, len(of_cluster))
            weights[k][i] = totals[:, kept - 1] / (kept if confidence == "mean" else 1)
    return {k: uniform_where_none(one) for k, one in weights.items()}


def _running_totals(delta: FloatArray, own_delta: FloatArray, own_ap: FloatArray, most: int) -> FloatArray:
    """Sum of the average precisions of the 1, 2, ... nearest queries of a cluster, shape (n_queries, up to most)."""
    # rounded, so that equal distances tie in any order of summation; the earlier training query comes first
    apart = np.abs(delta[:, None] - own_delta).round(12)
    order = np.argsort(apart, axis=1, kind="stable")[:, :most]
    return np.cumsum(own_ap[order], axis=1)


def distance_weights(
    points: FloatArray, centres: FloatArray, weighting: Weighting, width: float, *, smallest: float = 1e-9
) -> FloatArray:
    """Algorithm 3: weights that fall with the distance from the centres, (m, n_queries), summing to 1.

    Parameters
    ----------
    points : (n_queries, 2) transformed queries
    centres : (m, 2), NaN where a cluster is empty, whose weight is 0
    weighting : "inverse", 1 / (distance + 1e-9), or "gaussian", exp(-distance^2 / 2 width^2)
    width : median distance of the training queries from their own centre
    """
    distance = np.sqrt(((points[None] - centres[:, None]) ** 2).sum(axis=2))
    if weighting == "inverse":
        raw = 1 / (distance + smallest)
    else:
        # the nearest centre has exponent 0, so that far queries keep their weights
        exponent = -(distance**2) / (2 * max(width, smallest) ** 2)
        raw = np.exp(exponent - np.nanmax(exponent, axis=0))
    filled = np.where(np.isnan(raw), 0.0, raw)
    weights: FloatArray = uniform_where_none(filled)
    shares: FloatArray = weights / weights.sum(axis=0)
    return shares


def median_distance(points: FloatArray, centres: FloatArray, label: IntArray) -> float:
    """Median distance of the training queries (n_queries, 2) from the centre of their own cluster."""
    return float(np.median(np.sqrt(((points - centres[label]) ** 2).sum(axis=1))))

"""Weights of the clusters for a query: SelectRanker (algorithm 2) and Transform (algorithm 3)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from qdrank.layout import FloatArray, IntArray
from qdrank.studies.lin2011.readings import Confidence, Weighting
from qdrank.studies.lin2011.scores import uniform_where_none


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

"""Queries as points: top documents for Naive (algorithm 1), two global models for Transform (algorithm 3)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from qdrank.layout import FloatArray, IntArray, query_index
from qdrank.measures.ranking import rows_by_score
from qdrank.studies.lin2011.clusters import nearest
from qdrank.studies.lin2011.options import Readings
from qdrank.studies.lin2011.readings import Transformation
from qdrank.studies.lin2011.scores import distributions, kl, score_sums


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

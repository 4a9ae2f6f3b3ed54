"""Small judged data whose weights depend on the query, and the objective of local and bilinear models pair by pair."""

import numpy as np

from qdrank.datasets.judged import Judged


def world(seed=0, n_queries=24, d=4, columns=3, longest=9, first=0):
    """Documents and vectors of queries."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, longest, n_queries)
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    vectors = rng.normal(size=(n_queries, columns))
    X = rng.normal(size=(offsets[-1], d)).astype(np.float32)
    signal = X[:, 0] + vectors[np.repeat(np.arange(n_queries), sizes), 0] * X[:, 1]
    judged = Judged(
        query_id=np.array([f"q{first + i:03d}" for i in range(n_queries)], dtype=object),
        part=np.full(n_queries, "train", dtype=object),
        offsets=offsets,
        doc_id=np.array([f"d{i}" for i in rng.integers(0, 60, offsets[-1])], dtype=object),
        y=(signal > 0.5).astype(np.int64) + (signal > 1.5),
        X=X,
    )
    return judged, vectors


def pairs(judged, q):
    """Differences of features of better and worse documents of a query, (n_pairs, d)."""
    rows = slice(judged.offsets[q], judged.offsets[q + 1])
    X, y = judged.X[rows].astype(float), judged.y[rows]
    i, j = np.nonzero(y[:, None] > y)
    return X[i] - X[j]


def mean_loss(w, differences, weights):
    """Weighted mean of the squared hinge over pairs (n, d), and its gradient."""
    slack = np.maximum(0, 1 - differences @ w)
    total = weights.sum()
    return float(weights @ slack**2 / total), -2 * (weights * slack) @ differences / total

"""Pairs of documents formed one by one, the reference for the compiled kernels."""

import numpy as np


def pairs_of(data, q):
    """Rows of the better and of the worse document of each pair of a query."""
    start, end = data.offsets[q], data.offsets[q + 1]
    better, worse = np.nonzero(np.arange(end - start) >= data.lower[start:end, None])
    return start + better, start + worse


def differences(data, q):
    """Features of the better less those of the worse document of each pair, (n_pairs, d)."""
    better, worse = pairs_of(data, q)
    return np.subtract(data.X[better], data.X[worse], dtype=np.float64)


def model_sums(data, neighbours, coef, W):
    """Weighted slacks (n,) and gradients (n, d) of models with the queries ``neighbours`` (n, k) and weights ``W`` (n, d)."""
    slacks, G = np.zeros(len(W)), np.zeros(W.shape)
    for m, w in enumerate(W):
        for q, c in zip(neighbours[m], coef[m], strict=True):
            D = differences(data, q)
            v = np.maximum(0, 1 - D @ w)
            slacks[m] += c * v.sum()
            G[m] -= 2 * c * (v @ D)
    return slacks, G

"""K-means of query vectors: classes if the data have none, and groups of training queries that share a model."""

from __future__ import annotations

from math import ceil, log10

import numpy as np

from qdrank.errors import InputError
from qdrank.layout import FloatArray, IntArray

_EQUAL = 1e-9  # relative difference up to which two sums count as equal, in any order of summation


def k_means(
    vectors: FloatArray, k: int, *, seed: int, starts: int = 1, limit: int = 100
) -> tuple[FloatArray, IntArray]:
    """Centres, shape (k, n_columns), and the centre of every query, shape (n_queries,).

    Lloyd's algorithm from k-means++ starts; a centre that loses its last query moves to the query farthest from its
    own centre. Of several starts the one with the smallest sum of squared distances is kept, the first of equal ones.
    The same vectors and seed give the same result.
    """
    if not 1 <= k <= len(vectors):
        raise InputError(f"{len(vectors)} queries cannot be divided into {k} clusters")
    if not np.isfinite(vectors).all():
        raise InputError("a query vector has a value that is not finite")
    rng = np.random.default_rng(seed)
    ends = [_lloyd(vectors, _spread_out(vectors, k, rng), limit) for _ in range(max(starts, 1))]
    spreads = [float(((vectors - centres[nearest]) ** 2).sum()) for centres, nearest in ends]
    return next(end for end, spread in zip(ends, spreads, strict=True) if spread <= (1 + _EQUAL) * min(spreads))


def _lloyd(vectors: FloatArray, centres: FloatArray, limit: int) -> tuple[FloatArray, IntArray]:
    """Centres and the centre of every query after at most ``limit`` rounds from given centres."""
    nearest = nearest_centre(vectors, centres)
    for _ in range(limit):
        centres = _means(vectors, nearest, centres)
        moved = nearest_centre(vectors, centres)
        if (moved == nearest).all():
            break
        nearest = moved
    return centres, nearest


def nearest_centre(vectors: FloatArray, centres: FloatArray) -> IntArray:
    """Nearest centre of every query, shape (n_queries,); ties go to the first."""
    nearest: IntArray = _squared_distances(vectors, centres).argmin(axis=1)
    return nearest


def _squared_distances(vectors: FloatArray, centres: FloatArray) -> FloatArray:
    lengths = (vectors**2).sum(axis=1)
    raw = lengths[:, None] + (centres**2).sum(axis=1) - 2 * vectors @ centres.T
    # rounded, so that equal distances tie in any order of summation; to more digits if all vectors are short
    longest = float(lengths.max(initial=0.0))
    digits = 9 + (max(0, ceil(-log10(longest))) if longest > 0 else 0)
    squared: FloatArray = np.maximum(raw.round(digits), 0.0)
    return squared


def _spread_out(vectors: FloatArray, k: int, rng: np.random.Generator) -> FloatArray:
    """Starts far apart, each drawn with a probability proportional to its squared distance from those before it."""
    chosen = [int(rng.integers(len(vectors)))]
    nearest = _squared_distances(vectors, vectors[chosen])[:, 0]
    while len(chosen) < k:
        total = nearest.sum()
        share = np.cumsum(nearest / total) if total > 0 else np.linspace(0, 1, len(vectors) + 1)[1:]
        chosen.append(min(int(np.searchsorted(share, rng.random(), side="right")), len(vectors) - 1))
        nearest = np.minimum(nearest, _squared_distances(vectors, vectors[chosen[-1:]])[:, 0])
    return vectors[chosen].copy()


def _means(vectors: FloatArray, nearest: IntArray, centres: FloatArray) -> FloatArray:
    sizes = np.bincount(nearest, minlength=len(centres))
    sums = np.zeros_like(centres)
    np.add.at(sums, nearest, vectors)
    means: FloatArray = sums / np.maximum(sizes, 1)[:, None]
    lonely = np.flatnonzero(sizes == 0)
    if len(lonely):
        far = np.argsort(-_squared_distances(vectors, centres)[np.arange(len(nearest)), nearest], kind="stable")
        means[lonely] = vectors[far[: len(lonely)]]
    return means

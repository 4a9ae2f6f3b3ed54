"""K-means of query vectors: classes if the data have none, and groups of training queries that share a model."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, log10

import numpy as np
from scipy import sparse

from qdrank.errors import InputError
from qdrank.layout import FloatArray, IntArray

_EQUAL = 1e-9  # relative difference up to which two sums count as equal, in any order of summation


@dataclass(frozen=True, eq=False)
class _Points:
    """Vectors, (n, n_columns), with their squared lengths and the digits that squared distances are rounded to.

    They are rounded so that equal distances tie in any order of summation; to more digits if all vectors are short.
    """

    vectors: FloatArray
    lengths: FloatArray
    digits: int

    @classmethod
    def of(cls, vectors: FloatArray) -> _Points:
        lengths = (vectors**2).sum(axis=1)
        longest = float(lengths.max(initial=0.0))
        return cls(vectors, lengths, 9 + (max(0, ceil(-log10(longest))) if longest > 0 else 0))

    @property
    def margin(self) -> float:
        """Distances that differ by more than this are in the same order after rounding."""
        return float(2 * 10.0 ** (-self.digits / 2) + 1e-6 * np.sqrt(self.lengths.max(initial=0.0)))

    def squared_distances(self, centres: FloatArray, rows: IntArray | slice = slice(None)) -> FloatArray:
        """From every point, or from some, to every centre, (n_points, k)."""
        squared: FloatArray = self.vectors[rows] @ (-2 * centres).T
        squared += self.lengths[rows, None] + (centres**2).sum(axis=1)
        squared.round(self.digits, out=squared)
        return np.maximum(squared, 0.0, out=squared)


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
    rng, points = np.random.default_rng(seed), _Points.of(vectors)
    ends = [_lloyd(points, _spread_out(points, k, rng), limit) for _ in range(max(starts, 1))]
    spreads = [float(((vectors - centres[nearest]) ** 2).sum()) for centres, nearest in ends]
    return next(end for end, spread in zip(ends, spreads, strict=True) if spread <= (1 + _EQUAL) * min(spreads))


def _lloyd(points: _Points, centres: FloatArray, limit: int) -> tuple[FloatArray, IntArray]:
    """Centres and the centre of every query after at most ``limit`` rounds from given centres.

    By the triangle inequality a query stays with its centre while the bounds on its two smallest distances stay apart
    (Hamerly 2010); only the others are looked at again. It is the same result with a fraction of the distances.
    """
    nearest, first, second = _two_nearest(points.squared_distances(centres))
    margin = points.margin
    for _ in range(limit):
        before, centres = centres, _means(points, nearest, centres)
        step = np.sqrt(((centres - before) ** 2).sum(axis=1))
        first += step[nearest]
        second -= step.max()
        rows = np.flatnonzero(first + margin >= second)
        moved, first[rows], second[rows] = _two_nearest(points.squared_distances(centres, rows))
        if (moved == nearest[rows]).all():
            break
        nearest[rows] = moved
    return centres, nearest


def _two_nearest(squared: FloatArray) -> tuple[IntArray, FloatArray, FloatArray]:
    """Nearest centre of every row, ties to the first; its distance, and that of the next one. Uses up ``squared``."""
    rows, nearest = np.arange(len(squared)), squared.argmin(axis=1)
    first = np.sqrt(squared[rows, nearest])
    squared[rows, nearest] = np.inf
    return nearest, first, np.sqrt(squared.min(axis=1))


def nearest_centre(vectors: FloatArray, centres: FloatArray) -> IntArray:
    """Nearest centre of every query, shape (n_queries,); ties go to the first."""
    nearest: IntArray = _Points.of(vectors).squared_distances(centres).argmin(axis=1)
    return nearest


def sums_by_label(vectors: FloatArray, label: IntArray, k: int) -> FloatArray:
    """Sum of the vectors of each label 0 to k - 1, shape (k, n_columns), added in the order of the rows."""
    members = sparse.csc_array((np.ones(len(label)), label, np.arange(len(label) + 1)), shape=(k, len(label)))
    return np.asarray(members.tocsr() @ vectors)


def _spread_out(points: _Points, k: int, rng: np.random.Generator) -> FloatArray:
    """Starts far apart, each drawn with a probability proportional to its squared distance from those before it."""
    vectors = points.vectors
    chosen = [int(rng.integers(len(vectors)))]
    nearest = points.squared_distances(vectors[chosen])[:, 0]
    while len(chosen) < k:
        total = nearest.sum()
        share = np.cumsum(nearest / total) if total > 0 else np.linspace(0, 1, len(vectors) + 1)[1:]
        chosen.append(min(int(np.searchsorted(share, rng.random(), side="right")), len(vectors) - 1))
        nearest = np.minimum(nearest, points.squared_distances(vectors[chosen[-1:]])[:, 0])
    return vectors[chosen].copy()


def _means(points: _Points, nearest: IntArray, centres: FloatArray) -> FloatArray:
    sizes = np.bincount(nearest, minlength=len(centres))
    means: FloatArray = sums_by_label(points.vectors, nearest, len(centres)) / np.maximum(sizes, 1)[:, None]
    lonely = np.flatnonzero(sizes == 0)
    if len(lonely):
        apart = points.squared_distances(centres)[np.arange(len(nearest)), nearest]
        means[lonely] = points.vectors[np.argsort(-apart, kind="stable")[: len(lonely)]]
    return means

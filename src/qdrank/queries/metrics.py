"""Distances between query vectors, each a map fitted on the training queries followed by a plain norm.

A metric has ``fit(vectors, targets=None)``, ``transform(vectors)`` into the space in which neighbours are searched,
``norm`` ("l2" or "l1": how that space is measured) and ``distance(raw)``, which turns the raw sums of that norm
(squared for "l2") into the distances that are reported; ``supervised`` says that it needs targets. A new one is a
class here and an entry in ``METRICS``.
"""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from qdrank.errors import InputError
from qdrank.layout import FloatArray, IntArray, query_index
from qdrank.queries.vectors import row_product


class Euclidean:
    """Euclidean distance between the vectors as they are; also the base of the other metrics."""

    norm: Literal["l1", "l2"] = "l2"
    #: Whether ``fit`` needs targets.
    supervised = False

    def fit(self, vectors: FloatArray, targets: FloatArray | None = None) -> Self:  # noqa: ARG002
        """Learn nothing."""
        return self

    def transform(self, vectors: FloatArray) -> FloatArray:
        """Return the vectors in the space of the metric."""
        return np.asarray(vectors, dtype=np.float64)

    def distance(self, raw: FloatArray) -> FloatArray:
        """Turn raw sums into distances."""
        return np.sqrt(raw)

    def raw(self, distance: float) -> float:
        """Turn a distance into the raw sum it stands for, the inverse of :meth:`distance`."""
        return distance**2


class Manhattan(Euclidean):
    """Sum of absolute differences."""

    norm = "l1"

    def distance(self, raw: FloatArray) -> FloatArray:
        """Return the sums as they are."""
        return raw

    def raw(self, distance: float) -> float:
        """Return the distance as it is."""
        return distance


class Cosine(Euclidean):
    """One minus the cosine: half the squared distance of the vectors scaled to length one.

    A zero vector has no direction, so it gets a separate axis, at distance 1 from every other vector.
    """

    def transform(self, vectors: FloatArray) -> FloatArray:
        """Return directions, shape (n_queries, n_columns + 1)."""
        largest = np.abs(vectors).max(axis=1, keepdims=True)
        zero = largest == 0
        safe = vectors / np.where(zero, 1.0, largest)  # squares neither overflow nor vanish
        length = np.sqrt((safe**2).sum(axis=1, keepdims=True))
        return np.hstack([safe / np.where(zero, 1.0, length), zero.astype(np.float64)])

    def distance(self, raw: FloatArray) -> FloatArray:
        """Return 1 - cosine."""
        return raw / 2

    def raw(self, distance: float) -> float:
        """Return the squared distance of directions."""
        return 2 * distance


class Mahalanobis(Euclidean):
    """Distance after whitening by the covariance of the training queries.

    ``shrinkage``: float in [0, 1]; weight of the scaled identity mixed into the covariance. At 0, directions in which
    the training queries do not vary are left out.
    """

    def __init__(self, *, shrinkage: float = 0.0) -> None:
        self.shrinkage = shrinkage

    def fit(self, vectors: FloatArray, targets: FloatArray | None = None) -> Self:  # noqa: ARG002
        """Learn the whitening map, shape (n_columns, rank)."""
        centred = vectors - vectors.mean(axis=0)
        covariance = centred.T @ centred / max(len(vectors) - 1, 1)
        size = len(covariance)
        covariance *= 1 - self.shrinkage
        covariance[np.diag_indices(size)] += self.shrinkage * (centred**2).sum() / max(len(vectors) - 1, 1) / size
        variance, axes = np.linalg.eigh(covariance)
        kept = variance > 1e-10 * variance.max(initial=0.0)
        self.map_: FloatArray = axes[:, kept] / np.sqrt(variance[kept])
        return self

    def transform(self, vectors: FloatArray) -> FloatArray:
        """Return whitened vectors, shape (n_queries, rank)."""
        return row_product(np.asarray(vectors, dtype=np.float64), self.map_)


class Learned(Mahalanobis):
    """Distance between predictions from the vectors: queries that should be ranked in the same way are near.

    ``targets`` hold, for each training query, what its documents say about ranking: for example the mean
    difference of the features of better and worse documents (:func:`preference_directions`), or one column per
    query type. A ridge regression predicts the targets from the vectors, and the metric is the distance between
    predictions along their ``rank`` principal directions (reduced-rank regression).

    Parameters
    ----------
    rank : number of directions kept
    ridge : penalty of the regression, relative to the mean variance of the vectors
    """

    supervised = True

    def __init__(self, *, rank: int = 3, ridge: float = 0.1) -> None:
        self.rank = rank
        self.ridge = ridge

    def fit(self, vectors: FloatArray, targets: FloatArray | None = None) -> Self:
        """Learn the map, shape (n_columns, rank), from training vectors and targets (n_queries, n_targets)."""
        if targets is None:
            raise InputError("the learned metric needs a target for every training query")
        X, Y = vectors - vectors.mean(axis=0), targets - targets.mean(axis=0)
        gram = X.T @ X
        varies = np.trace(gram) / len(gram)
        # If no column varies there is nothing to learn: any penalty makes the map 0.
        gram[np.diag_indices(len(gram))] += self.ridge * varies if varies > 0 else 1.0
        weights = np.linalg.solve(gram, X.T @ Y)
        _, _, directions = np.linalg.svd(X @ weights, full_matrices=False)
        self.map_ = weights @ directions[: self.rank].T
        return self


def preference_directions(X: NDArray[Any], y: NDArray[Any], offsets: IntArray) -> FloatArray:
    """Mean difference of the features of a better and a worse document, for every query: targets for ``Learned``.

    Parameters
    ----------
    X : array of shape (n_documents, n_features)
    y : (n_documents,) grades
    offsets : array of shape (n_queries + 1,)

    Returns
    -------
    array of shape (n_queries, n_features)
        The mean over all pairs of different grade; 0 for a query without such a pair.
    """
    query, (_, grade) = query_index(offsets), np.unique(y, return_inverse=True)
    counts = np.zeros((len(offsets) - 1, grade.max(initial=0) + 1), dtype=np.int64)
    np.add.at(counts, (query, grade), 1)
    upto = np.cumsum(counts, axis=1)
    worse = upto[query, grade] - counts[query, grade]
    better = upto[query, -1] - upto[query, grade]
    # In the sum over pairs, a document counts +1 for every worse document and -1 for every better one.
    sums = np.add.reduceat(X * (worse - better)[:, None].astype(np.float64), offsets[:-1], axis=0)
    pairs = np.add.reduceat(worse, offsets[:-1])
    return np.asarray(sums / np.maximum(pairs, 1)[:, None])

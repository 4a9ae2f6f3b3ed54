"""From values per query to the figures that are published: by fold, mean of folds, pooled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qdrank.errors import InputError
from qdrank.layout import FloatArray


@dataclass(frozen=True)
class FoldMeans:
    """Means of a measure over test queries.

    Attributes
    ----------
    folds : the mean of each fold over its queries, by name of the fold
    published : the mean of the folds' means, as LETOR publishes it
    pooled : the mean over all queries, on which tests of significance are based
    """

    folds: dict[str, float]
    published: float
    pooled: float


def fold_means(values: FloatArray, fold: NDArray[Any]) -> FoldMeans:
    """Means of ``values``, shape (n_queries,), over the folds that ``fold``, shape (n_queries,), names."""
    values, fold = np.asarray(values, dtype=np.float64), np.asarray(fold)
    if values.ndim != 1 or values.shape != fold.shape or len(values) == 0:
        raise InputError(f"values of shape {values.shape} with folds of shape {fold.shape}: one of each per query")
    means = {str(name): float(values[fold == name].mean()) for name in np.unique(fold)}
    return FoldMeans(folds=means, published=float(np.mean(list(means.values()))), pooled=float(values.mean()))

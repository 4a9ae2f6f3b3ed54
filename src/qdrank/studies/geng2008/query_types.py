"""Types of queries: predicted by a classifier, scored, and compared with those of neighbours.

QC, the baseline of Geng 2008, classifies a query before its documents are ranked and uses the model of its type.
The classifier here is softmax regression on what is known about the query; we found no full description of the paper's.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from qdrank.errors import InputError
from qdrank.layout import FloatArray
from qdrank.queries.vectors import Standardiser


class TypeClassifier:
    """Softmax regression on standardised columns, deterministic and without random starts.

    ``ridge``: penalty on the squared weights, relative to the mean loss of a query.

    Attributes
    ----------
    types_ : array of shape (n_types,)
    weights_ : array of shape (n_types, n_columns + 1), the last column being the constant
    """

    def __init__(self, *, ridge: float = 0.001) -> None:
        self.ridge = ridge

    def fit(self, columns: NDArray[Any], types: NDArray[Any]) -> Self:
        """Learn from training queries, shapes (n_queries, n_columns) and (n_queries,)."""
        if self.ridge <= 0:
            raise InputError(f"ridge must be above 0, not {self.ridge}")
        self.types_, number = np.unique(types, return_inverse=True)
        self.scaler_ = Standardiser().fit(np.asarray(columns, dtype=np.float64))
        wanted = number[:, None] == np.arange(len(self.types_))
        self.weights_: FloatArray = _softmax_regression(self._design(columns), wanted, self.ridge)
        return self

    def probabilities(self, columns: NDArray[Any]) -> FloatArray:
        """Probability of every type, shape (n_queries, n_types)."""
        return _softmax(self._design(columns) @ self.weights_.T)

    def predict(self, columns: NDArray[Any]) -> NDArray[Any]:
        """Most probable type of every query, shape (n_queries,); ties go to the first in ``types_``."""
        guessed: NDArray[Any] = self.types_[self.probabilities(columns).round(12).argmax(axis=1)]
        return guessed

    def _design(self, columns: NDArray[Any]) -> FloatArray:
        scaled = self.scaler_.transform(np.asarray(columns, dtype=np.float64))
        return np.hstack([scaled, np.ones((len(scaled), 1))])


def _softmax(scores: FloatArray) -> FloatArray:
    weights: FloatArray = np.exp(scores - scores.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    return weights


def _softmax_regression(
    Z: FloatArray, wanted: NDArray[np.bool_], ridge: float, tol: float = 1e-9, limit: int = 5000
) -> FloatArray:
    """Weights of shape (n_types, n_columns) that minimise the mean log loss and ridge / 2 times their square.

    Newton steps with Böhning's fixed bound (I - 11'/c)/2 x Z'Z/n instead of the Hessian, so that no step is too long.
    The columns of the gradient sum to 0 over the types, where the first factor of the bound is 1/2.
    """
    n = len(Z)
    bound = Z.T @ Z / (2 * n) + ridge * np.eye(Z.shape[1])
    weights = np.zeros((wanted.shape[1], Z.shape[1]))
    for _ in range(limit):
        gradient = (_softmax(Z @ weights.T) - wanted).T @ Z / n + ridge * weights
        step = np.linalg.solve(bound, gradient.T).T
        weights -= step
        if np.abs(step).max() < tol:
            break
    return weights


class TypeScores(NamedTuple):
    """Quality of predicted types."""

    types: NDArray[Any]
    precision: FloatArray
    recall: FloatArray
    f1: FloatArray
    """Per type, shape (n_types,)."""
    macro_f1: float
    """Their mean."""
    accuracy: float


def type_scores(true: NDArray[Any], guessed: NDArray[Any]) -> TypeScores:
    """Precision, recall and F1 of every type that occurs or is predicted; F1 is 0 without queries or predictions."""
    true, guessed = np.asarray(true), np.asarray(guessed)
    types = np.unique(np.concatenate([true, guessed]))
    is_true, is_guessed = true[:, None] == types, guessed[:, None] == types
    both = (is_true & is_guessed).sum(axis=0)
    precision = both / np.maximum(is_guessed.sum(axis=0), 1)
    recall = both / np.maximum(is_true.sum(axis=0), 1)
    f1 = 2 * both / (is_true.sum(axis=0) + is_guessed.sum(axis=0))
    return TypeScores(types, precision, recall, f1, float(f1.mean()), float((true == guessed).mean()))


def type_share(rows: NDArray[Any], train_types: NDArray[Any], types: NDArray[Any]) -> tuple[FloatArray, float]:
    """Share of a query's k nearest training queries that have its type, against chance.

    Parameters
    ----------
    rows : (n_queries, k_max) neighbours, nearest first; leave out a training query's own row
    train_types : array of shape (m,)
    types : array of shape (n_queries,)

    Returns
    -------
    share : (k_max,) mean share among the first 1, 2, ... neighbours.
    chance : the same for neighbours drawn at random
    """
    same = np.asarray(train_types)[rows] == np.asarray(types)[:, None]
    share: FloatArray = np.cumsum(same.mean(axis=0)) / np.arange(1, rows.shape[1] + 1)
    names, counts = np.unique(train_types, return_counts=True)
    known = dict(zip(names.tolist(), (counts / len(train_types)).tolist(), strict=True))
    return share, float(np.mean([known.get(kind, 0.0) for kind in np.asarray(types).tolist()]))

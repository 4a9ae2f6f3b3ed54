"""Features on a common scale, and features made from ranks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qdrank.errors import InputError

_Floats = NDArray[np.float32]

# Rows taken into double precision at once, and numbers that are few enough for the processor's cache.
_ROWS, _CACHED = 1 << 16, 1 << 17


def minmax_per_query(X: _Floats, offsets: NDArray[np.int64]) -> _Floats:
    """LETOR's QueryLevelNorm: within each query and feature ``(x - min) / (max - min)``, 0 where all are equal.

    Missing values (NaN) stay missing and do not count. Shape (n_documents, n_features) as ``X``.
    """
    unit = np.empty(X.shape, dtype=np.float32)
    for start, end in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True):
        rows = X[start:end].astype(np.float64)
        low, high = np.fmin.reduce(rows, axis=0), np.fmax.reduce(rows, axis=0)
        spread = np.where(high > low, high - low, 1.0)
        unit[start:end] = (rows - low) / spread
    return unit


def column_moments(X: _Floats) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean and standard deviation (of the population) of every column, missing values left out; (n_features,) each."""
    n, total, squares = np.zeros((3, X.shape[1]))
    for rows in _blocks(X):
        n += len(rows)
        added = rows.sum(axis=0)
        if np.isnan(added).any():
            n -= np.isnan(rows).sum(axis=0)
            added = np.nansum(rows, axis=0)
        total += added
    mean = total / np.maximum(n, 1)
    for rows in _blocks(X):  # a second pass: the sum of squares minus the square of sums would lose digits
        apart = np.square(rows - mean)
        added = apart.sum(axis=0)
        squares += np.nansum(apart, axis=0) if np.isnan(added).any() else added
    return mean, np.sqrt(squares / np.maximum(n, 1))


def _blocks(X: _Floats) -> Iterator[NDArray[np.float64]]:
    for start in range(0, len(X), _ROWS):
        yield X[start : start + _ROWS].astype(np.float64)


def inverse_deviation(mean: NDArray[np.float64], deviation: NDArray[np.float64]) -> NDArray[np.float64]:
    """One over the standard deviation of every column, (n_features,); 0 for a constant one."""
    constant = deviation <= 1e-12 * np.abs(mean)
    return np.where(constant, 0.0, 1.0 / np.where(constant, 1.0, deviation))


def scaled(X: NDArray[Any], mean: NDArray[np.float64], inverse: NDArray[np.float64]) -> _Floats:
    """``(X - mean) * inverse``, computed in float64 block by block to save memory; missing values stay missing."""
    out = np.empty(X.shape, dtype=np.float32)
    step = max(1, _CACHED // max(1, X.shape[1]))
    for start in range(0, len(X), step):
        block = slice(start, start + step)
        out[block] = (X[block] - mean) * inverse
    return out


def turned_ranks(ranks: _Floats, offsets: NDArray[np.int64]) -> _Floats:
    """Ranks (n_documents, m) turned round by query and ranker: the highest number becomes 1; NaN stays."""
    highest = np.fmax.reduceat(ranks, offsets[:-1], axis=0)
    return np.asarray(np.repeat(highest, np.diff(offsets), axis=0) + 1 - ranks, dtype=np.float32)


def rank_features(ranks: _Floats) -> _Floats:
    """Features from the ranks that m rankers gave: present, 1/log2(1 + rank), ln(rank); all 0 where there is none.

    Shape (n_documents, m), NaN where a ranker did not return the document, to (n_documents, 3 m): first the m
    columns *present*, then the m discounts, then the m logarithms.
    """
    if np.nanmin(ranks, initial=1.0) < 1.0:
        raise InputError("a rank is below 1", found=str(np.nanmin(ranks)), fix="count ranks from 1")
    present = ~np.isnan(ranks)
    rank = np.where(present, ranks, 1.0).astype(np.float64)
    kinds = [present, present / np.log2(1.0 + rank), present * np.log(rank)]
    return np.concatenate(kinds, axis=1).astype(np.float32)

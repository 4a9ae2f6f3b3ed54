"""Checks of learners' inputs, with a sentence for every input that cannot be learned from or ranked."""

from __future__ import annotations

import warnings
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qdrank.errors import InputError
from qdrank.layout import FloatArray, IntArray, JoinedFeatures, query_offsets

Unranked = tuple[ArrayLike, ArrayLike]
"""Grades and offsets (n_queries + 1,) of the relevant documents that are not among the candidates."""
JudgedArrays = (
    tuple[ArrayLike, ArrayLike, ArrayLike | None] | tuple[ArrayLike, ArrayLike, ArrayLike | None, Unranked | None]
)
"""Features (n_documents, n_features), grades (n_documents,) and query ids (n_documents,), in this order.

Validation data of which the candidates miss relevant documents have the grades and offsets of these as a fourth.
"""


def as_features(X: ArrayLike, *, missing: bool = False, in_batches: bool = False) -> NDArray[Any]:
    """Checked features (n_documents, n_features), dtype unchanged.

    ``missing``: whether NaN is allowed. ``in_batches``: whether `JoinedFeatures` may stay as they are.
    """
    if in_batches and isinstance(X, JoinedFeatures):
        for table in (X.X, X.vectors):
            as_features(table, missing=missing)
        return cast("NDArray[Any]", X)
    if hasattr(X, "toarray"):
        raise InputError("the features are a sparse matrix", fix="give a dense array: X.toarray()")
    array = np.asarray(X)
    if array.dtype.kind not in "biuf":
        array = _as_numbers(array)
    if array.ndim != 2:
        fix = "Reshape your data: one row a document, one column a feature, X.reshape(1, -1) for one document"
        raise InputError(f"the features must be a table, not an array of shape {array.shape}", fix=fix)
    if len(array) == 0:
        raise InputError(f"there is no document: 0 rows (shape={array.shape}), and at least 1 is required")
    if array.shape[1] == 0:
        raise InputError(f"there are 0 feature(s) (shape={array.shape}) while a minimum of 1 is required.")
    if not np.isfinite(array).all() if not missing else np.isinf(array).any():
        raise InputError("the features hold missing (NaN) or infinite values", fix="fill them first")
    return array


def _as_numbers(array: NDArray[Any]) -> FloatArray:
    if array.dtype.kind == "c":
        raise InputError("Complex data not supported: the features must be real numbers")
    try:
        return array.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise InputError("the features must be numbers", found=str(error), fix="encode words as numbers") from None


def as_targets(y: ArrayLike | None) -> FloatArray:
    """Checked targets (n_documents,) as float64."""
    if y is None:
        raise InputError("a learner requires y to be passed, but the target y is None", fix="give grades")
    try:
        targets = np.asarray(y, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError("the grades must be numbers", found=str(error)) from None
    if targets.ndim != 1:
        raise InputError(f"the grades must be one number a document, not an array of shape {targets.shape}")
    if not np.isfinite(targets).all():
        raise InputError("a grade is missing (NaN) or infinite", fix="give every document a grade")
    return targets


def as_grades(y: ArrayLike | None) -> IntArray:
    """Checked grades (n_documents,): whole numbers from 0 up."""
    targets = as_targets(y)
    if (bad := (targets != np.floor(targets)) | (targets < 0)).any():
        raise InputError(
            "the grades must be whole numbers, 0 or more",
            found=f"{targets[bad][0]:g}",
            fix="give each document a grade such as 0, 1 or 2",
        )
    return targets.astype(np.int64)


def as_offsets(query: ArrayLike | None, n_documents: int) -> IntArray:
    """Bounds of the queries, (n_queries + 1,); without ``query`` all documents belong to one query."""
    if query is None:
        return np.array([0, n_documents], dtype=np.int64)
    offsets = query_offsets(np.asarray(query))
    if offsets[-1] != n_documents:
        raise InputError(
            f"{n_documents} documents and {offsets[-1]} query ids do not match",
            fix="give one query id per row of features",
        )
    return offsets


def as_judged(
    X: ArrayLike,
    y: ArrayLike,
    query: ArrayLike | None,
    *,
    missing: bool = False,
    graded: bool = True,
    in_batches: bool = False,
) -> tuple[NDArray[Any], Any, IntArray]:
    """Checked features (n_documents, n_features), grades (n_documents,) and offsets (n_queries + 1,).

    ``missing`` and ``in_batches`` as for `as_features`; ``graded`` is False if any targets will do.
    """
    features = as_features(X, missing=missing, in_batches=in_batches)
    grades = as_grades(y) if graded else as_targets(y)
    refuse_other_length(features, grades)
    return features, grades, as_offsets(query, len(features))


def refuse_other_length(X: NDArray[Any], y: NDArray[Any]) -> None:
    """Raise unless there is one target for each document."""
    if len(X) != len(y):
        raise InputError(
            f"{len(X)} documents and {len(y)} grades do not match", fix="give one grade per row of features"
        )


def warn_of_one_query(query: ArrayLike | None, n_documents: int, *, level: int) -> None:
    """Warn the caller ``level`` calls up if documents come without queries; one id for all says that they are of one."""
    if query is None and n_documents > 1:
        text = (
            f"no query ids: all {n_documents} documents are taken for one query; give query, one id for each document"
        )
        warnings.warn(text, RuntimeWarning, stacklevel=level + 1)


def warn_of_equal_grades(y: NDArray[Any], offsets: IntArray) -> None:
    """Warn if no query has documents of different grades, since a model learned from them ranks nothing."""
    starts = offsets[:-1]
    if (np.maximum.reduceat(y, starts) == np.minimum.reduceat(y, starts)).all():
        text = "no query has documents of different grades: there is no order to learn, and the model will rank nothing"
        warnings.warn(text, RuntimeWarning, stacklevel=4)

"""What the learners share: checked input, and a score."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qdrank.errors import InputError
from qdrank.layout import FloatArray, IntArray
from qdrank.learners.estimator import Estimator
from qdrank.learners.inputs import as_features, as_judged, warn_of_equal_grades, warn_of_one_query


@dataclass(kw_only=True, eq=False)
class Learner(Estimator):
    """A ranker learned from judged documents; a scikit-learn estimator.

    Subclasses declare their parameters as fields, and what they fit as fields ``name_`` that `__init__` does not take. The
    latter are arrays, numbers or text and make up the whole model, which `qdrank.rankers.state` stores without pickle.
    ``WEIGHTS`` names the one whose last axis is the features.
    """

    NAME: ClassVar[str]
    WEIGHTS: ClassVar[str] = "coef_"

    def predict(self, X: ArrayLike, query: ArrayLike | None = None) -> FloatArray:
        """Scores (n_documents,) of the rows of ``X``; ``query`` matters only where whole lists are combined."""
        raise NotImplementedError

    def score(self, X: ArrayLike, y: ArrayLike, query: ArrayLike | None = None, measure: str = "ap") -> float:
        """Mean over the queries of a measure, average precision unless ``measure`` names another.

        `qdrank.learners.choose` compares settings by this value: documents of equal score are in a seeded random order,
        and queries without a relevant document count as 0. Without ``query`` all documents belong to one query, with a warning.
        """
        from qdrank.learners.choose import ValidationQueries

        _, grades, offsets = as_judged(X, y, query, missing=self.MISSING)
        warn_of_one_query(query, len(grades), level=2)
        return ValidationQueries(grades, offsets, measure=measure).mean(self.predict(X, query))

    @property
    def n_features_in_(self) -> int:
        """Number of features of the documents that the learner was fitted to."""
        return int(np.shape(getattr(self, self.WEIGHTS))[-1])

    def training(self, X: ArrayLike, y: ArrayLike, query: ArrayLike | None) -> tuple[NDArray[Any], Any, IntArray]:
        """Checked features, grades and offsets to learn from; without ``query`` all belong to one query, with a warning."""
        features, grades, offsets = as_judged(
            X, y, query, missing=self.MISSING, graded=self.GRADED, in_batches=self.IN_BATCHES
        )
        warn_of_one_query(query, len(grades), level=3)
        warn_of_equal_grades(grades, offsets)
        self.keep_names(X)
        return features, grades, offsets

    def documents(self, X: ArrayLike) -> NDArray[Any]:
        """Checked features (n_documents, n_features) to rank, with the number and names of those learned from."""
        self.refuse_unfitted()
        self._refuse_other_names(X)
        features = as_features(X, missing=self.MISSING, in_batches=self.IN_BATCHES)
        expected = getattr(self, "n_features_in_", features.shape[1])
        if features.shape[1] != expected:
            name = type(self).__name__
            raise InputError(
                f"X has {features.shape[1]} features, but {name} is expecting {expected} features as input"
            )
        return features

    def keep_names(self, X: ArrayLike) -> None:
        """Remember the column names if ``X`` is a DataFrame."""
        self.__dict__.pop("feature_names_in_", None)
        if (names := _column_names(X)) is not None:
            self.feature_names_in_ = names

    def _refuse_other_names(self, X: ArrayLike) -> None:
        """Raise unless the columns of ``X`` have the names seen in training; warn if only one of the two has names."""
        learned, given = getattr(self, "feature_names_in_", None), _column_names(X)
        name = type(self).__name__
        if learned is None and given is not None:
            warnings.warn(f"X has feature names, but {name} was fitted without feature names", stacklevel=4)
        elif learned is not None and given is None:
            text = f"X does not have valid feature names, but {name} was fitted with feature names"
            warnings.warn(text, stacklevel=4)
        elif learned is not None and given is not None and learned.tolist() != given.tolist():
            raise InputError(
                "The feature names should match those that were passed during fit",
                found=", ".join(given.tolist()),
                fix="give the columns in the order of fit: X[learner.feature_names_in_]",
            )


@dataclass(kw_only=True, eq=False)
class LinearLearner(Learner):
    """A learner whose model is one weight per feature."""

    coef_: FloatArray = field(init=False, repr=False)

    def predict(self, X: ArrayLike, query: ArrayLike | None = None) -> FloatArray:  # noqa: ARG002
        """Scores (n_documents,) of the rows of ``X`` (n_documents, n_features)."""
        scores: FloatArray = self.documents(X).astype(np.float64, copy=False) @ self.coef_
        return scores


def _column_names(X: Any) -> NDArray[np.object_] | None:
    """Names of the columns of a DataFrame, if all are text."""
    names = list(getattr(X, "columns", []))
    return np.array(names, dtype=object) if names and all(isinstance(name, str) for name in names) else None

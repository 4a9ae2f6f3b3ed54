"""What the learners share: checked input, a score, and what scikit-learn requires of an estimator, without importing it.

`clone`, `Pipeline`, `GridSearchCV` and their like know an estimator by its methods, not by its base class. Importing
scikit-learn takes longer than most jobs, so only the methods that hand out its objects import it.
"""

from __future__ import annotations

import warnings
from copy import deepcopy
from dataclasses import dataclass, field
from inspect import signature
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qdrank.errors import InputError
from qdrank.layout import FloatArray, IntArray
from qdrank.learners.inputs import as_features, as_judged, warn_of_equal_grades, warn_of_one_query
from qdrank.learners.parameters import Parameters
from qdrank.registry import did_you_mean

_ROUTED = ("fit", "predict", "score")


@dataclass(kw_only=True, eq=False)
class Estimator(Parameters):
    """What scikit-learn needs to use `fit`, `predict` and `score` of features, grades and query ids.

    ``query`` is routed metadata of `fit`, `predict` and `score`, requested unless `set_fit_request` and its siblings
    say otherwise; other arguments are routed only on request. As for any metadata, routing must be switched on:
    ``sklearn.set_config(enable_metadata_routing=True)``.
    """

    NEEDS_FIT: ClassVar[bool] = True
    MISSING: ClassVar[bool] = False
    """Whether features may be NaN."""
    GRADED: ClassVar[bool] = True
    """Whether targets must be grades: whole numbers, 0 or more."""
    IN_BATCHES: ClassVar[bool] = False
    """Whether rows are taken in batches, so that `JoinedFeatures` need not be joined first."""

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import InputTags, Tags, TargetTags

        return Tags(
            estimator_type=None,
            target_tags=TargetTags(required=self.NEEDS_FIT, positive_only=self.GRADED),
            input_tags=InputTags(allow_nan=self.MISSING),
            requires_fit=self.NEEDS_FIT,
        )

    def get_metadata_routing(self) -> Any:
        """What `fit`, `predict` and `score` request, as scikit-learn's ``MetadataRequest``."""
        if hasattr(self, "_metadata_request"):
            return deepcopy(self._metadata_request)
        from sklearn.utils.metadata_routing import MetadataRequest

        request = MetadataRequest(owner=type(self).__name__)
        for method in _ROUTED:
            for name in list(signature(getattr(self, method)).parameters)[2 if method != "predict" else 1 :]:
                getattr(request, method).add_request(param=name, alias=True if name == "query" else None)
        request.score.add_request(param="sample_weight", alias=None)  # a pipeline passes it to every score, as None
        return request

    def set_fit_request(self, **requests: bool | str | None) -> Self:
        """Set which metadata `fit` receives: True, False, or another name for it."""
        return self._ask("fit", requests)

    def set_predict_request(self, **requests: bool | str | None) -> Self:
        """Set which metadata `predict` receives: True, False, or another name for it."""
        return self._ask("predict", requests)

    def set_score_request(self, **requests: bool | str | None) -> Self:
        """Set which metadata `score` receives: True, False, or another name for it."""
        return self._ask("score", requests)

    def _ask(self, method: str, requests: dict[str, bool | str | None]) -> Self:
        routing = self.get_metadata_routing()
        asked = getattr(routing, method)
        for name, alias in requests.items():
            if name not in asked.requests:
                raise InputError(f"{method} takes no {name!r}", fix=did_you_mean(name, list(asked.requests)))
            asked.add_request(param=name, alias=alias)
        self._metadata_request = routing
        return self


@dataclass(kw_only=True, eq=False)
class Learner(Estimator):
    """A ranker learned from judged documents; a scikit-learn estimator.

    Subclasses declare their parameters as fields, and what they fit as fields ``name_`` that `__init__` does not take. The
    latter are arrays, numbers or text and make up the whole model, which `qdrank.rankers.stored` stores without pickle.
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

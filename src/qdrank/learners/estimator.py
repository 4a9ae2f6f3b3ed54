"""What scikit-learn requires of an estimator, without importing scikit-learn.

`clone`, `Pipeline`, `GridSearchCV` and their like know an estimator by its methods, not by its base class. Importing
scikit-learn takes longer than most jobs, so only the methods that hand out its objects import it.
"""

from __future__ import annotations

import sys
from copy import deepcopy
from dataclasses import dataclass, fields
from inspect import signature
from typing import Any, ClassVar, Self

from qdrank.errors import InputError
from qdrank.registry import did_you_mean, needed

_ROUTED = ("fit", "predict", "score")


@dataclass(kw_only=True, eq=False)
class Parameters:
    """Parameters are the fields of a dataclass; fitted attributes are further fields, whose names end in ``_``."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters by name; with ``deep`` those of estimators among them too, as ``name__parameter``."""
        params = {f.name: getattr(self, f.name) for f in fields(self) if f.init}
        inner = {name: value for name, value in params.items() if deep and _has_params(value)}
        nested = {f"{name}__{key}": one for name, value in inner.items() for key, one in value.get_params().items()}
        return params | nested

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name, those of estimators among them by ``name__parameter``."""
        known = self.get_params(deep=False)
        for key in sorted(params):  # an estimator comes before its own parameters
            name, _, inner = key.partition("__")
            if name not in known:
                problem = f"{type(self).__name__} has no parameter {name!r}"
                raise InputError(problem, fix=did_you_mean(name, list(known)))
            if inner:
                getattr(self, name).set_params(**{inner: params[key]})
            else:
                setattr(self, name, params[key])
        return self

    def refuse_unfitted(self) -> None:
        """Raise if a fitted attribute is missing."""
        if not all(hasattr(self, name) for name in fitted_names(self)):
            raise self.not_fitted()

    def not_fitted(self) -> InputError:
        """The error for an estimator used before fitting; also scikit-learn's own, if scikit-learn is loaded."""
        kinds: tuple[type, ...] = (InputError,)
        if "sklearn.exceptions" in sys.modules:
            kinds = (InputError, sys.modules["sklearn.exceptions"].NotFittedError)
        return type("NotFitted", kinds, {})(f"this {type(self).__name__} has not been fitted", fix="call fit first")  # type: ignore[no-any-return]


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
        tags = needed("sklearn.utils", "sklearn")
        return tags.Tags(
            estimator_type=None,
            target_tags=tags.TargetTags(required=self.NEEDS_FIT, positive_only=self.GRADED),
            input_tags=tags.InputTags(allow_nan=self.MISSING),
            requires_fit=self.NEEDS_FIT,
        )

    def get_metadata_routing(self) -> Any:
        """What `fit`, `predict` and `score` request, as scikit-learn's ``MetadataRequest``."""
        if hasattr(self, "_metadata_request"):
            return deepcopy(self._metadata_request)
        request = needed("sklearn.utils.metadata_routing", "sklearn").MetadataRequest(owner=type(self).__name__)
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


def fitted_names(value: Any) -> list[str]:
    """Fitted attributes of a dataclass that are stored: its fields ``name_``, but for those with the metadata ``stored: False``."""
    return [f.name for f in fields(value) if not f.init and f.name.endswith("_") and f.metadata.get("stored", True)]


def _has_params(value: Any) -> bool:
    return hasattr(value, "get_params") and not isinstance(value, type)

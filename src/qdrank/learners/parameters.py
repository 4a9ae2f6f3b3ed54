"""Parameters of learners and rankers, the order in which their values are tried, and fitted attributes; nothing here learns."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any, Self, TypeVar

from qdrank.errors import InputError
from qdrank.registry import did_you_mean


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


def fitted_names(value: Any) -> list[str]:
    """Fitted attributes of a dataclass that are stored: its fields ``name_``, but for those with the metadata ``stored: False``."""
    return [f.name for f in fields(value) if not f.init and f.name.endswith("_") and f.metadata.get("stored", True)]


def _has_params(value: Any) -> bool:
    return hasattr(value, "get_params") and not isinstance(value, type)


T = TypeVar("T")

_LARGER_FIRST = ("lam", "l2", "lam_h", "lam_alpha", "lam_beta", "interactions", "proximity", "min_leaf", "k", "t")
_SMALLER_FIRST = ("leaves", "learning_rate", "trees", "rounds", "thresholds", "scale", "C", "mix", "m", "gamma")


def most_regularised_first(name: str, values: Iterable[T]) -> list[T]:
    """Values of the parameter ``name`` from the most to the least regularised.

    Regularised means nearer to a simpler model: smaller weights, smaller and fewer trees, means over more queries or
    documents, one model for all queries. A parameter without such a direction keeps the given order of its values.
    """
    if name in _LARGER_FIRST or name in _SMALLER_FIRST:
        return sorted(values, reverse=name in _LARGER_FIRST)  # type: ignore[type-var]
    return list(values)

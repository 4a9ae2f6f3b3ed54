"""A learner of the user's own: any class with ``fit(X, y, query)`` and ``predict(X)``, named ``"FILE.py:CLASS"`` or ``"MODULE:CLASS"``."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from inspect import signature
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from qdrank.errors import InputError
from qdrank.layout import FloatArray
from qdrank.learners.base import Learner
from qdrank.learners.inputs import JudgedArrays
from qdrank.registry import own_source


def own_class(target: str) -> type[Any]:
    """The class; its file is run. It must have ``fit`` and ``predict``."""
    file, name = own_source(target)
    module = target.rpartition(":")[0]
    if module.endswith(".py"):
        spec = spec_from_file_location(f"_own_{file.stem}", file)
        assert spec is not None
        assert spec.loader is not None
        loaded = module_from_spec(spec)
        sys.modules[spec.name] = loaded  # where dataclasses look up types
        spec.loader.exec_module(loaded)
    else:
        loaded = import_module(module)
    made: type[Any] = getattr(loaded, name)
    lacking = [method for method in ("fit", "predict") if not callable(getattr(made, method, None))]
    if lacking:
        fix = (
            "give it fit(self, X, y, query), which returns anything, and predict(self, X), one score for each row of X"
        )
        raise InputError(f"{name} has no {' and no '.join(lacking)}", file=file, fix=fix)
    return made


def own_parameters(target: str) -> list[str]:
    """Parameters of the class, which a grid may name."""
    return list(signature(own_class(target)).parameters)


@dataclass(kw_only=True, eq=False)
class OwnLearner(Learner):
    """A learner of the user's own among ours; what it keeps is stored if all of it is plain: numbers, texts, arrays, lists."""

    NAME: ClassVar[str] = "own"

    target: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    kept_: Mapping[str, Any] = field(init=False, repr=False)
    """What the fitted object holds, by name; empty if something in it is not plain."""
    unstored_: str = field(init=False, repr=False)
    """Names of what is not plain."""

    def fit(
        self, X: ArrayLike, y: ArrayLike, query: ArrayLike | None = None, validation: JudgedArrays | None = None
    ) -> Self:
        """Fit an object of the class, with what its ``fit`` takes of ``query`` and ``validation``."""
        self._made = own_class(self.target)(**self.settings)
        taken, given = signature(self._made.fit).parameters, {"query": query, "validation": validation}
        self._made.fit(X, y, **{name: value for name, value in given.items() if name in taken})
        kept = vars(self._made)
        self.unstored_ = ", ".join(name for name, value in kept.items() if not _is_plain(value))
        self.kept_ = {} if self.unstored_ else dict(kept)
        return self

    def predict(self, X: ArrayLike, query: ArrayLike | None = None) -> FloatArray:
        """Scores (n_documents,)."""
        made = self._fitted()
        given = {"query": query} if "query" in signature(made.predict).parameters else {}
        scores = np.asarray(made.predict(X, **given), dtype=np.float64)
        if scores.shape != (np.shape(X)[0],) or not np.isfinite(scores).all():
            found = f"shape {scores.shape} for {np.shape(X)[0]} rows, {np.isfinite(scores).sum()} finite"
            raise InputError(f"{self.target}: predict must give a finite score for each row", found=found)
        return scores

    def _fitted(self) -> Any:
        """The fitted object; of a stored learner one that holds what the fitted one held."""
        if getattr(self, "_made", None) is None:
            self.refuse_unfitted()
            if self.unstored_:
                fix = "let it keep numbers, texts, arrays or lists of them, and fit it again"
                raise InputError(f"{self.target} was not stored: {self.unstored_} is no plain value", fix=fix)
            kind: Any = own_class(self.target)
            self._made = kind.__new__(kind)
            vars(self._made).update(self.kept_)
        return self._made


def _is_plain(value: Any) -> bool:
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "biuf" or (value.dtype == object and all(isinstance(one, str) for one in value.flat))
    if isinstance(value, list | tuple):
        return all(map(_is_plain, value))
    if isinstance(value, Mapping):
        return all(isinstance(key, str) and _is_plain(one) for key, one in value.items())
    return value is None or isinstance(value, str | bool | int | float | np.number | np.bool_)

"""What the classic learners share: named parameters, and a record of plain values instead of pickle."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from qdrank.errors import InputError
from qdrank.groups import FloatArray


@dataclass(kw_only=True, eq=False)
class Learner:
    """A ranker learned from judged documents.

    Subclasses declare their parameters as fields and their fitted state as ``name_``. The attributes named in
    ``STATE`` are arrays of numbers or text and make up the whole model: ``to_record`` gives them as lists and
    strings, which any store can hold.
    """

    NAME: ClassVar[str]
    STATE: ClassVar[tuple[str, ...]]

    def predict(self, X: ArrayLike, query: ArrayLike | None = None) -> FloatArray:
        """Scores (n_documents,) of the rows of ``X``; ``query`` matters only where whole lists are combined."""
        raise NotImplementedError

    def get_params(self) -> dict[str, Any]:
        """Constructor parameters by name."""
        return {f.name: getattr(self, f.name) for f in fields(self) if f.init}

    def to_record(self) -> dict[str, Any]:
        """The fitted model as plain values: learner name, parameters and state."""
        if not all(hasattr(self, name) for name in self.STATE):
            raise InputError(f"this {self.NAME} has not been fitted", fix="call fit first")
        state = {name: _plain(getattr(self, name)) for name in self.STATE}
        return {"learner": self.NAME, "params": self.get_params(), "state": state}

    @classmethod
    def from_record(cls, record: dict[str, Any]) -> Self:
        """The fitted model whose ``to_record`` gave ``record``."""
        if record["learner"] != cls.NAME:
            raise InputError(f"this is the record of a {record['learner']}, not of a {cls.NAME}")
        learner = cls(**record["params"])
        for name in cls.STATE:
            value = record["state"][name]
            setattr(learner, name, np.asarray(value) if isinstance(value, list) else value)
        return learner


@dataclass(kw_only=True, eq=False)
class LinearLearner(Learner):
    """A learner whose model is one weight per feature."""

    STATE: ClassVar[tuple[str, ...]] = ("coef_",)

    coef_: FloatArray = field(init=False, repr=False)

    def predict(self, X: ArrayLike, query: ArrayLike | None = None) -> FloatArray:  # noqa: ARG002
        """Scores (n_documents,) of the rows of ``X`` (n_documents, n_features)."""
        scores: FloatArray = np.asarray(X, dtype=np.float64) @ self.coef_
        return scores


def _plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value

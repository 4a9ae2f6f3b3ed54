"""Keys of a study's section of the configuration, as the study's jobs are given them."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, NoReturn, Self


class Keys(SimpleNamespace):
    """Values by key, not to be changed.

    ``settings.py`` of a study declares each key once: type, default, bounds and description. What the study's code calls ``Options``
    is that section for the type checker and this class when it runs: a job need not load pydantic, and another default or
    description reruns nothing. What a rule did not give is missed where it is used.
    """

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"the value of {name} is given by the configuration")

    def __getattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"this job was not given the key {name}: add it to the params of its rule")

    def model_copy(self, *, update: Mapping[str, Any]) -> Self:
        """The same keys, some with other values."""
        return type(self)(**{**vars(self), **update})

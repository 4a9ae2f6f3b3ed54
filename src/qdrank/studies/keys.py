"""Keys of a study's section of the configuration, as passed to the study's jobs."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, NoReturn, Self


class Keys(SimpleNamespace):
    """Read-only values by key.

    ``settings.py`` of a study declares each key once: type, default, bounds and description. The study's ``Options`` is
    that section for the type checker and this class at run time. So jobs need not load pydantic, and a changed default
    or description reruns nothing. A key that the rule did not pass raises an error where it is used.
    """

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"the value of {name} is given by the configuration")

    def __getattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"this job was not given the key {name}: add it to the params of its rule")

    def model_copy(self, *, update: Mapping[str, Any]) -> Self:
        """The same keys, some with other values."""
        return type(self)(**{**vars(self), **update})

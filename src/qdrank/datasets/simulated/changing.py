"""Settings of a simulated data set with some changed, as a configuration gives them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from math import isfinite
from typing import TYPE_CHECKING, Any, TypeVar

from qdrank.errors import InputError
from qdrank.registry import did_you_mean

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    Settings = TypeVar("Settings", bound=DataclassInstance)
else:
    Settings = TypeVar("Settings")


def changed_settings(settings: Settings, changes: Mapping[str, Any]) -> Settings:
    """Settings with some fields changed; an unknown name, or a value of another kind than the present one, is the user's error."""
    known = [field.name for field in fields(settings)]
    for name, value in changes.items():
        if name not in known:
            raise InputError(f"unknown setting {name!r} of simulated data", fix=did_you_mean(name, known))
        problem = _other_kind(getattr(settings, name), value)
        if problem:
            raise InputError(
                f"{name} {problem}", found=repr(value), fix=f"for instance {name}: {_example(settings, name)}"
            )
    return replace(settings, **changes)


def _other_kind(present: Any, value: Any) -> str:
    """What is wrong with a value that replaces ``present``; empty if nothing is."""
    if isinstance(present, bool):
        return "" if isinstance(value, bool) else "must be true or false"
    if isinstance(value, bool):  # to Python, a bool is a whole number
        return "must be a number"
    if isinstance(present, tuple):
        pair = isinstance(value, list | tuple) and len(value) == len(present) and all(type(v) is int for v in value)
        return "" if pair else f"must be a list of {len(present)} whole numbers"
    if isinstance(present, int):
        return "" if isinstance(value, int) else "must be a whole number"
    return "" if isinstance(value, int | float) and isfinite(value) else "must be a number"


def checked_seed(seed: Any) -> int:
    """A seed: a whole number, 0 or more."""
    if type(seed) is not int or seed < 0:
        raise InputError("seed must be a whole number, 0 or more", found=repr(seed), fix="for instance seed: 2")
    return seed


def _example(settings: Any, name: str) -> Any:
    value = getattr(settings, name)
    return list(value) if isinstance(value, tuple) else str(value).lower()

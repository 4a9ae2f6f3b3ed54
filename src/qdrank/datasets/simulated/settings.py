"""Settings of a simulated data set with some changed, as a configuration gives them; those of the simulated web."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
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


#: The kinds of query, with TREC's names for their tasks: homepage finding, named page finding, topic distillation.
QUERY_KINDS = ("homepage", "named_page", "topic")
#: Settings that count something, and the least each may be.
LEAST = {"train": 1, "vali": 0, "test": 0, "candidates": 2, "sites": 6, "topics": 2, "pages": 8, "body": 10, "links": 1}


@dataclass(frozen=True, kw_only=True)
class WebSimulation:
    """The web to simulate; nearness of queries helps by design, their words help less."""

    train: int = 1500
    vali: int = 400
    test: int = 400
    candidates: int = 40
    """Most documents of a query; a query whose words are on few pages has fewer."""
    sites: int = 300
    topics: int = 30
    """Subjects that the sites are about, each with words of its own."""
    pages: int = 26
    """Pages of a middling site."""
    body: int = 70
    """Words in the body of a middling page."""
    links: int = 6
    """Links to other sites that a page has on average."""
    noise: float = 1.1
    """Deviation of the noise in the grades, relative to what the rule of the kind explains."""
    ambiguity: float = 0.7
    """How alike the words of different kinds of query are: the share of queries without a word that gives the kind away,
    and how often a word that is typical of one kind strays into the others."""
    one_rule: bool = False
    """Negative control: all kinds are graded by the mean of the three rules; the queries and pages stay the same."""

    def __post_init__(self) -> None:
        for name, least in LEAST.items():
            if not getattr(self, name) >= least:
                raise InputError(f"{name} must be at least {least}, not {getattr(self, name)}")
        if not 0 <= self.ambiguity <= 1:
            raise InputError(f"ambiguity is a share from 0 to 1, not {self.ambiguity}")
        if not 0 <= self.noise < float("inf"):
            raise InputError(f"noise must be 0 or more, not {self.noise}")

    @property
    def queries(self) -> int:
        """Number of queries in all parts."""
        return self.train + self.vali + self.test

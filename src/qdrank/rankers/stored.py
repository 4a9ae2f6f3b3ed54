"""Rankers read back from their files."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from qdrank.aggregators import AGGREGATORS
from qdrank.errors import InputError
from qdrank.learners import LEARNERS
from qdrank.rankers import RANKERS
from qdrank.rankers.served import ServedRanker, ServedRuns
from qdrank.rankers.state import from_state_table
from qdrank.store import read


def kind_of(name: str) -> Any:
    """The class with the name of a stored object that belongs to no study: a ranker or its part, a learner, an aggregator."""
    for served in (ServedRanker, ServedRuns):
        if name == served.NAME:
            return served
    for registry in (RANKERS, LEARNERS, AGGREGATORS):
        if name in registry:
            return registry[name]
    raise InputError(f"a ranker of an unknown kind, {name!r}", fix="read it with the version that wrote it")


def read_ranker(path: str | os.PathLike[str], kind: Callable[[str], Any] = kind_of) -> ServedRanker:
    """The ranker in a file; ``kind`` gives the class of a name."""
    ranker: ServedRanker = from_state_table(read(path, "rankers"), kind)
    return ranker

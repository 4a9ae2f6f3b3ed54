"""Hyperparameters chosen on the validation part, as LETOR prescribes; all candidates are recorded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from inspect import signature
from itertools import product
from typing import Any

import numpy as np

from qdrank.errors import InputError
from qdrank.groups import query_offsets
from qdrank.learners import LEARNERS
from qdrank.learners.validation import JudgedArrays, mean_measure, shuffled_within


@dataclass(frozen=True)
class Choice:
    """The learner that did best on validation, its parameters, and the value of every candidate."""

    learner: Any
    params: dict[str, Any]
    table: list[dict[str, Any]]
    """One row per candidate: its parameters, ``value`` on validation, and whether it was ``chosen``."""


def tune(
    learner_name: str,
    grid: Mapping[str, Sequence[Any]],
    train: JudgedArrays,
    vali: JudgedArrays,
    measure: str = "ap",
    learners: Mapping[str, Any] = LEARNERS,
    seed: int = 1,
) -> Choice:
    """Fit every combination of ``grid`` on ``train`` and keep the one with the best mean on ``vali``, the first if several tie.

    Learners that choose a number of rounds choose it on ``vali`` as well. ``learners`` is the registry of the name;
    rank aggregation has its own. ``seed`` decides the order of tied validation documents.
    """
    candidates = [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]
    if not candidates:
        raise InputError(
            f"the grid of {learner_name} has a parameter without values", fix="give each parameter at least one value"
        )
    y, offsets = np.asarray(vali[1], dtype=np.int64), query_offsets(np.asarray(vali[2]))
    fitted = [fit_one(learners[learner_name], params, train, vali) for params in candidates]
    order = shuffled_within(offsets, seed)
    values = [mean_measure(measure, y[order], one.predict(vali[0], vali[2])[order], offsets) for one in fitted]
    best = int(np.argmax(values))
    rows = enumerate(zip(candidates, values, strict=True))
    table = [{**params, "value": value, "chosen": i == best} for i, (params, value) in rows]
    return Choice(fitted[best], candidates[best], table)


def fit_one(learner_class: Any, params: Mapping[str, Any], train: JudgedArrays, vali: JudgedArrays | None) -> Any:
    """A learner with these parameters, fitted on ``train``."""
    learner = learner_class(**params)
    if "validation" in signature(learner.fit).parameters:
        return learner.fit(*train, validation=vali)
    return learner.fit(*train)  # Ranking SVM: nothing is chosen while it is fitted

"""Fits with every combination of a grid, the best chosen on the validation part as LETOR prescribes; and further fits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from inspect import signature
from itertools import product
from typing import Any

import numpy as np

from qdrank.errors import InputError
from qdrank.layout import FloatArray
from qdrank.learners import LEARNERS
from qdrank.learners.choose import Choice, validation_queries
from qdrank.learners.inputs import JudgedArrays
from qdrank.learners.regularised import most_regularised_first


def grid_settings(grid: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    """All combinations of ``grid``, each parameter from the most to the least regularised, the last varying fastest."""
    values = [most_regularised_first(name, tried) for name, tried in grid.items()]
    return [dict(zip(grid, combination, strict=True)) for combination in product(*values)]


def tune(
    learner_name: str,
    grid: Mapping[str, Sequence[Any]],
    train: JudgedArrays,
    vali: JudgedArrays,
    measure: str = "ap",
    learners: Mapping[str, Any] = LEARNERS,
    seed: int = 1,
) -> Choice[Any]:
    """Fit every combination of ``grid`` on ``train``, and choose among the learners on ``vali``.

    The values of the choice follow the order of `grid_settings`. Learners that choose a number of rounds also choose it
    on ``vali``. ``learners`` is the registry of the name; rank aggregation has its own. ``seed`` decides the order of
    tied documents.
    """
    settings = grid_settings(grid)
    if not settings:
        raise InputError(
            f"the grid of {learner_name} has a parameter without values", fix="give each parameter at least one value"
        )
    queries = validation_queries(vali, measure, seed)
    choice: Choice[Any] = Choice()
    bins: dict[str, Any] = {}
    for params in settings:
        learner = fit_one(learners[learner_name], params, train, vali, bins)
        choice.offer(learner, queries.values(learner.predict(vali[0], vali[2])))
    return choice


def fit_one(
    learner_class: Any,
    params: Mapping[str, Any],
    train: JudgedArrays,
    vali: JudgedArrays | None,
    bins: dict[str, Any] | None = None,
) -> Any:
    """A learner with these parameters, fitted on ``train``; those of trees may share the ``bins`` of the documents."""
    learner = learner_class(**params)
    taken = signature(learner.fit).parameters  # most choose nothing while they are fitted
    return learner.fit(*train, **{name: it for name, it in {"validation": vali, "bins": bins}.items() if name in taken})


def fit_seed(seed: int, fit: int) -> int:
    """Seed of one fit, from that of the configuration; fit 0 has that one itself. Below 2^31, as LightGBM wants it."""
    return seed if fit == 0 else int(np.random.SeedSequence([seed, fit]).generate_state(1)[0]) >> 1


def jittered(targets: FloatArray, *, fit: int, seed: int, size: float = 0.01) -> FloatArray:
    """Targets of one refit: each moved by a normal deviate of ``size`` times their standard deviation; fit 0 is not moved."""
    if fit == 0:
        return targets
    noise = np.random.default_rng([seed, fit]).normal(0.0, 1.0, len(targets))
    moved: FloatArray = targets + size * float(targets.std()) * noise
    return moved

"""Observations for the claims of the study in the results of a data set: values per test query."""

from __future__ import annotations

import pandas as pd

from qdrank.evaluation.observations import Observations, check_observations
from qdrank.evaluation.values import Values as Contrast
from qdrank.studies.beyond.methods import (
    BY_NAME,
    CHOSEN,
    CONTROLS,
    FIXED,
    GATED,
    OF_CHOSEN,
    OTHER_GATE,
    SINGLE,
    TREES,
    WITH_EVIDENCE,
)
from qdrank.studies.beyond.retrieval_tables import gather_retrieval
from qdrank.studies.beyond.values import Key, Values, gathered_values, thresholds
from qdrank.studies.making import Inputs, Shown

LOCAL = ("beyond-knn", "beyond-proximal", "beyond-kernel", "beyond-bilinear")


def gather(inputs: Inputs, shown: Shown) -> tuple[pd.DataFrame, Observations]:  # noqa: ARG001
    """Observations of one data set from its artifacts."""
    values = gathered_values(inputs.table("measures", "measures"), inputs.table("values", "values"))
    claims = _primary(values) | _evidence(values) | _weights(values)
    claims |= gather_retrieval(inputs) | check_observations(inputs.table("checks", "figure"))
    return inputs.frame("measures", "measures"), claims


def _difference(values: Values, a: Key | str, b: Key | str) -> Contrast:
    first, second = ((key, 0.0) if isinstance(key, str) else key for key in (a, b))
    return Contrast(values.by_fit([(first, second)])[:, :, 0], values.query_id, values.fold)


def _primary(values: Values) -> Observations:
    against = {f"against {BY_NAME[other].label}": _difference(values, CHOSEN, other) for other in (SINGLE, TREES)}
    return {"gain": against, "control": {"difference": _difference(values, CHOSEN, OF_CHOSEN)}}


def _evidence(values: Values) -> Observations:
    return {
        "evidence - prior": {
            f"{BY_NAME[name].label}": _difference(values, name, CONTROLS[name]) for name in WITH_EVIDENCE
        },
        "evidence - prior, no near-duplicates": {
            f"{BY_NAME[name].label}, below {near:g}": _difference(values, (name, near), (CONTROLS[name], near))
            for near in thresholds(values)
            for name in WITH_EVIDENCE
        },
    }


def _weights(values: Values) -> Observations:
    def over_control(names: tuple[str, ...]) -> dict[str, Contrast]:
        return {BY_NAME[name].label: _difference(values, name, CONTROLS[name]) for name in names}

    return {
        "local weights": {BY_NAME[name].label: _difference(values, name, SINGLE) for name in LOCAL},
        "neighbours - random": over_control(LOCAL[:3]),
        "vectors - others": over_control(("beyond-bilinear", "beyond-trees-queries")),
        "gate": {
            "against the fixed mixture": _difference(values, GATED, FIXED),
            "against a gate with other vectors": _difference(values, GATED, OTHER_GATE),
        },
    }

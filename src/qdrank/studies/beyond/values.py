"""Average precision per test query of methods and controls."""

from __future__ import annotations

import pandas as pd

from qdrank.studies.beyond.methods import MEASURE
from qdrank.studies.making import Inputs


def gathered_values(inputs: Inputs) -> pd.DataFrame:
    """Values of the methods from the artifact ``measures``, and of controls, and without near-duplicates, from ``values``.

    ``near`` is the similarity from which queries are left out; 0 if none are.
    """
    values = pd.concat([inputs.frame("measures", "measures"), inputs.frame("values", "values")], ignore_index=True)
    return values.rename(columns={"x": "near"}).fillna({"near": 0.0})[_COLUMNS]


_COLUMNS = ["fold", "method", "near", "fit", "query_id", MEASURE]


def without_near(method: str, near: float) -> str:
    """A method as tables and claims name it where near-duplicate queries are left out."""
    return f"{method}, queries below {near:g}"


def named(values: pd.DataFrame) -> pd.DataFrame:
    """Values by method alone: those without near-duplicates are methods of their own."""
    apart = [without_near(*one) if one[1] else one[0] for one in zip(values["method"], values["near"], strict=True)]
    return values.assign(method=apart)


def thresholds(values: pd.DataFrame) -> list[float]:
    """Similarity thresholds from which queries were left out, descending."""
    return sorted({near for near in values["near"] if near}, reverse=True)

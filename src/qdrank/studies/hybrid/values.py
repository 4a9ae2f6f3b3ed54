"""Values per test query of methods, controls, oracles and single runs, and observations for the claims."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from qdrank.evaluation.values import Observations, check_observations
from qdrank.studies.hybrid.methods import MEASURE
from qdrank.studies.making import Inputs, Shown


def gathered_values(inputs: Inputs) -> pd.DataFrame:
    """Values of methods from the artifact ``measures``, of all others from the ``values`` of all folds."""
    other = inputs.frame("values", "values")
    values = pd.concat([inputs.frame("measures", "measures"), other[other["x"].isna()]], ignore_index=True)
    return values[["fold", "method", "fit", "query_id", MEASURE]]


def known(names: Iterable[str], values: pd.DataFrame) -> list[str]:
    """Those of ``names`` that have values."""
    measured = set(values["method"])
    return [name for name in names if name in measured]


def gather(inputs: Inputs, shown: Shown) -> tuple[pd.DataFrame, Observations]:  # noqa: ARG001
    """The values, and what no difference of two of them decides."""
    return gathered_values(inputs), check_observations(inputs.table("checks", "figure"))

"""Observations for the claims of the study: values of methods, controls and oracles, and checks."""

from __future__ import annotations

import pandas as pd

from qdrank.evaluation.observations import Observations, check_observations
from qdrank.studies.hybrid.values import gathered_values
from qdrank.studies.making import Inputs, Shown


def gather(inputs: Inputs, shown: Shown) -> tuple[pd.DataFrame, Observations]:  # noqa: ARG001
    """The values, and what no difference of two of them decides."""
    return gathered_values(inputs), check_observations(inputs.table("checks", "figure"))

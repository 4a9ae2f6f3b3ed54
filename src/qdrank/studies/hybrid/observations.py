"""Observations for the claims of the study that no difference of two methods decides."""

from __future__ import annotations

import numpy as np
import pandas as pd

from qdrank.evaluation.observations import Observations, check_observations
from qdrank.evaluation.values import Values
from qdrank.figures.numbers import where
from qdrank.studies.hybrid.shown import DECLARED
from qdrank.studies.hybrid.values import gathered_values
from qdrank.studies.making import Inputs, Shown


def gather(inputs: Inputs, shown: Shown) -> tuple[pd.DataFrame, Observations]:  # noqa: ARG001
    """Values of methods and controls, and the study's own observations."""
    own = {"oracle": {"difference": _oracle(inputs.frame("oracle", "figure"))}}
    return gathered_values(inputs), own | check_observations(inputs.table("checks", "figure"))


def _oracle(oracle: pd.DataFrame) -> Values:
    """Oracle minus the noise oracle as declared; the tuned values cancel."""
    rows = where(oracle, form=DECLARED.text).sort_values("query_id")
    return Values(np.round(rows["oracle"] - rows["noise"], 12), rows["query_id"], rows["fold"])

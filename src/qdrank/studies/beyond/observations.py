"""What decides the claims of the study in the results of a data set: values per test query."""

from __future__ import annotations

import pandas as pd

from qdrank.evaluation.observations import Observations, check_observations
from qdrank.studies.beyond.retrieval_tables import gather_retrieval
from qdrank.studies.beyond.values import gathered_values, named
from qdrank.studies.making import Inputs, Shown


def gather(inputs: Inputs, shown: Shown) -> tuple[pd.DataFrame, Observations]:  # noqa: ARG001
    """Values of rankers and controls, and the study's own observations."""
    own = gather_retrieval(inputs) | check_observations(inputs.table("checks", "figure"))
    return named(gathered_values(inputs)), own

"""What decides the claims of the study in the results of a data set: values per test query."""

from __future__ import annotations

import pandas as pd

from qdrank.evaluation.values import Observations, check_observations
from qdrank.studies.beyond.methods import MEASURE
from qdrank.studies.beyond.retrieval_tables import AP, retrieved
from qdrank.studies.beyond.retrieved import in_form
from qdrank.studies.beyond.values import gathered_values, named
from qdrank.studies.making import Inputs, Shown


def gather(inputs: Inputs, shown: Shown) -> tuple[pd.DataFrame, Observations]:  # noqa: ARG001
    """Values of rankers, retrieval and controls, and of the checks."""
    values = pd.concat([named(gathered_values(inputs)), retrieval_values(inputs)])
    return values, check_observations(inputs.table("checks", "figure"))


def retrieval_values(inputs: Inputs) -> pd.DataFrame:
    """Values of retrieval with past queries, in two forms of the judgments; none where the data are not raw text."""
    main, highest = named(retrieved(inputs)), named(retrieved(inputs, "highest"))
    highest = highest.assign(method=[in_form(method, "highest") for method in highest["method"]])
    return pd.concat([main, highest]).rename(columns={AP: MEASURE})

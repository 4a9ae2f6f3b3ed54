"""Observations for the claims of the study in the results of a data set: values per test query."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from qdrank.evaluation.observations import Observations, check_observations
from qdrank.evaluation.values import Values as Contrast
from qdrank.studies.hybrid.methods import (
    BY_NAME,
    CHOSEN,
    CONTROLS,
    EVIDENCE,
    FIXED,
    OF_CHOSEN,
    PAPERS,
    PER_QUERY,
    RRF,
    TREES,
    TREES_QUERIES,
)
from qdrank.studies.hybrid.shown import DECLARED
from qdrank.studies.hybrid.values import Values, by_query, gathered_values, known
from qdrank.studies.making import Inputs, Shown


def gather(inputs: Inputs, shown: Shown) -> tuple[pd.DataFrame, Observations]:  # noqa: ARG001
    """Observations of one data set from its artifacts."""
    values = gathered_values(inputs)
    claims = _differences(values) | {"oracle": _oracle(values, inputs.table("oracle", "figure"))}
    claims |= check_observations(inputs.table("checks", "figure"))
    return inputs.frame("measures", "measures"), claims


def _differences(values: Values) -> Observations:
    def each(names: tuple[str, ...], controls: bool = False) -> dict[str, Contrast]:
        against = {name: CONTROLS[name] if controls else FIXED for name in known(names, values)}
        return {BY_NAME[name].label: values.difference(name, other) for name, other in against.items()}

    return {
        "gain": {"difference": values.difference(CHOSEN, FIXED)},
        "control": {"difference": values.difference(CHOSEN, OF_CHOSEN)},
        "papers": each(PAPERS),
        "rrf": {"difference": values.difference(FIXED, RRF)},
        "each - fixed": each(PER_QUERY),
        "each - control": each(PER_QUERY, controls=True),
        "trees - fixed": {"difference": values.difference(TREES, FIXED)},
        "chosen - trees": {"difference": values.difference(CHOSEN, TREES)},
        "query columns": {"difference": values.difference(TREES_QUERIES, CONTROLS[TREES_QUERIES])},
        "evidence - prior": {"difference": values.difference(EVIDENCE, CONTROLS[EVIDENCE])},
    }


def _oracle(values: Values, table: pa.Table) -> dict[str, Contrast]:
    """Oracle minus the noise oracle as declared; the tuned values cancel."""
    rows = table.filter(pc.equal(table.column("form"), DECLARED.text))
    oracle, noise = (by_query(rows, "form", values.query_id, name)[DECLARED.text] for name in ("oracle", "noise"))
    return {"difference": Contrast(np.round(oracle - noise, 12), values.query_id, values.fold)}

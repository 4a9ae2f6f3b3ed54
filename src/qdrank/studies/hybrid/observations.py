"""Observations for the claims of the study in the results of a data set: values per test query."""

from __future__ import annotations

import numpy as np
import pandas as pd

from qdrank.evaluation.observations import Contrast, Observations, check_observations, contrast, pairs_contrast
from qdrank.figures.numbers import pairs, where
from qdrank.studies.hybrid.methods import (
    BY_NAME,
    CHOSEN,
    CONTROLS,
    EVIDENCE,
    FIXED,
    MEASURE,
    OF_CHOSEN,
    PAPERS,
    PER_QUERY,
    RRF,
    TREES,
    TREES_QUERIES,
)
from qdrank.studies.hybrid.shown import DECLARED
from qdrank.studies.hybrid.values import gathered_values, known
from qdrank.studies.making import Inputs, Shown


def gather(inputs: Inputs, shown: Shown) -> Observations:  # noqa: ARG001
    """Observations of one data set from its artifacts."""
    values = gathered_values(inputs)
    claims = _differences(values) | {"oracle": _oracle(inputs.frame("oracle", "figure"))}
    claims |= check_observations(inputs.table("checks", "figure"))
    return {claim: contrasts for claim, contrasts in claims.items() if contrasts}


def _differences(values: pd.DataFrame) -> Observations:
    fold = values.drop_duplicates("query_id").set_index("query_id")["fold"]

    def difference(a: str, b: str) -> Contrast:
        both = pairs(values, a, b, MEASURE)
        return pairs_contrast(both, fold[both.query].to_numpy())

    def each(names: tuple[str, ...], controls: bool = False) -> dict[str, Contrast]:
        against = {name: CONTROLS[name] if controls else FIXED for name in known(names, values)}
        return {BY_NAME[name].label: difference(name, other) for name, other in against.items()}

    return {
        "gain": {"difference": difference(CHOSEN, FIXED)},
        "control": {"difference": difference(CHOSEN, OF_CHOSEN)},
        "papers": each(PAPERS),
        "rrf": {"difference": difference(FIXED, RRF)},
        "each - fixed": each(PER_QUERY),
        "each - control": each(PER_QUERY, controls=True),
        "trees - fixed": {"difference": difference(TREES, FIXED)},
        "chosen - trees": {"difference": difference(CHOSEN, TREES)},
        "query columns": {"difference": difference(TREES_QUERIES, CONTROLS[TREES_QUERIES])},
        "evidence - prior": {"difference": difference(EVIDENCE, CONTROLS[EVIDENCE])},
    }


def _oracle(oracle: pd.DataFrame) -> dict[str, Contrast]:
    """Oracle minus the noise oracle as declared; the tuned values cancel."""
    rows = where(oracle, form=DECLARED.text).sort_values("query_id")
    gain = np.round(rows["oracle"] - rows["noise"], 12)
    return {"difference": contrast(gain, rows["query_id"], rows["fold"])}

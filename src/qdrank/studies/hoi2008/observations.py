"""Observations for the claims of Hoi and Jin 2008 that no difference of two methods decides."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import pyarrow as pa

from qdrank.evaluation.values import Observations, Values
from qdrank.figures.numbers import where
from qdrank.studies.hoi2008.methods import GAMMA, TIES, with_ties
from qdrank.studies.hoi2008.shapes import ENSEMBLES_SHAPE
from qdrank.studies.making import Inputs, Shown


def gather(inputs: Inputs, shown: Shown) -> tuple[pd.DataFrame, Observations]:
    """Measures of the methods, and the study's own observations."""
    measures, values = (inputs.frame(name, name) for name in ("measures", "values"))
    own, zeros = _few_labels(inputs.frame("curves", "values")), []
    for ties in TIES:
        sser = _along(values, with_ties("sser", ties))
        contrasts = {"rise": sser[GAMMA] - sser[0.0], "fall": sser[GAMMA] - sser.iloc[:, -1]}
        own[with_ties("gamma", ties)] = {name: Values.of(one) for name, one in contrasts.items()}
        ser = where(measures, method=with_ties("ser", ties)).set_index(["query_id", "fold"])["ap"]
        assert len(ser) == len(sser)
        zeros.append(sser[0.0] - ser.reindex(sser.index))
    own["gamma = 0"] = {"difference": Values.of(pd.concat(zeros))}
    return measures, own | _solutions(inputs.tables("weights", ENSEMBLES_SHAPE), shown.folds)


def _along(values: pd.DataFrame, method: str) -> pd.DataFrame:
    """Average precision by query and setting, means over the repeats."""
    of_method = where(values, method=method)
    return of_method.groupby(["query_id", "fold", "x"], observed=True)["ap"].mean().unstack("x")


def _few_labels(values: pd.DataFrame) -> Observations:
    """Gains of SSER over SER with the fewest training queries, and with all of them (0)."""
    gain = _along(values, "sser") - _along(values, "ser")
    if gain.shape[1] < 2:
        return {}
    few = gain.iloc[:, 1]
    differences = {"few labels": few, "more with few": few - gain[0.0]}
    return {claim: {"difference": Values.of(one)} for claim, one in differences.items()}


def _solutions(tables: Sequence[pa.Table], folds: Sequence[str]) -> Observations:
    """Gaps of all programs, and the weights of constant rankers."""
    solved = pd.concat([table.to_pandas().assign(fold=fold) for table, fold in zip(tables, folds, strict=True)])
    weights = [_constant_weights(of_fold) for _, of_fold in solved.groupby("fold", sort=False)]
    gaps = Values(solved["gap"], solved["query_id"], solved["fold"])
    return {"gap": {"value": gaps}, "no weight": {"value": Values(weights, "", list(folds))}}


def _constant_weights(solved: pd.DataFrame) -> float:
    """Sum of SER's weights, ties counted as halves, for the rankers that "without constant rankers" leaves out.

    With halves a constant ranker has coefficients of 0, so SER is the same program with and without constant rankers.
    """
    first, second = (where(solved, method=name)["weights"].iloc[0] for name in ("ser", "ser-varying"))
    return float(np.abs(first - second).sum())

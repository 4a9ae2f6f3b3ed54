"""Tables of the study: methods, folds, tests, certificates of the programs; and observations for its claims."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
import pandas as pd
import pyarrow as pa

from qdrank.evaluation.values import Observations, Values
from qdrank.figures.method_tables import comparisons_table, folds_table, methods_table
from qdrank.figures.numbers import where
from qdrank.studies.hoi2008.methods import BASELINES, BY_NAME, GAMMA, TIES, with_ties
from qdrank.studies.hoi2008.shapes import ENSEMBLES_SHAPE
from qdrank.studies.making import Inputs, Shown

_MEASURES = ("ap", "p@1/letor4", "p@2/letor4", "p@5/letor4", "p@10/letor4", "ndcg@10/letor4")


def tabulate(inputs: Inputs, shown: Shown) -> dict[str, pa.Table | pd.DataFrame]:
    """Tables of the methods, by id."""
    values, choices = inputs.frame("measures", "measures"), inputs.frame("choices", "choices")
    labels = {name: method.label for name, method in BY_NAME.items()}
    baselines = [method.name for method in BASELINES if method.name in set(values["method"])]
    of_ties = [(with_ties("sser", ties), with_ties("ser", ties)) for ties in TIES]
    pairs = [pair for ours in of_ties for pair in (ours, *product(ours, baselines))]
    return {
        "hoi-methods": methods_table(
            values, labels, _MEASURES, choices, against=["ser"], by="ap", interval=shown.interval
        ),
        "hoi-folds": folds_table(values, labels, ["ap"]),
        "hoi-tests": comparisons_table(values, pairs, labels, "ap", shown.interval),
        "hoi-solver": solver_table(inputs.frame("weights", ENSEMBLES_SHAPE)),
    }


def solver_table(weights: pd.DataFrame) -> pd.DataFrame:
    """Number of programs solved by each method, with the worst certificate."""
    named = {"programs": ("gap", "size"), "largest gap": ("gap", "max"), "largest KKT residual": ("kkt", "max")}
    table = weights.groupby("method", sort=False).agg(**named, **{"steps, mean": ("steps", "mean")})
    for name in ("largest gap", "largest KKT residual"):
        table[name] = table[name].map("{:.1e}".format)
    return table.rename(index={name: method.label for name, method in BY_NAME.items()}).reset_index()


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

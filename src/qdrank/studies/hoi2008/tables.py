"""Tables of the study of Hoi and Jin 2008: methods, folds, tests, and certificates of the programs."""

from __future__ import annotations

from itertools import product

import pandas as pd
import pyarrow as pa

from qdrank.figures.method_tables import comparisons_table, folds_table, methods_table
from qdrank.studies.hoi2008.methods import BASELINES, BY_NAME, TIES, with_ties
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

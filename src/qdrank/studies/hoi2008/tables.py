"""Tables of the study of Hoi and Jin 2008: methods, folds, tests, and certificates of the programs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
import pyarrow as pa

from qdrank.evaluation.comparison import compare, compared_rows
from qdrank.evaluation.pairs import method_pairs
from qdrank.figures.method_tables import folds_table, methods_table
from qdrank.studies.hoi2008.methods import BASELINES, BY_NAME, TIES, with_ties
from qdrank.studies.hoi2008.shapes import ENSEMBLES_SHAPE
from qdrank.studies.making import Inputs, Shown

_MEASURES = ("ap", "p@1/letor4", "p@2/letor4", "p@5/letor4", "p@10/letor4", "ndcg@10/letor4")


def tabulate(inputs: Inputs, shown: Shown) -> dict[str, pa.Table | pd.DataFrame]:
    """Tables of the methods, by id."""
    values, choices = inputs.frame("measures", "measures"), inputs.frame("choices", "choices")
    labels = {name: method.label for name, method in BY_NAME.items()}
    return {
        "hoi-methods": methods_table(
            values, labels, _MEASURES, choices, against=["ser"], by="ap", interval=shown.interval
        ),
        "hoi-folds": folds_table(values, labels, ["ap"]),
        "hoi-tests": _tests_table(inputs.table("measures", "measures"), shown.interval),
        "hoi-solver": solver_table(inputs.frame("weights", ENSEMBLES_SHAPE)),
    }


def _pairs(measured: set[str]) -> list[tuple[str, str]]:
    """Pairs to test: SSER and SER against every baseline, under both rules, and against each other."""
    pairs = []
    for ties in TIES:
        ser, sser = with_ties("ser", ties), with_ties("sser", ties)
        pairs += [(sser, ser), *((a, b.name) for a in (sser, ser) for b in BASELINES if b.name in measured)]
    return pairs


def _tests_table(measures: pa.Table, interval: Mapping[str, Any]) -> pa.Table:
    """Three tests of every pair, Holm-corrected p-values of the t test, and the smallest detectable difference."""
    pairs = _pairs(set(measures.column("method").to_pylist()))
    comparisons = [compare(method_pairs(measures, *pair, "ap"), family=len(pairs), **interval) for pair in pairs]
    labels = [(BY_NAME[name].label, BY_NAME[other].label) for name, other in pairs]
    return pa.Table.from_pylist(compared_rows(labels, comparisons, family="SER and SSER"))


def solver_table(weights: pd.DataFrame) -> pd.DataFrame:
    """Number of programs solved by each method, with the worst certificate."""
    named = {"programs": ("gap", "size"), "largest gap": ("gap", "max"), "largest KKT residual": ("kkt", "max")}
    table = weights.groupby("method", sort=False).agg(**named, **{"steps, mean": ("steps", "mean")})
    for name in ("largest gap", "largest KKT residual"):
        table[name] = table[name].map("{:.1e}".format)
    return table.rename(index={name: method.label for name, method in BY_NAME.items()}).reset_index()

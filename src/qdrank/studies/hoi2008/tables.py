"""Tables of the study of Hoi and Jin 2008: methods, folds, tests, and certificates of the programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from qdrank.evaluation.comparison import compare, compared_rows
from qdrank.evaluation.pairs import method_pairs
from qdrank.studies.hoi2008.methods import BASELINES, BY_NAME, TIES, with_ties
from qdrank.studies.hoi2008.shapes import ENSEMBLES_SHAPE
from qdrank.studies.making import Inputs, Shown
from qdrank.studies.method_tables import folds_table, methods_table

_MEASURES = ("ap", "p@1/letor4", "p@2/letor4", "p@5/letor4", "p@10/letor4", "ndcg@10/letor4")


def tabulate(inputs: Inputs, shown: Shown) -> dict[str, pa.Table]:
    """Tables of the methods, by id."""
    measures = inputs.table("measures", "measures")
    return {
        "hoi-methods": methods_table(
            measures,
            BY_NAME,
            _MEASURES,
            inputs.tables("choices", "choices"),
            against="ser",
            by="ap",
            interval=shown.interval,
        ),
        "hoi-folds": folds_table(measures, BY_NAME, ["ap"]),
        "hoi-tests": _tests_table(measures, shown.interval),
        "hoi-solver": solver_table(inputs.tables("weights", ENSEMBLES_SHAPE)),
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


def solver_table(tables: Sequence[pa.Table]) -> pa.Table:
    """Number of programs solved by each method, with the worst certificate."""
    table = pa.concat_tables(tables)
    method = table.column("method").to_numpy(zero_copy_only=False)
    rows = []
    for name in dict.fromkeys(method.tolist()):
        of_method = method == name
        gap, kkt, steps = (table.column(column).to_numpy()[of_method] for column in ("gap", "kkt", "steps"))
        row = {"method": BY_NAME[name].label, "programs": int(of_method.sum()), "largest gap": f"{gap.max():.1e}"}
        rows.append(row | {"largest KKT residual": f"{kkt.max():.1e}", "steps, mean": float(np.mean(steps))})
    return pa.Table.from_pylist(rows)

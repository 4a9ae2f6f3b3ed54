"""Tables of the study of Hoi and Jin 2008: methods, folds, tests, and certificates of the programs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
import pyarrow as pa

from qdrank.studies.hoi2008.methods import BASELINES, BY_NAME, TIES, with_ties
from qdrank.studies.hoi2008.shapes import ENSEMBLES_SHAPE
from qdrank.studies.making import Inputs, Shown
from qdrank.studies.method_tables import folds_table, measured_methods, methods_table, tests_table

_MEASURES = ("ap", "p@1/letor4", "p@2/letor4", "p@5/letor4", "p@10/letor4", "ndcg@10/letor4")


def tabulate(inputs: Inputs, shown: Shown) -> dict[str, pa.Table]:
    """Tables of the methods, by id."""
    measures = inputs.table("measures", "measures")
    baselines = measured_methods(measures, [method.name for method in BASELINES])
    of_ties = [(with_ties("sser", ties), with_ties("ser", ties)) for ties in TIES]
    pairs = [pair for ours in of_ties for pair in (ours, *product(ours, baselines))]
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
        "hoi-tests": tests_table(measures, pairs, lambda name: BY_NAME[name].label, "ap", shown.interval),
        "hoi-solver": solver_table(inputs.tables("weights", ENSEMBLES_SHAPE)),
    }


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

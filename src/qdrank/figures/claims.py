"""All claims at a glance: a row a claim, a column a data set."""

from __future__ import annotations

import math

import pyarrow as pa

from qdrank.evaluation.claims import FAILS, HOLDS, UNCLEAR

#: Verdicts as they stand in a cell, before the effect.
SIGNS = {HOLDS: "yes", FAILS: "no", UNCLEAR: "?"}


def claims_overview(claims: pa.Table) -> pa.Table:
    """Verdict and effect of every claim (the artifact ``claims``) on every data set; empty where it was not judged."""
    rows = claims.to_pylist()
    datasets = list(dict.fromkeys(row["dataset"] for row in rows))
    cells = {(row["claim"], row["dataset"]): _cell(row["verdict"], row["effect"]) for row in rows}
    names = list(dict.fromkeys(row["claim"] for row in rows))
    columns = {dataset: [cells.get((name, dataset), "") for name in names] for dataset in datasets}
    return pa.table({"claim": names} | columns)


def _cell(verdict: str, effect: float | None) -> str:
    unknown = effect is None or math.isnan(effect)
    return SIGNS[verdict] if unknown else f"{SIGNS[verdict]} {effect:+.3f}"

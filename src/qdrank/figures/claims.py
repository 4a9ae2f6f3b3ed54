"""All claims at a glance: one row per claim, one column per data set."""

from __future__ import annotations

import math

import pyarrow as pa
import pyarrow.compute as pc

from qdrank.evaluation.claims import FAILS, HOLDS, UNCLEAR

#: Verdicts as they stand in a cell, before the effect.
SIGNS = {HOLDS: "yes", FAILS: "no", UNCLEAR: "?"}


def claims_overview(claims: pa.Table) -> pa.Table:
    """Verdict and effect of every claim (the artifact ``claims``) on every data set; empty where it was not judged."""
    rows = claims.to_pylist()
    datasets = list(dict.fromkeys(row["dataset"] for row in rows))
    cells = {(row["paper"], row["claim"], row["dataset"]): _cell(row["verdict"], row["effect"]) for row in rows}
    names = list(dict.fromkeys((row["paper"], row["claim"]) for row in rows))
    columns = {dataset: [cells.get((*name, dataset), "") for name in names] for dataset in datasets}
    papers, claims_ = ([name[i] for name in names] for i in (0, 1))
    return pa.table({"paper": papers, "claim": claims_} | columns)


def findings_markdown(claims: pa.Table, paper: str) -> str:
    """The claims of one paper, controls included, as a Markdown table; empty where the run has none."""
    from qdrank.figures.tables import markdown

    own = claims.filter(pc.starts_with(claims.column("paper"), paper))
    return markdown(claims_overview(own).drop_columns(["paper"])) if len(own) else ""


def _cell(verdict: str, effect: float | None) -> str:
    unknown = effect is None or math.isnan(effect)
    return SIGNS[verdict] if unknown else f"{SIGNS[verdict]} {effect:+.3f}"

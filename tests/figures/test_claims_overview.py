"""The table of all verdicts."""

from __future__ import annotations

import pyarrow as pa

from qdrank.evaluation.claims import FAILS, HOLDS, UNCLEAR
from qdrank.figures.claims import claims_overview


def test_a_row_a_claim_and_a_column_a_data_set():
    rows = [
        {"claim": "A beats B", "dataset": "one", "verdict": HOLDS, "effect": 0.0123},
        {"claim": "A beats B", "dataset": "two", "verdict": UNCLEAR, "effect": -0.001},
        {"claim": "C is small", "dataset": "two", "verdict": FAILS, "effect": None},
        {"claim": "D is large", "dataset": "two", "verdict": HOLDS, "effect": float("nan")},
    ]
    assert claims_overview(pa.Table.from_pylist(rows)).to_pylist() == [
        {"claim": "A beats B", "one": "yes +0.012", "two": "? -0.001"},
        {"claim": "C is small", "one": "", "two": "no"},
        {"claim": "D is large", "one": "", "two": "yes"},
    ]

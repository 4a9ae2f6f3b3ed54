"""Tables of the study: rankers, Holm-corrected tests, and how often documents recur."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import pyarrow as pa

from qdrank.figures.method_tables import comparisons_table, methods_table
from qdrank.studies.beyond.methods import (
    BY_NAME,
    CHOSEN,
    CONTROLS,
    GATED,
    MEASURE,
    METHODS,
    OF_CHOSEN,
    OTHER_GATE,
    SINGLE,
    TREES,
    WITH_EVIDENCE,
)
from qdrank.studies.beyond.values import gathered_values, named, thresholds, without_near
from qdrank.studies.making import Inputs, Shown

TABLED_MEASURES = ("ap", "ndcg@10/letor4", "p@10/letor4")


def tabulate(inputs: Inputs, shown: Shown) -> dict[str, pa.Table | pd.DataFrame]:
    """Tables by id."""
    measures, by_near = inputs.frame("measures", "measures"), gathered_values(inputs)
    values, labels = named(by_near), {name: method.label for name, method in BY_NAME.items()}
    nears = thresholds(by_near)
    labels |= {without_near(name, near): without_near(labels[name], near) for name in BY_NAME for near in nears}
    choices = inputs.frame("choices", "choices")
    choices["setting"] = choices["setting"].replace(labels)
    primary = [(CHOSEN, other) for other in (SINGLE, TREES, OF_CHOSEN)]
    against, interval = [SINGLE, TREES], shown.interval
    return {
        "beyond-methods": methods_table(
            measures, labels, TABLED_MEASURES, choices, against=against, by=MEASURE, interval=interval
        ),
        "beyond-primary": comparisons_table(values, primary, labels, MEASURE, interval),
        "beyond-tests": comparisons_table(values, comparisons(nears), labels, MEASURE, interval),
        "beyond-documents": documents_table(inputs.tables("recurrence", "figure")),
    }


def comparisons(nears: Sequence[float]) -> list[tuple[str, str]]:
    """All exploratory comparisons: rankers against Single, LambdaMART and controls; also without near-duplicates."""
    pairs = []
    for name in (method.name for method in METHODS[2:-1]):
        controls = [CONTROLS[name]] if name in CONTROLS else []
        against = [SINGLE, TREES, *controls, *([OTHER_GATE] if name == GATED else [])]
        pairs += [(name, other) for other in against]
    return pairs + [
        (without_near(name, near), without_near(CONTROLS[name], near)) for near in nears for name in WITH_EVIDENCE
    ]


def documents_table(tables: Sequence[pa.Table]) -> pa.Table:
    """Recurrence of the test documents, by fold and on average."""
    rows = [row for table in tables for row in table.to_pylist()]
    mean = {name: float(np.mean([row[name] for row in rows])) for name in rows[0] if name != "fold"}
    whole = {name: round(value) if isinstance(rows[0][name], int) else value for name, value in mean.items()}
    words = {
        "seen": "rows whose document a training query has",
        "relevant": "rows whose document is relevant to one",
        "found": "relevant rows whose document is relevant to one",
        "queries": "training queries it is relevant to, per row",
    }
    return pa.Table.from_pylist(
        [{words.get(name, name): value for name, value in row.items()} for row in (*rows, {"fold": "mean", **whole})]
    )

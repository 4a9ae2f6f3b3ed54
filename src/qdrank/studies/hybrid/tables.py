"""Tables of the study: methods and controls, comparisons with Holm's correction, oracles, settings chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from qdrank.evaluation.comparison import compare, compared_rows
from qdrank.figures.tables import chosen_by_fold
from qdrank.studies.hybrid.figures import oracle_numbers
from qdrank.studies.hybrid.methods import (
    BY_NAME,
    CHOSEN,
    CONTROLS,
    FIXED,
    METHODS,
    OF_CHOSEN,
    TREES,
)
from qdrank.studies.hybrid.values import Values, gathered_values, known
from qdrank.studies.making import Inputs, Shown


def tabulate(inputs: Inputs, shown: Shown) -> dict[str, pa.Table]:
    """Tables by id."""
    values = gathered_values(inputs)
    choices = inputs.tables("choices", "choices")
    return {
        "hybrid-methods": methods_table(values, choices, shown.interval),
        "hybrid-tests": tests_table(values, shown.interval),
        "hybrid-oracles": oracle_numbers(inputs.table("oracle", "figure"), shown.interval),
    }


def _label(name: str) -> str:
    return BY_NAME[name].label if name in BY_NAME else name


def methods_table(values: Values, choices: Sequence[pa.Table], interval: Mapping[str, Any]) -> pa.Table:
    """Single runs, methods and controls: mean, difference from fixed weights with its interval, settings chosen."""
    chosen = chosen_by_fold(choices)
    chosen[CHOSEN] = [_label(name) for name in chosen[CHOSEN]]
    runs = [name for name in values.of if name.startswith("run ")]
    rows = []
    for name in [*runs, *known([method.name for method in METHODS], values), *known([*CONTROLS.values()], values)]:
        apart = compare(values.pairs(name, FIXED), **interval)
        row: dict[str, Any] = {"method": _label(name), "NDCG@10": apart.mean_a, "from fixed": apart.difference}
        row |= {"low": apart.interval.low, "high": apart.interval.high, "fits": apart.fits}
        rows.append(row | {"settings by fold": "; ".join(chosen.get(name, []))})
    return pa.Table.from_pylist(rows)


def comparisons(values: Values) -> list[tuple[str, str]]:
    """The primary comparisons, then the chosen method against a learner without the query, then each against its control.

    Every method is also compared with fixed weights.
    """
    pairs = [(CHOSEN, FIXED), (CHOSEN, OF_CHOSEN)] + [(CHOSEN, name) for name in known([TREES], values)]
    for name in known([method.name for method in METHODS], values):
        if name not in (CHOSEN, FIXED):
            pairs.append((name, FIXED))
            pairs += [(name, CONTROLS[name])] if CONTROLS.get(name) in values.of else []
    return pairs


def tests_table(values: Values, interval: Mapping[str, Any]) -> pa.Table:
    """Differences in NDCG@10 with p-values Holm-corrected over the whole table, and the smallest detectable difference."""
    pairs = comparisons(values)
    made = [compare(values.pairs(*pair), family=len(pairs), **interval) for pair in pairs]
    labels = [(_label(name), _label(other)) for name, other in pairs]
    return pa.Table.from_pylist(compared_rows(labels, made, family="this table"))

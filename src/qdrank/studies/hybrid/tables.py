"""Tables of the study: methods and controls, comparisons with Holm's correction, oracles, settings chosen."""

from __future__ import annotations

from typing import Any

import pandas as pd

from qdrank.figures.method_tables import comparisons_table, methods_table
from qdrank.studies.hybrid.figures import oracle_numbers
from qdrank.studies.hybrid.methods import (
    BY_NAME,
    CHOSEN,
    CONTROLS,
    FIXED,
    MEASURE,
    METHODS,
    OF_CHOSEN,
    PER_QUERY,
    TREES,
)
from qdrank.studies.hybrid.values import gathered_values, known
from qdrank.studies.making import Inputs, Shown


def tabulate(inputs: Inputs, shown: Shown) -> dict[str, Any]:
    """Tables by id."""
    values, interval = gathered_values(inputs), shown.interval
    runs = {name: name for name in values["method"].unique() if name.startswith("run ")}
    labels = runs | {name: BY_NAME[name].label for name in known([*BY_NAME], values)}
    tabled = {name: label for name, label in labels.items() if name != OF_CHOSEN}
    choices = inputs.frame("choices", "choices")
    choices["setting"] = choices["setting"].replace({name: labels[name] for name in PER_QUERY})
    return {
        "hybrid-methods": methods_table(
            values, tabled, [MEASURE], choices, against=[FIXED], by=MEASURE, interval=interval
        ),
        "hybrid-tests": comparisons_table(values, comparisons(values), labels, MEASURE, interval),
        "hybrid-oracles": oracle_numbers(inputs, interval),
    }


def comparisons(values: pd.DataFrame) -> list[tuple[str, str]]:
    """The primary comparisons, then the chosen method against a learner without the query, then each against its control.

    Every method is also compared with fixed weights.
    """
    made = [(CHOSEN, FIXED), (CHOSEN, OF_CHOSEN)] + [(CHOSEN, name) for name in known([TREES], values)]
    for name in known([method.name for method in METHODS], values):
        if name not in (CHOSEN, FIXED):
            made.append((name, FIXED))
            made += [(name, CONTROLS[name])] if known([CONTROLS.get(name, "")], values) else []
    return made

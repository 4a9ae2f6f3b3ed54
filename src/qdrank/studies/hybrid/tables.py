"""Values of the study by test query, and its tables: methods and controls, Holm-corrected comparisons, oracles."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from qdrank.evaluation.values import Observations, check_observations
from qdrank.figures.method_tables import comparisons_table, methods_table
from qdrank.figures.numbers import ALONE, chosen, numbers
from qdrank.studies.hybrid.methods import (
    BY_NAME,
    CHOSEN,
    CONTROLS,
    DECLARED,
    FIXED,
    MEASURE,
    METHODS,
    OF_CHOSEN,
    ORACLE,
    PER_QUERY,
    SENSITIVITY,
    TREES,
)
from qdrank.studies.making import Inputs, Shown


def gathered_values(inputs: Inputs) -> pd.DataFrame:
    """Values of methods from the artifact ``measures``, of all others from the ``values`` of all folds."""
    other = inputs.frame("values", "values")
    values = pd.concat([inputs.frame("measures", "measures"), other[other["x"].isna()]], ignore_index=True)
    return values[["fold", "method", "fit", "query_id", MEASURE]]


def known(names: Iterable[str], values: pd.DataFrame) -> list[str]:
    """Those of ``names`` that have values."""
    measured = set(values["method"])
    return [name for name in names if name in measured]


def gather(inputs: Inputs, shown: Shown) -> tuple[pd.DataFrame, Observations]:  # noqa: ARG001
    """The values, and what no difference of two of them decides."""
    return gathered_values(inputs), check_observations(inputs.table("checks", "figure"))


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


def oracle_numbers(inputs: Inputs, interval: Mapping[str, Any]) -> pd.DataFrame:
    """Gains on the tuned ranking of the oracle and of each form of noise oracle, with intervals and distances."""
    names = [FIXED, ORACLE, *(form.text for form in (DECLARED, *SENSITIVITY))]
    values = chosen(gathered_values(inputs), names)
    rows = numbers(values, ["method"], MEASURE, interval, against={"method": FIXED}, means=False)[1:]
    rows = rows.drop(columns="mean").rename(columns={"difference": "gain"} | ALONE)
    far = inputs.frame("values", "values").groupby("method")[["distance", "between"]].mean()
    return rows.join(far.set_axis(["from tuned", "between two"], axis=1), on="method", validate="one_to_one")

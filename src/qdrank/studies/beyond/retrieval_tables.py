"""Tables of retrieval with past queries: methods with intervals, budgets, controls, forms of judgments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from qdrank.evaluation.comparison import compare
from qdrank.evaluation.values import pairs
from qdrank.figures.method_tables import with_settings
from qdrank.figures.numbers import chosen
from qdrank.studies.beyond.retrieved import (
    BUDGETS,
    CONTROLS,
    FORMS,
    LEARNED,
    MEASURES,
    NDCG,
    RECOMMENDED,
    RETRIEVERS,
    TEXT_MIX,
    WITHOUT_NEAR,
)
from qdrank.studies.beyond.values import named, thresholds, without_near
from qdrank.studies.making import Inputs, Shown

AP = f"ap@{BUDGETS[-1]}"
_LABELS = RETRIEVERS | LEARNED | {name: words for name, (words, _) in CONTROLS.items()}


def retrieved(inputs: Inputs, form: str = "all") -> pd.DataFrame:
    """Values of methods and controls in a form of the judgments, none where the form does not exist.

    ``near`` is the similarity from which past queries are hidden; 0 if none are, which comes first. ``fit`` is the draw of a
    control, or the fit of a learner; ``recurring`` the share of relevant documents that recur.
    """
    parts = [table.to_pandas().rename(columns={"x": "near"}) for table in inputs.tables(form, "values")]
    values: pd.DataFrame = pd.concat(parts or [pd.DataFrame(columns=["method", "near"])]).fillna({"near": 0.0})
    return values.sort_values("near", ascending=False, key=lambda near: near.replace(0, np.inf), kind="stable")


def label(method: str) -> str:
    """A method or control in words."""
    name, _, near = method.partition(", queries below ")
    return f"{_LABELS[name]}, past queries below {near}" if near else _LABELS[name]


def _difference(values: pd.DataFrame, a: str, b: str, interval: Mapping[str, Any], family: int) -> dict[str, Any]:
    """Two methods in MAP and NDCG@10, with intervals; the smallest detectable difference in MAP."""
    row: dict[str, Any] = {}
    for name, measure in (("MAP", AP), ("NDCG@10", NDCG)):
        one = compare(pairs(values, a, b, measure), family=family, **interval)
        row |= {f"difference in {name}": one.difference}
        row |= {f"{name}, low": one.interval.low, f"{name}, high": one.interval.high}
        if name == "MAP":
            row |= {"p, t test": one.t.p, "detectable": one.detectable}
            row |= {"fits": one.fits, "spread of fits": one.fit_spread}
    return row


def tabulate(inputs: Inputs, shown: Shown) -> dict[str, pd.DataFrame]:
    """Tables by id."""
    forms = {form: named(values) for form in FORMS if len(values := retrieved(inputs, form))}
    values, methods, interval = forms["all"], RETRIEVERS | LEARNED, shown.interval
    means = chosen(values, methods).groupby("method", sort=False)[[*MEASURES]].mean()
    apart = {name: _difference(values, name, TEXT_MIX, interval, len(methods) - 1) for name in methods}
    of_text = means[[AP, NDCG, "r@100", "r@1000"]].join(pd.DataFrame.from_dict(apart, orient="index"))
    return {
        "beyond-retrieval": with_settings(of_text, methods, inputs.frame("tried", "choices")),
        "beyond-budgets": means.rename(index=methods).reset_index(),
        "beyond-past": _comparisons(values, interval),
        "beyond-forms": _forms(forms, interval),
    }


def without_nearest(values: pd.DataFrame) -> list[tuple[str, str]]:
    """The main mixes without near-duplicates of the query, from the highest similarity, against text alone."""
    return [(without_near(name, near), TEXT_MIX) for name in WITHOUT_NEAR for near in thresholds(values)]


def comparisons(values: pd.DataFrame) -> list[tuple[str, str]]:
    """What is compared besides the primary comparison: controls, and mixes without near-duplicates."""
    made = [(RECOMMENDED, name) for name in ("prior-mix", "nearest-mix", "permuted")]
    made += [("nearest-mix", name) for name in ("prior-mix", "another")]
    made += [("all-mix", RECOMMENDED), ("closed", TEXT_MIX)]
    made += [(name, RECOMMENDED) for name in LEARNED if name != "learned-text"]
    made += [("learned-text", TEXT_MIX), ("learned-monotone", "learned-past"), ("learned-all", "learned-monotone")]
    return made + without_nearest(values)


def _comparisons(values: pd.DataFrame, interval: Mapping[str, Any]) -> pd.DataFrame:
    compared, rows = comparisons(values), []
    for a, b in compared:
        drawn = pairs(values, a, b, AP).by_fit
        each = drawn.mean(axis=0) if drawn.shape[1] > 1 else []
        row = {"method": label(a), "against": label(b)} | _difference(values, a, b, interval, len(compared))
        rows.append(row | {"difference in each fit": ", ".join(f"{one:+.4f}" for one in each)})
    return pd.DataFrame(rows)


_OF_FORMS: Sequence[tuple[str, str]] = (
    (RECOMMENDED, TEXT_MIX),
    ("nearest-mix", TEXT_MIX),
    ("prior-mix", TEXT_MIX),
    ("all-mix", RECOMMENDED),
    ("learned-monotone", RECOMMENDED),
    ("learned-all", "learned-monotone"),
)


def _forms(forms: Mapping[str, pd.DataFrame], interval: Mapping[str, Any]) -> pd.DataFrame:
    """The main comparisons in each form, with the recurrence that should predict them."""
    rows = []
    for form, values in forms.items():
        means, recurring = values.groupby("method")[AP].mean(), values.groupby("query_id")["recurring"].first()
        known = [one for one in _OF_FORMS if one[0] in means]  # learners are not run in every form
        for a, b in known + without_nearest(values):
            row: dict[str, Any] = {"judgments": FORMS[form], "queries": len(recurring)}
            row |= {"relevant documents that recur": recurring.mean(), "method": label(a), "against": label(b)}
            row |= {"MAP": means[a], "MAP of the other": means[b]}
            rows.append(row | _difference(values, a, b, interval, len(forms)))
    return pd.DataFrame(rows)

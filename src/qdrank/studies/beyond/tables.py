"""Values of the study by test query, and its tables: rankers and their tests, retrieval with past queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from qdrank.evaluation.comparison import compare
from qdrank.evaluation.values import Observations, check_observations, pairs
from qdrank.figures.method_tables import comparisons_table, methods_table, with_settings
from qdrank.figures.numbers import chosen
from qdrank.studies.beyond.methods import (
    BUDGETS,
    BY_NAME,
    CHOSEN,
    CONTROLS,
    ENCODER,
    FORMS,
    GATED,
    LEARNED,
    MEASURE,
    METHODS,
    MIX_CONTROLS,
    NDCG,
    OF_CHOSEN,
    OTHER_GATE,
    RECOMMENDED,
    RETRIEVAL_MEASURES,
    RETRIEVERS,
    SINGLE,
    TEXT_MIX,
    TREES,
    WITH_ENCODER,
    WITH_EVIDENCE,
    WITHOUT_NEAR,
    in_form,
    without_near,
)
from qdrank.studies.making import Inputs, Shown


def gathered_values(inputs: Inputs) -> pd.DataFrame:
    """Values of the methods from the artifact ``measures``, and of controls, and without near-duplicates, from ``values``.

    ``near`` is the similarity from which queries are left out; 0 if none are.
    """
    values = pd.concat([inputs.frame("measures", "measures"), inputs.frame("values", "values")], ignore_index=True)
    return values.rename(columns={"x": "near"}).fillna({"near": 0.0})[
        ["fold", "method", "near", "fit", "query_id", MEASURE]
    ]


def named(values: pd.DataFrame) -> pd.DataFrame:
    """Values by method alone: those without near-duplicates are methods of their own."""
    apart = [without_near(*one) if one[1] else one[0] for one in zip(values["method"], values["near"], strict=True)]
    return values.assign(method=apart)


def thresholds(values: pd.DataFrame) -> list[float]:
    """Similarity thresholds from which queries were left out, descending."""
    return sorted({near for near in values["near"] if near}, reverse=True)


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


AP = f"ap@{BUDGETS[-1]}"
_LABELS = RETRIEVERS | LEARNED | {name: words for name, (words, _) in MIX_CONTROLS.items()}


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


def tabulate_retrieval(inputs: Inputs, shown: Shown) -> dict[str, pd.DataFrame]:
    """Tables by id."""
    forms = {form: named(values) for form in FORMS if len(values := retrieved(inputs, form))}
    values, interval = forms["all"], shown.interval
    there = set(values["method"])
    labels = RETRIEVERS | LEARNED | (WITH_ENCODER if ENCODER in there else {})
    methods = {name: label for name, label in labels.items() if name in there}
    means = chosen(values, methods).groupby("method", sort=False)[[*RETRIEVAL_MEASURES]].mean()
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


def _retrieval_pairs(values: pd.DataFrame) -> list[tuple[str, str]]:
    """What is compared besides the primary comparison: controls, and mixes without near-duplicates."""
    made = [(RECOMMENDED, name) for name in ("prior-mix", "nearest-mix", "permuted")]
    made += [("nearest-mix", name) for name in ("prior-mix", "another")]
    made += [("all-mix", RECOMMENDED), ("closed", TEXT_MIX)]
    made += [(name, RECOMMENDED) for name in LEARNED if name != "learned-text"]
    made += [("learned-text", TEXT_MIX), ("learned-monotone", "learned-past"), ("learned-all", "learned-monotone")]
    return made + without_nearest(values)


def _comparisons(values: pd.DataFrame, interval: Mapping[str, Any]) -> pd.DataFrame:
    compared, rows = _retrieval_pairs(values), []
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


def gather(inputs: Inputs, shown: Shown) -> tuple[pd.DataFrame, Observations]:  # noqa: ARG001
    """Values of rankers, retrieval and controls, and of the checks."""
    values = pd.concat([named(gathered_values(inputs)), retrieval_values(inputs)])
    return values, check_observations(inputs.table("checks", "figure"))


def retrieval_values(inputs: Inputs) -> pd.DataFrame:
    """Values of retrieval with past queries, in two forms of the judgments; none where the data are not raw text."""
    main, highest = named(retrieved(inputs)), named(retrieved(inputs, "highest"))
    highest = highest.assign(method=[in_form(method, "highest") for method in highest["method"]])
    return pd.concat([main, highest]).rename(columns={AP: MEASURE})

"""Tables and observations of retrieval with past queries: methods with intervals, budgets, controls, forms of judgments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from qdrank.evaluation.comparison import compare
from qdrank.evaluation.observations import Observations
from qdrank.evaluation.pairs import Pairs
from qdrank.evaluation.values import Values
from qdrank.figures.tables import chosen_by_fold
from qdrank.layout import FloatArray
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
from qdrank.studies.making import Inputs, Shown

AP = f"ap@{BUDGETS[-1]}"
Key = tuple[str, float]
"""Method or control, and the similarity from which past queries are hidden; 0 if none are."""


@dataclass(frozen=True, eq=False)
class Retrieved:
    """Values of the test queries of all folds in one form of the judgments.

    Attributes
    ----------
    query_id, fold, recurring : (n_queries,) by ascending id; the share of relevant documents that recur
    of : by method or control and threshold, then by measure: (n_queries, n_fits), a column for each draw of a control
        and each fit of a learner
    """

    query_id: NDArray[np.object_]
    fold: NDArray[np.object_]
    recurring: FloatArray
    of: Mapping[Key, Mapping[str, FloatArray]]

    @property
    def thresholds(self) -> list[float]:
        """Similarities from which past queries are hidden, from the highest."""
        return sorted({near for _, near in self.of if near}, reverse=True)

    def mean(self, key: Key, measure: str) -> float:
        """Mean of a method over queries and fits."""
        return float(self.of[key][measure].mean())

    def pairs(self, a: Key, b: Key, measure: str = AP) -> Pairs:
        """Two methods on the same queries, in every fit."""
        first, second = self.of[a][measure], self.of[b][measure]
        return Pairs(self.query_id, first.mean(axis=1), second.mean(axis=1), by_fit=np.round(first - second, 12))


def retrieved(inputs: Inputs, form: str = "all") -> Retrieved | None:
    """Values of a form from the tables of its folds; None where the form does not exist."""
    parts = [table.to_pandas() for table in inputs.tables(form, "values")]
    values = pd.concat(parts) if parts else pd.DataFrame()
    if values.empty:
        return None
    values = values.fillna({"x": 0.0}).sort_values(["fit", "query_id"])
    first = values.drop_duplicates("query_id").sort_values("query_id")
    n = len(first)
    keys = [*values[["method", "x"]].drop_duplicates().itertuples(index=False, name=None)]
    groups = values.groupby(["method", "x"])
    of = {key: {name: groups.get_group(key)[name].to_numpy().reshape(-1, n).T for name in MEASURES} for key in keys}
    ids, folds, recurring = (first[name].to_numpy() for name in ("query_id", "fold", "recurring"))
    return Retrieved(ids, folds, recurring, of)


_LABELS = RETRIEVERS | LEARNED | {name: words for name, (words, _) in CONTROLS.items()}


def label(key: Key) -> str:
    """A method or control in words."""
    name, near = key
    words = _LABELS[name]
    return f"{words}, past queries below {near:g}" if near else words


def _difference(values: Retrieved, a: Key, b: Key, interval: Mapping[str, Any], family: int) -> dict[str, Any]:
    """Two methods in MAP and NDCG@10, with intervals; the smallest detectable difference in MAP."""
    row: dict[str, Any] = {}
    for name, measure in (("MAP", AP), ("NDCG@10", NDCG)):
        one = compare(values.pairs(a, b, measure), family=family, **interval)
        row |= {
            f"difference in {name}": one.difference,
            f"{name}, low": one.interval.low,
            f"{name}, high": one.interval.high,
        }
        if name == "MAP":
            row |= {
                "p, t test": one.t.p,
                "detectable": one.detectable,
                "fits": one.fits,
                "spread of fits": one.fit_spread,
            }
    return row


def tabulate(inputs: Inputs, shown: Shown) -> dict[str, pa.Table]:
    """Tables by id."""
    forms = {form: values for form in FORMS if (values := retrieved(inputs, form)) is not None}
    values = forms["all"]
    tried = inputs.tables("tried", "choices")
    tables = {
        "beyond-retrieval": _methods(values, chosen_by_fold(tried), shown.interval),
        "beyond-budgets": _budgets(values),
        "beyond-past": _comparisons(values, shown.interval),
        "beyond-forms": _forms(forms, shown.interval),
    }
    return {name: pa.Table.from_pylist(list(rows)) for name, rows in tables.items()}


def _methods(
    values: Retrieved, chosen: Mapping[str, list[str]], interval: Mapping[str, Any]
) -> Iterator[dict[str, Any]]:
    for name, words in (RETRIEVERS | LEARNED).items():
        row: dict[str, Any] = {"method": words}
        row |= {measure: values.mean((name, 0.0), measure) for measure in (AP, NDCG, "r@100", "r@1000")}
        row |= _difference(values, (name, 0.0), (TEXT_MIX, 0.0), interval, len(RETRIEVERS | LEARNED) - 1)
        yield row | {"settings by fold": "; ".join(chosen.get(name, []))}


def _budgets(values: Retrieved) -> Iterator[dict[str, Any]]:
    for name, words in (RETRIEVERS | LEARNED).items():
        yield {"method": words} | {measure: values.mean((name, 0.0), measure) for measure in MEASURES}


def without_near(values: Retrieved) -> list[tuple[Key, Key]]:
    """The main mixes without near-duplicates of the query, from the highest similarity, against text alone."""
    return [((name, near), (TEXT_MIX, 0.0)) for name in WITHOUT_NEAR for near in values.thresholds]


def comparisons(values: Retrieved) -> list[tuple[Key, Key]]:
    """What is compared besides the primary comparison: controls, and mixes without near-duplicates."""
    pairs: list[tuple[Key, Key]] = [
        ((RECOMMENDED, 0.0), (name, 0.0)) for name in ("prior-mix", "nearest-mix", "permuted")
    ]
    pairs += [(("nearest-mix", 0.0), (name, 0.0)) for name in ("prior-mix", "another")]
    pairs += [(("all-mix", 0.0), (RECOMMENDED, 0.0)), (("closed", 0.0), (TEXT_MIX, 0.0))]
    pairs += [((name, 0.0), (RECOMMENDED, 0.0)) for name in LEARNED if name != "learned-text"]
    pairs += [(("learned-text", 0.0), (TEXT_MIX, 0.0)), (("learned-monotone", 0.0), ("learned-past", 0.0))]
    pairs += [(("learned-all", 0.0), ("learned-monotone", 0.0))]
    return pairs + without_near(values)


def _comparisons(values: Retrieved, interval: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    pairs = comparisons(values)
    for a, b in pairs:
        drawn = values.pairs(a, b).by_fit
        each = [] if drawn is None or drawn.shape[1] == 1 else drawn.mean(axis=0).tolist()
        row = {"method": label(a), "against": label(b)} | _difference(values, a, b, interval, len(pairs))
        yield row | {"difference in each fit": ", ".join(f"{one:+.4f}" for one in each)}


def _forms(forms: Mapping[str, Retrieved], interval: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The main comparisons in each form, with the recurrence that should predict them."""
    for form, values in forms.items():
        pairs: list[tuple[Key, Key]] = [
            ((a, 0.0), (b, 0.0))
            for a, b in (
                (RECOMMENDED, TEXT_MIX),
                ("nearest-mix", TEXT_MIX),
                ("prior-mix", TEXT_MIX),
                ("all-mix", RECOMMENDED),
                ("learned-monotone", RECOMMENDED),
                ("learned-all", "learned-monotone"),
            )
            if (a, 0.0) in values.of  # learners are not run in every form
        ]
        for a, b in pairs + without_near(values):
            row: dict[str, Any] = {"judgments": FORMS[form], "queries": len(values.query_id)}
            row |= {"relevant documents that recur": float(values.recurring.mean())}
            row |= {"method": label(a), "against": label(b)}
            row |= {"MAP": values.mean(a, AP), "MAP of the other": values.mean(b, AP)}
            yield row | _difference(values, a, b, interval, len(forms))


def gather_retrieval(inputs: Inputs) -> Observations:
    """Observations for the claims about retrieval; none where the data are not raw text."""
    values, highest = retrieved(inputs), retrieved(inputs, "highest")
    if values is None:
        return {}
    main, text = (RECOMMENDED, 0.0), (TEXT_MIX, 0.0)

    def apart(a: Key, b: Key, measure: str = AP, of: Retrieved = values) -> Values:
        apart = of.pairs(a, b, measure).by_fit
        assert apart is not None
        return Values(apart, of.query_id, of.fold)

    claims = {
        "expansion": {"difference": apart(main, text)},
        "expansion, NDCG@10": {"difference": apart(main, text, NDCG)},
        "expansion, highest grade": {} if highest is None else {"difference": apart(main, text, of=highest)},
        "expansion - permuted": {"difference": apart(main, ("permuted", 0.0))},
        "expansion - prior": {"difference": apart(main, ("prior-mix", 0.0))},
        "expansion, no near-duplicates": {
            f"past queries below {one:g}": apart((RECOMMENDED, one), text) for one in values.thresholds
        },
        "similar queries - another query": {"difference": apart(("nearest-mix", 0.0), ("another", 0.0))},
        "similar queries on expansion": {"difference": apart(("all-mix", 0.0), main)},
        "closed collection": {"difference": apart(("closed", 0.0), text)},
        "learned": {"difference": apart(("learned-monotone", 0.0), main)},
        "learned from judgments": {"difference": apart(("learned-monotone", 0.0), ("learned-past", 0.0))},
        "learned, never judged": {"difference": apart(("learned-all", 0.0), ("learned-monotone", 0.0))},
    }
    return {claim: contrasts for claim, contrasts in claims.items() if contrasts}

"""Evidence for the claims of Lin 2011 in the results of a data set: values per test query and seed of the clusters, as fits."""

from __future__ import annotations

import numpy as np
import pandas as pd

from qdrank.datasets.judged import load_judged
from qdrank.evaluation.difficulty import Difficulty, difficulty
from qdrank.evaluation.values import Observations, Values, difference
from qdrank.figures.numbers import chosen
from qdrank.studies.lin2011.claims import AROUND, BEST, BY_CLASS, MEASURE, PLACE, RANKS, TABLE2
from qdrank.studies.lin2011.methods import AGGREGATING, ORACLES, RANKSVM
from qdrank.studies.making import Inputs, Shown

_AGGREGATORS = ("bordacount", "cps-kendall", "cps-footrule", "cps-spearman")


def gather(inputs: Inputs, shown: Shown) -> tuple[pd.DataFrame, Observations]:
    """Values of methods, oracles at the largest number of clusters and best aggregators; and the study's own observations."""
    values, baselines = inputs.frame("values", "values"), inputs.frame("baselines", "measures")
    methods, oracles = values[values["x"].isna()], values[values["x"] == values["x"].max()]
    oracles = chosen(oracles, [method.name for method in ORACLES])
    aggregators = [best_aggregator(baselines, suffix) for suffix in RANKS.values()]
    classes = difficulty(load_judged(inputs.path("judged"), []), shown.options["classes"])
    own = _most_measures(methods) | _by_class(methods, classes) | _place(inputs.frame("ranked", "figure"))
    return pd.concat([methods, oracles, *aggregators]), own


def best_aggregator(baselines: pd.DataFrame, suffix: str) -> pd.DataFrame:
    """Values of the aggregator with the best mean, for one reading of the ranks; none where no ranks are aggregated."""
    known = chosen(baselines, [name + suffix for name in _AGGREGATORS])
    means = known.groupby("method", sort=False)[MEASURE].mean()
    best = known[known["method"] == means.idxmax()] if len(means) else known
    return best.assign(method=BEST + suffix)


def _most_measures(values: pd.DataFrame) -> Observations:
    """Share of the measures on which a query is above RankSVM, minus the share on which it is below."""
    claims: Observations = {}
    for method in AGGREGATING:
        apart = [difference(values, method, RANKSVM, name) for name in TABLE2 if name in values]
        share = np.mean([np.sign(one.value.round(12)) for one in apart], axis=0)
        claims[f"most {method}"] = {"difference": Values(share, apart[0].query_id, apart[0].fold)}
    return claims


def _by_class(values: pd.DataFrame, classes: Difficulty) -> Observations:
    claims: Observations = {}
    for method in AGGREGATING:
        apart = difference(values, method, RANKSVM, MEASURE)
        class_of = classes.of(apart.query_id)
        for name, sign in BY_CLASS.items():
            if (inside := class_of == name).any():
                of_class = Values(sign * apart.value[inside], apart.query_id[inside], apart.fold[inside])
                claims[f"{name} {method}"] = {"difference": of_class}
    return claims


def _place(ranked: pd.DataFrame) -> Observations:
    """RankSVM against the models at two places; empty unless there are a hundred models."""
    local = ranked[ranked["models"] == "local"]
    if any(len(models) != 100 for models in local["ap"]):
        return {}
    better, worse = (local["ap"].str[place - 1] for place in (PLACE - AROUND, PLACE + AROUND))
    contrasts = local.assign(rise=better - local["single"], fall=local["single"] - worse)
    wide = contrasts.pivot(index=["query_id", "fold"], columns="seed", values=["rise", "fall"])
    return {"place": {name: Values.of(wide[name]) for name in ("rise", "fall")}}

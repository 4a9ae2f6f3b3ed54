"""Tables 1 to 4 of Lin 2011, and tables beyond the paper's. Figures of the study's methods are means over the seeds of the clusters.

Beyond the paper: seeds and settings, clusters that fell back, the controls.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from qdrank.datasets.judged import load_judged
from qdrank.evaluation.comparison import compare, guarded, holm, paired_t
from qdrank.evaluation.difficulty import Difficulty, breakdown, difficulty
from qdrank.evaluation.values import Observations, Pairs, Values, difference, pairs
from qdrank.figures.difficulty import readable_breakdown
from qdrank.figures.method_tables import spread_of_fits
from qdrank.figures.numbers import chosen
from qdrank.measures.names import parse
from qdrank.rankers import FIRST_STAGES
from qdrank.rankers.methods import CLASSIC
from qdrank.studies.lin2011.claims import AROUND, BEST, BY_CLASS, MEASURE, PLACE, RANKS, TABLE2
from qdrank.studies.lin2011.methods import AGGREGATING, METHODS, ORACLES, PAPER, RANKSVM
from qdrank.studies.making import Inputs, Shown

_SURE = 0.05
#: Measures of Tables 1 and 3, and how many queries of each side Table 4 shows.
_SHORT = ("ap", "mean_ndcg/letor4", "p@1/letor4", "p@5/letor4", "ndcg@1/letor4", "ndcg@5/letor4", "ndcg@10/letor4")
_SHOWN = 10
#: Learners and first stages of Table 2; aggregators are in Table 1.
_OTHERS = [*(name for name, method in CLASSIC.items() if not method.aggregates), *FIRST_STAGES]
_LABELS = {name: method.label for name, method in CLASSIC.items()} | FIRST_STAGES
_LABELS |= {method.name: method.label for method in METHODS}


def at_chosen(values: pd.DataFrame) -> pd.DataFrame:
    """Values of the methods with the settings chosen among all; each seed is a fit, RankSVM has one."""
    return values[values["x"].isna()].drop(columns=["role", "x"])


def _label(method: str) -> str:
    return _LABELS.get(method.removesuffix("-high"), method)


def tabulate(inputs: Inputs, shown: Shown) -> dict[str, pd.DataFrame]:
    """Tables 1 to 4, by id."""
    values, baselines = at_chosen(inputs.frame("values", "values")), inputs.frame("baselines", "measures")
    classes = difficulty(load_judged(inputs.path("judged"), []), shown.options["classes"])
    stages = pd.concat([values, chosen(baselines, FIRST_STAGES)])
    return {
        "lin-table1": aggregation_table(values, baselines),
        "lin-table2": methods_table(pd.concat([values, chosen(baselines, _OTHERS)]), shown.interval),
        "lin-table3": difficulty_table(stages, classes, shown.interval),
        "lin-table4": queries_table(values, inputs.frame("topics", "topics"), classes),
    }


def _means(values: pd.DataFrame, methods: Sequence[str], name: str) -> pd.DataFrame:
    """Means of the methods that were measured, from the input ``name``."""
    shown = {name: parse(name).title for name in _SHORT if name in values}
    means = chosen(values, methods).groupby("method", sort=False)[[*shown]].mean().rename(columns=shown)
    means.insert(0, "input", name)
    return means.rename(index=_label).reset_index()


def aggregation_table(values: pd.DataFrame, baselines: pd.DataFrame) -> pd.DataFrame:
    """BordaCount and CPS for both readings of the ranks, beside the study's methods on features from the same ranks.

    Data without rankings to aggregate have no rows of BordaCount and CPS.
    """
    readings = {"ranks: 1 is best": False, "ranks: 1 is worst (upside down)": True}
    ranked = [name for name, method in CLASSIC.items() if method.aggregates]
    of_ranks = [
        _means(baselines, [name for name in ranked if name.endswith("-high") == high], words)
        for words, high in readings.items()
    ]
    known = "features" if all(means.empty for means in of_ranks) else "features made of the same ranks"
    return pd.concat([*of_ranks, _means(values, (RANKSVM, *PAPER), known), _means(baselines, [*FIRST_STAGES], "")])


# ---- Table 2 ---------------------------------------------------------------------------------------------------------


def methods_table(values: pd.DataFrame, interval: Mapping[str, Any]) -> pd.DataFrame:
    """Every method on every measure of the paper's Table 2, its difference from RankSVM in MAP with interval and test.

    ``+`` after a mean: above RankSVM's, as in the paper; ``*``: significantly different from it, p < 0.05 in a paired
    t test, Holm-corrected for all methods on that measure.
    """
    values = chosen(values, [*(method.name for method in METHODS), *_OTHERS])
    names = [name for name in TABLE2 if name in values]
    table = pd.DataFrame({parse(name).title: _marks(values, name) for name in names})
    above = table.map(lambda mean: "+" in mean).sum(axis=1)
    table["measures above RankSVM"] = above.astype(str) + f" of {len(names)}"
    compared = {method: compare(pairs(values, method, RANKSVM, "ap"), **interval) for method in table.index}
    rows = {
        method: {
            "MAP: difference": one.difference,
            "low": one.interval.low,
            "high": one.interval.high,
            "p": None if method == RANKSVM else one.t.p,
            "smallest detectable difference": one.detectable,
        }
        for method, one in compared.items()
    }
    table = table.join([pd.DataFrame.from_dict(rows, orient="index"), spread_of_fits(values, "ap")])
    return table.rename(index=_label).rename_axis("method").reset_index()


def _stands(pairs: Pairs, level: float) -> bool:
    """Whether a difference that the t test finds may be told at ``level``, as in tables of tests."""
    lacks, (low, high) = guarded(pairs, level)
    return not lacks and not low <= 0 <= high


def _marks(values: pd.DataFrame, name: str) -> dict[str, str]:
    """Means as text with the marks of the paper, by method."""
    means = values.groupby("method", sort=False)[name].mean()
    apart = {method: pairs(values, method, RANKSVM, name) for method in means.index if method != RANKSVM}
    tests = {method: paired_t(one) for method, one in apart.items()}
    corrected = holm({method: test.p for method, test in tests.items()})
    sure = {method for method, p in corrected.items() if p < _SURE and _stands(apart[method], _SURE / len(apart))}
    above = {method for method, test in tests.items() if test.difference > 1e-12}
    return {str(m): f"{mean:.4f}{'+' * (m in above)}{'*' * (m in sure)}" for m, mean in means.items()}


# ---- Tables 3 and 4 --------------------------------------------------------------------------------------------------


def difficulty_table(values: pd.DataFrame, classes: Difficulty, interval: Mapping[str, Any]) -> pd.DataFrame:
    """RankSVM, the methods and the first stages on hard, normal and easy queries, with shares, intervals and tests."""
    names = [name for name in ("ap", "mean_ndcg/letor4", "p@5/letor4", "ndcg@5/letor4") if name in values]
    by_class = breakdown(
        values, classes, names, baseline=RANKSVM, methods=[RANKSVM, *PAPER, *FIRST_STAGES], interval=interval
    )
    return readable_breakdown(by_class, _LABELS, RANKSVM)


def queries_table(values: pd.DataFrame, topics: pd.DataFrame, classes: Difficulty, n: int = _SHOWN) -> pd.DataFrame:
    """The queries with the largest gains and losses of the aggregating methods over RankSVM, with their words."""
    ap = values.groupby(["query_id", "method"])["ap"].mean().unstack()
    known = pd.DataFrame({"query_id": classes.query_id, "relevant": classes.relevant, "class": classes.name})
    about = topics[["query_id", "text"]].merge(known, on="query_id", validate="one_to_one").set_index("query_id")
    about = about.rename(columns={"text": "words"}).join(ap[[RANKSVM, *PAPER]].rename(columns=_label))
    parts = []
    for method in AGGREGATING:
        loss = (ap[RANKSVM] - ap[method]).round(12).sort_values(kind="stable")
        for side, of in (("gain", loss[loss < 0][:n]), ("loss", loss[loss > 0][::-1][:n])):
            rows = about.loc[of.index].assign(difference=-of).rename_axis("query").reset_index()
            parts.append(pd.DataFrame({"method": _label(method), "": side, **rows}))
    return pd.concat(parts)


def tabulate_details(inputs: Inputs, shown: Shown) -> dict[str, pd.DataFrame]:  # noqa: ARG001
    """All these tables, by id."""
    return {
        "lin-seeds": seeds_table(at_chosen(inputs.frame("values", "values")), inputs.frame("choices", "choices")),
        "lin-clusters": clusters_table(inputs.frame("clusters", "table")),
        "lin-controls": controls_table(inputs.frame("controls", "table")),
    }


def seeds_table(values: pd.DataFrame, choices: pd.DataFrame) -> pd.DataFrame:
    """Test MAP of every method and seed, and the settings that validation chose in each fold."""
    means = values.groupby(["method", "fit"], sort=False)["ap"].mean().rename("MAP")
    taken = choices[choices["chosen"]]
    of_seed = taken["setting"].str.extract(r"^(?:seed=(?P<fit>\d+) )?(?P<setting>.*)$").assign(method=taken["method"])
    of_seed["fit"] = of_seed["fit"].fillna("0").astype(int)
    settings = of_seed.groupby(["method", "fit"])["setting"].agg("; ".join).rename("settings by fold")
    table = means.to_frame().join(settings).fillna({"settings by fold": ""}).reset_index()
    table = table.rename(columns={"fit": "seed"})
    return table.assign(method=table["method"].map(_label), seed=table["seed"].replace(0, None).astype("Int64"))


def clusters_table(clusters: pd.DataFrame) -> pd.DataFrame:
    """Means over folds and seeds: clusters, how many were empty and how many fell back to the global model, their sizes."""
    named = {"empty": "empty", "fallback": "without pairs: global model", "queries_mean": "queries, mean"}
    named |= {"queries_least": "least", "queries_most": "most"}
    groups = clusters.groupby(["scheme", "clusters"])
    table = groups[[*named]].mean().rename(columns=named)
    return table.assign(**{"largest certified gap (1e-6)": groups["largest_gap"].max() * 1e6}).reset_index()


def controls_table(controls: pd.DataFrame) -> pd.DataFrame:
    """How well the perturbed models match the local ones: means over folds and seeds by number of clusters."""
    named = {
        "size": "size of the perturbation",
        "wanted": "mean AP of local models, validation",
        "reached": "of perturbed models, validation",
        "test_local": "of local models, test",
        "test_perturbed": "of perturbed models, test",
        "test_random": "of models of random clusters, test",
    }
    return controls.groupby("m")[[*named]].mean().rename(columns=named).rename_axis("clusters").reset_index()


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

"""The claims of Lin 2011 with their margins and corrections, and the evidence for them.

Written before any figure was looked at. The evidence is a value per test query, averaged over the seeds of the clusters,
so the verdicts are about the method and not about one run of K-means.

- Confirmatory are the differences in MAP. Those of the three methods from RankSVM are one family (Holm), those of the two
  aggregating methods from Naive another, the six by difficulty a third, those from BordaCount and CPS a fourth.
- "Far above" and "far beyond" have no figure in the paper: a difference in MAP of `FAR` at least, by the interval.
- "Around the 19th best of 100": the 9th best model is above RankSVM and the 29th is below it.
- "Most measures": a count of means above RankSVM's, more than half. It is a description, not a test.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from qdrank.evaluation import claims as c
from qdrank.evaluation.curves import method_values
from qdrank.evaluation.difficulty import Difficulty
from qdrank.evaluation.significance import holm
from qdrank.groups import FloatArray
from qdrank.queries.artifacts import list_matrix
from qdrank.studies.lin2011.methods import LABELS, NAIVE, RANKSVM, SELECT, TRANSFORM

PAPER, CONTROL = "Lin 2011", "Lin 2011, controls"
MEASURE = "ap"
FAR = 0.05
#: Where RankSVM stands among 100 local models, and how far off is still "around".
PLACE, AROUND = 19, 10
AGGREGATING = (SELECT, TRANSFORM)
#: What the paper says of the aggregating methods on queries of each class.
BY_CLASS = {"hard": +1, "normal": +1, "easy": -1}
AGGREGATORS = ("bordacount", "cps-kendall", "cps-footrule", "cps-spearman")


def judge_far(parts: c.Parts, rules: c.Rules, p: float | None = None) -> c.Judgement:
    """The mean difference is `FAR` at least: holds if the interval lies above, fails if it lies below."""
    found = c.mean_of(parts["difference"], rules.alpha)
    verdict = c.HOLDS if found.low > FAR else c.FAILS if found.high < FAR else c.UNCLEAR
    return c.Judgement(verdict, found.mean, found.low, found.high, found.p if p is None else p, found.text)


def judge_below_zero(parts: c.Parts, rules: c.Rules, p: float | None = None) -> c.Judgement:
    """The mean difference is below 0: the mirror of `qdrank.evaluation.claims.judge_beats`."""
    found = c.judge_beats({"difference": -parts["difference"]}, rules, p)
    text = c.mean_of(parts["difference"], rules.alpha).text
    return c.Judgement(found.verdict, -found.effect, -found.high, -found.low, found.p, text)


def judge_most(parts: c.Parts, rules: c.Rules) -> c.Judgement:  # noqa: ARG001
    """More than half of the measures have a mean above 0."""
    means = {name: float(values.mean()) for name, values in parts.items()}
    above = sum(mean > 0 for mean in means.values())
    share = above / len(means)
    text = f"{above} of {len(means)} measures above RankSVM"
    return c.Judgement(c.HOLDS if share > 0.5 else c.FAILS, share, np.nan, np.nan, np.nan, text)


def judge_none_significant(parts: c.Parts, rules: c.Rules) -> c.Judgement:
    """No measure differs significantly, after Holm over the measures."""
    p = holm({name: c.mean_of(values).p for name, values in parts.items()}, family="measures").adjusted
    least = min(p, key=lambda name: p[name])
    verdict = c.HOLDS if p[least] >= rules.alpha else c.FAILS
    found = c.mean_of(parts[least], rules.alpha)
    return c.Judgement(verdict, found.mean, found.low, found.high, p[least], f"least p for {least}: {found.text}")


def judge_place(parts: c.Parts, rules: c.Rules) -> c.Judgement:
    """RankSVM lies below the better and above the worse of two places among the local models."""
    p = holm({name: c.mean_of(values).p for name, values in parts.items()}, family="place").adjusted
    above = c.judge_beats({"difference": parts["above"]}, rules, p["above"])
    below = c.judge_beats({"difference": -parts["below"]}, rules, p["below"])
    verdicts = {above.verdict, below.verdict}
    verdict = c.FAILS if c.FAILS in verdicts else c.HOLDS if verdicts == {c.HOLDS} else c.UNCLEAR
    place = float(parts["place"].mean())
    text = f"RankSVM at place {place:.1f}; above it {above.measured}; below it {below.measured}"
    return c.Judgement(verdict, place, np.nan, np.nan, max(p["above"], p["below"]), text)


def claims() -> dict[str, c.Claim]:
    """Every claim by the name of its evidence."""
    return _method_claims() | _bound_claims() | _class_claims() | _aggregation_claims() | _control_claims()


def _method_claims() -> dict[str, c.Claim]:
    found = {}
    for method in AGGREGATING:
        label = LABELS[method]
        found[f"{method} - {NAIVE}"] = c.Claim(
            PAPER,
            f"{label} beats Naive",
            "MAP: difference above 0, p < 0.05",
            c.judge_beats,
            "aggregation against Naive",
        )
        found[f"{method} - {RANKSVM}"] = c.Claim(
            PAPER,
            f"{label} beats RankSVM",
            "MAP: difference above 0, p < 0.05",
            c.judge_beats,
            "methods against RankSVM",
        )
        found[f"most {method}"] = c.Claim(
            PAPER, f"{label} is above RankSVM on most measures", "mean above on more than half", judge_most
        )
        found[f"not significant {method}"] = c.Claim(
            PAPER,
            f"no difference of {label} from RankSVM is significant",
            "p >= 0.05 for every measure, Holm",
            judge_none_significant,
        )
    found[f"{NAIVE} - {RANKSVM}"] = c.Claim(
        PAPER,
        "Naive does not beat RankSVM",
        "MAP: difference not above 0",
        c.judge_beats_not,
        "methods against RankSVM",
    )
    return found


def _bound_claims() -> dict[str, c.Claim]:
    beats = partial(c.Claim, judge=c.judge_beats, expected="MAP: difference above 0, p < 0.05")
    return {
        "relevant-only": beats(PAPER, "RelevantOnly beats RankSVM"),
        "upper-bound": c.Claim(PAPER, "UpperBound is far above RankSVM", f"MAP: difference above {FAR}", judge_far),
        "place": c.Claim(
            PAPER,
            f"RankSVM is around the {PLACE}th best of 100 local models",
            f"below the {PLACE - AROUND}th best, above the {PLACE + AROUND}th, p < 0.05",
            judge_place,
        ),
        "upper-bound - perturbed": beats(CONTROL, "UpperBound is above that of perturbed RankSVMs as good on average"),
        "upper-bound - random": beats(CONTROL, "UpperBound is above that of random clusters"),
    }


def _class_claims() -> dict[str, c.Claim]:
    found = {}
    for method in AGGREGATING:
        for name, sign in BY_CLASS.items():
            verb, judge = ("beats", c.judge_beats) if sign > 0 else ("is worse than", judge_below_zero)
            expected = f"MAP: difference {'above' if sign > 0 else 'below'} 0, p < 0.05"
            text = f"{LABELS[method]} {verb} RankSVM on {name} queries"
            found[f"{name} {method}"] = c.Claim(PAPER, text, expected, judge, "by difficulty")
    return found


def _aggregation_claims() -> dict[str, c.Claim]:
    found = {}
    for method in (NAIVE, *AGGREGATING):
        for reading, suffix in (("ranks as ranks", ""), ("ranks upside down", "-high")):
            text = f"{LABELS[method]} is far beyond the best of BordaCount and CPS, {reading}"
            found[f"{method} - aggregators{suffix}"] = c.Claim(
                PAPER, text, f"MAP: difference above {FAR}", judge_far, "against rank aggregation"
            )
    return found


def _control_claims() -> dict[str, c.Claim]:
    expected = "MAP: difference above 0, p < 0.05"
    return {
        f"{method} - {method}-random": c.Claim(
            CONTROL,
            f"clusters matter: {LABELS[method]} beats itself with random clusters",
            expected,
            c.judge_beats,
            "random",
        )
        for method in (NAIVE, *AGGREGATING)
    }


# ---- evidence ----------------------------------------------------------------------------------------------------


def over_seeds(measures: pa.Table) -> pa.Table:
    """Mean of every measure over the seeds of the clusters: one row per fold, method and query."""
    keys = ["fold", "method", "query_id"]
    names = [name for name in measures.column_names if name not in (*keys, "seed")]
    grouped = measures.group_by(keys, use_threads=False).aggregate([(name, "mean") for name in names])
    return pa.table({name: grouped.column(name) for name in keys} | {n: grouped.column(f"{n}_mean") for n in names})


def evidence(
    measures: pa.Table,
    curve: pa.Table,
    ranked: pa.Table,
    classes: Difficulty,
    *,
    names: Sequence[str],
    others: pa.Table | None = None,
) -> dict[str, dict[str, FloatArray]]:
    """Evidence of one data set.

    Parameters
    ----------
    measures : of the study's methods, with seeds
    curve : average precisions along the number of clusters, the largest of which is that of ``ranked``
    ranked : average precisions of all models, best first
    classes : difficulty of the queries
    names : measures that "most measures" are of
    others : measures of BordaCount and CPS on the same queries, where they were run
    """
    values = over_seeds(measures)
    found = _differences(values) | _by_class(values, classes) | _bounds(curve) | _place(ranked)
    for method in AGGREGATING:
        apart = {name: _difference(values, method, RANKSVM, name) for name in names}
        found |= {f"most {method}": apart, f"not significant {method}": apart}
    return found | ({} if others is None else _against_aggregators(values, others))


def _difference(measures: pa.Table, a: str, b: str, name: str = MEASURE) -> FloatArray:
    values = method_values(measures, [a, b], name)[1]
    return np.asarray(values[:, 0] - values[:, 1])


def _differences(values: pa.Table) -> dict[str, dict[str, FloatArray]]:
    present = set(values.column("method").to_pylist())
    pairs = [(a, NAIVE) for a in AGGREGATING] + [(a, RANKSVM) for a in (NAIVE, *AGGREGATING)]
    pairs += [(a, f"{a}-random") for a in (NAIVE, *AGGREGATING)]
    return {f"{a} - {b}": {"difference": _difference(values, a, b)} for a, b in pairs if {a, b} <= present}


def _by_class(values: pa.Table, classes: Difficulty) -> dict[str, dict[str, FloatArray]]:
    found = {}
    for method in AGGREGATING:
        ids, ap = method_values(values, [method, RANKSVM], MEASURE)
        own = classes.of(ids)
        for name in BY_CLASS:
            apart = (ap[:, 0] - ap[:, 1])[own == name]
            if len(apart) > 1:
                found[f"{name} {method}"] = {"difference": apart}
    return found


def _bounds(curve: pa.Table) -> dict[str, dict[str, FloatArray]]:
    """The oracles at the largest number of clusters, over the seeds."""
    most = pc.max(curve.column("m")).as_py()
    own = over_seeds(curve.filter(pc.equal(curve.column("m"), most)).drop_columns(["m"]))
    present = set(own.column("method").to_pylist())
    pairs = {
        "relevant-only": ("relevant-only", RANKSVM),
        "upper-bound": ("upper-bound", RANKSVM),
        "upper-bound - perturbed": ("upper-bound", "upper-bound-perturbed"),
        "upper-bound - random": ("upper-bound", "upper-bound-random"),
    }
    return {name: {"difference": _difference(own, *pair)} for name, pair in pairs.items() if set(pair) <= present}


def _place(ranked: pa.Table) -> dict[str, dict[str, FloatArray]]:
    """RankSVM against the models at two places, over the seeds; nothing where there are fewer models."""
    best, single = mean_ranked(ranked, "local")
    if best.shape[1] < PLACE + AROUND:
        return {}
    above, below = best[:, PLACE - AROUND - 1] - single, best[:, PLACE + AROUND - 1] - single
    return {"place": {"above": above, "below": below, "place": np.full(1, place_of(best.mean(axis=0), single.mean()))}}


def mean_ranked(ranked: pa.Table, models: str) -> tuple[FloatArray, FloatArray]:
    """Average precision of the best, second best ... model, (n_queries, m), and RankSVM's, means over the seeds."""
    own = ranked.filter(pc.equal(ranked.column("models"), models))
    seeds = own.column("seed").to_numpy()
    matrix, single = list_matrix(own.column("ap")), own.column("single").to_numpy()
    query = np.array(
        [f"{f} {q}" for f, q in zip(own.column("fold").to_pylist(), own.column("query_id").to_pylist(), strict=True)]
    )
    parts = [
        (matrix[seeds == s][np.argsort(query[seeds == s])], single[seeds == s][np.argsort(query[seeds == s])])
        for s in np.unique(seeds)
    ]
    return np.mean([part[0] for part in parts], axis=0), np.asarray(parts[0][1])


def place_of(means: FloatArray, value: float) -> float:
    """Place of ``value`` among falling ``means`` (m,), counted from 1, between two of them by interpolation."""
    return float(np.interp(-value, -means, np.arange(1, len(means) + 1)))


def _against_aggregators(values: pa.Table, others: pa.Table) -> dict[str, dict[str, FloatArray]]:
    """The methods against the aggregator with the best mean, in both readings of the ranks."""
    present = set(others.column("method").to_pylist())
    found = {}
    for suffix in ("", "-high"):
        known = [name + suffix for name in AGGREGATORS if name + suffix in present]
        if not known:
            continue
        ids, ap = method_values(others, known, MEASURE)
        best = ap[:, int(ap.mean(axis=0).argmax())]
        for method in (NAIVE, *AGGREGATING):
            own_ids, own = method_values(values, [method], MEASURE)
            rows = _rows(ids, own_ids)
            found[f"{method} - aggregators{suffix}"] = {"difference": own[:, 0] - best[rows]}
    return found


def _rows(ids: Any, wanted: Any) -> list[int]:
    place: Mapping[str, int] = {name: i for i, name in enumerate(ids.tolist())}
    return [place[name] for name in wanted.tolist()]
